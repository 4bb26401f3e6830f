#!/bin/sh
# pack.sh BUILD_DIR FOLDER: m2run as it was built here, its modules and the
# libraries they need beyond the C library, so that a machine without any of
# them can run it. `make gpu-bundle` calls this.
set -eu
build=$1 folder=$2
mkdir -p "$folder/bin" "$folder/lib" "$folder/plugins"
cp "$build/m2run" "$folder/bin/"
for module in cpu csv dbn ref synthetic; do
    cp "$build/.libs/m2_$module.so" "$folder/plugins/"
done
strip "$folder/bin/m2run" "$folder"/plugins/*.so
ldd "$folder/bin/m2run" "$folder"/plugins/*.so |
    sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u |
    while read -r library; do
        case ${library##*/} in
        # the system's own, which must fit each other and the driver
        libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | \
            libgcc_s.so* | libstdc++.so* | ld-linux*) ;;
        *) cp -L "$library" "$folder/lib/" ;;
        esac
    done
cat >"$folder/m2run" <<'WRAPPER'
#!/bin/sh
# m2run with the libraries and modules beside this file.
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
M2RUN_PLUGIN_PATH=$here/plugins${M2RUN_PLUGIN_PATH:+:$M2RUN_PLUGIN_PATH}
export LD_LIBRARY_PATH M2RUN_PLUGIN_PATH
exec "$here/bin/m2run" "$@"
WRAPPER
chmod +x "$folder/m2run"
