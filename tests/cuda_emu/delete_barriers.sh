#!/bin/sh
# delete_barriers.sh: is every barrier of the CUDA backend needed, and would its
# loss be noticed?
#
#   delete_barriers.sh BUILD [FILE:LINE...]
#
# BUILD is a build directory outside of the sources, with m2run and both
# modules of the emulator made. Each __syncthreads() and __syncwarp() of
# backends/cuda (or those named, as backends/cuda/norm.cuh:70) is deleted in
# turn in a copy of the sources, the emulated backend is built again, and the
# conformance suite runs over the ops that the file serves. One line for each:
#
#   FILE:LINE  OPS  fast: the mode that caught it  check: caught or not
#
# A barrier that nobody misses is needless, or a hole in the tests: the script
# ends with 1, and a person decides. Not part of `make check`: it takes some
# minutes for each barrier that is not missed.
set -u
build=$(cd "${1:?usage: delete_barriers.sh BUILD [FILE:LINE...]}" && pwd) ||
    exit 2
shift
sources=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/m2run-barriers-XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 2' HUP INT TERM
export OMP_NUM_THREADS=1
missed=0

# A copy of the sources, and of what was built, with their times.
mkdir "$work/sources" "$work/modules"
(cd "$sources" && tar cf - Makefile.am Makefile.in configure* aclocal.m4 \
    m4 build-aux runner backends plugins tests experiments docs) |
    tar xpf - -C "$work/sources" || exit 2
cp -a "$build" "$work/build" || exit 2

all_barriers() {
    (cd "$sources" && grep -n '__sync[a-z]*()' backends/cuda/*.cu \
        backends/cuda/*.cuh | sed 's/^\([^:]*:[0-9]*\):.*/\1/')
}

# The sources that are compiled from FILE.
compiled_from() {
    (cd "$work/build" && grep -l "/$1[ :\\]\|/$1\$" \
        backends/cuda/*.emu.o.d | sed 's/\.emu\.o\.d$//')
}

# The ops in those sources, those that take the suite long at the end.
ops_of() { # SOURCE...
    for each; do
        found=$(sed -n 's/^OP_INSTANTIATE(\([a-z0-9_]*\),.*/\1/p' \
            "$sources/$each.cu")
        case $each in */ssd*) found=${found:-ssd ssd_backward} ;; esac
        printf '%s\n' $found
    done | awk 'NF && !seen[$1]++ { if (/^ssd/) last = last $1 "\n"
        else print } END { printf "%s", last }'
}

# Says whether the suite fails: 0 where it does.
fails() { # MODULE SETTINGS OP
    ! M2_EMU=$2 timeout 600 "$work/build/m2run" \
        --plugin-dir "$work/build/tests/cuda_emu" selftest "$1" --op "$3" \
        >"$work/said" 2>&1
}

caught_by() { # MODULE OPS SETTINGS...: the first settings that catch it
    module=$1 ops=$2
    shift 2
    for settings; do
        for op in $ops; do
            if fails "$module" "$settings" "$op"; then
                echo "${settings:-asc} ($op)"
                return
            fi
        done
    done
    echo no
}

remake() {
    make -s -C "$work/build" srcdir="$work/sources" \
        top_srcdir="$work/sources" VPATH="$work/sources" \
        tests/cuda_emu/m2_cuda_emu.so tests/cuda_emu/m2_cuda_emu_check.so \
        >"$work/made" 2>&1
}

try() { # FILE LINE
    from=$(compiled_from "$1")
    ops=$(ops_of $from)
    sed "$2s/__sync[a-z]*();/;/" "$sources/$1" >"$work/sources/$1"
    for each in $from; do
        rm -f "$work/build/$each.emu.o" "$work/build/$each.emuck.o"
    done
    if remake; then
        fast=$(caught_by cuda_emu "$ops" '' order=desc order=rand:1 replay=1)
        check=$(caught_by cuda_emu_check "$ops" '')
    else
        fast="not built: $(head -n 1 "$work/made")" check=no
    fi
    [ "$fast $check" != "no no" ] || missed=1
    printf '%s:%s  %s  fast: %s  check: %s\n' "$1" "$2" \
        "$(echo $ops | tr ' ' ,)" "$fast" "$check"
    cp -p "$sources/$1" "$work/sources/$1"
    for each in $from; do
        cp -p "$build/$each.emu.o" "$build/$each.emuck.o" \
            "$work/build/$(dirname "$each")"
    done
}

[ $# -gt 0 ] || set -- $(all_barriers)
for module in cuda_emu cuda_emu_check; do
    ! fails $module "" sumsq || {
        echo "$module fails with all its barriers: $(tail -n 1 "$work/said")"
        exit 2
    }
done
for barrier; do
    try "${barrier%:*}" "${barrier##*:}"
done
exit $missed
