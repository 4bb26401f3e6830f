# tests/tap.sh: what shell tests share; they source it, and end with `finish`.
#
#   . "$top_srcdir/tests/tap.sh"
#   runs "version is printed" 0 "$M2RUN" --version
#   contains "it names the program" "$out" "m2run "
#   finish
#
# $M2RUN is the program, $work an empty directory (the current one), removed at
# the end. The last `runs` leaves its output in the files $out and $err.
set -u
work=$(mktemp -d "${TMPDIR:-/tmp}/m2run-test-XXXXXX") || exit 1
trap 'cd / && rm -rf "$work"' EXIT
cd "$work" || exit 1
out=$work/.stdout
err=$work/.stderr
tap_count=0

# a result line, and on failure what helps to understand it
tap_result() { # STATUS NAME [FILE...]
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
        return
    fi
    echo "not ok $tap_count - $2"
    shift 2
    for file; do
        sed "s|^|# ${file##*/.}: |" "$file"
    done
}

# runs NAME EXIT_CODE COMMAND...: the command ends with this code
runs() {
    tap_name=$1 tap_expected=$2
    shift 2
    "$@" >"$out" 2>"$err" </dev/null
    tap_status=$?
    [ "$tap_status" -eq "$tap_expected" ] ||
        echo "# $*: exit code $tap_status, expected $tap_expected"
    [ "$tap_status" -eq "$tap_expected" ]
    tap_result $? "$tap_name" "$out" "$err"
}

# check NAME COMMAND...: the command succeeds; $out and $err stay as they are
check() {
    tap_name=$1
    shift
    "$@" >"$work/.check" 2>&1 </dev/null
    tap_result $? "$tap_name" "$work/.check"
}

# contains NAME FILE TEXT, lacks NAME FILE TEXT: fixed text within one line
contains() {
    grep -qF -e "$3" "$2"
    tap_result $? "$1" "$2"
}
lacks() {
    ! grep -qF -e "$3" "$2"
    tap_result $? "$1" "$2"
}

# same NAME FILE FILE: identical bytes
same() {
    cmp "$2" "$3" >"$work/.cmp" 2>&1
    tap_result $? "$1" "$work/.cmp"
}

# equal NAME ACTUAL EXPECTED: two strings
equal() {
    [ "$2" = "$3" ] || printf '# %s\n' "actual   $2" "expected $3"
    [ "$2" = "$3" ]
    tap_result $? "$1"
}

skip() { # NAME REASON
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# without this line the harness takes the script for one that died
finish() {
    echo "1..$tap_count"
}
