#!/bin/sh
# installcheck: the installed program and headers are enough for plugin authors.
# Builds the two example plugins through pkg-config alone and loads them.
#   run.sh BINDIR LIBDIR EXAMPLES     CC and PKG_CONFIG from the environment
set -eu
bindir=$1 libdir=$2 examples=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "installcheck: $*" >&2
    exit 1
}

# nothing of the source or build tree may help
unset M2RUN_PLUGIN_PATH
cd "$work"
PKG_CONFIG_PATH=$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
cflags=$(${PKG_CONFIG:-pkg-config} --cflags m2run-plugin)
plugindir=$(${PKG_CONFIG:-pkg-config} --variable=plugindir m2run-plugin)
[ "$(${PKG_CONFIG:-pkg-config} --variable=abi m2run-plugin)" = 1 ] ||
    fail "m2run-plugin.pc does not give ABI 1"
"$bindir/m2run" --version | grep -q '^m2run [0-9]' ||
    fail "$bindir/m2run --version does not print a version"
for module in ref synthetic; do
    [ -f "$plugindir/m2_$module.so" ] || fail "no $plugindir/m2_$module.so"
done
for name in ramp minimal; do
    # shellcheck disable=SC2086
    ${CC:-cc} -Wall -Wextra -Werror -shared -fPIC -Wl,-z,defs $cflags \
        -o "m2_$name.so" "$examples/m2_$name.c" ||
        fail "m2_$name.c does not build with: $cflags"
done
if "$bindir/m2run" --help 2>/dev/null | grep -qw devices; then
    # 4: some backend has no device here, as CUDA without a driver
    status=0
    "$bindir/m2run" --plugin-dir "$work" devices > devices.txt || status=$?
    case $status in 0 | 4) ;; *) fail "m2run devices fails" ;; esac
    grep -q 'minimal' devices.txt || fail "m2run devices lacks minimal"
    grep -q "$plugindir" devices.txt || grep -qw ref devices.txt ||
        fail "m2run devices lacks the installed modules"
fi
echo "installcheck: ok"
