#!/bin/sh
# run.sh [--quick] [REPORT]: what only a real GPU can tell, in under ten minutes.
#
# Builds the backend for the device, tests, compares and measures it, and writes
# one file, gpu-report.txt. A section that fails or takes too long does not keep
# the next ones from running; the exit status is 0 when none failed. README.md
# beside this file tells more.
#   --quick     a minute's worth of every section
#   GPU_DEVICE  the backend [cuda]; another one is taken as it is, not built
#   GPU_ARCHS   compute capabilities to build for [that of the device]
#   M2RUN       the program [that of the bundle, or of the tree]
#   NVCC, CC, MAKE
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
device=${GPU_DEVICE:-cuda}
golden=$top/tests/golden

# ---- the sections: 0 passed, 77 left out, anything else failed -------------

say() { printf '%s\n' "$*"; }
leave_out() {
    say "left out: $*"
    exit 77
}

# each COMMAND...: shows the command, and fails the section when it fails
failed=0
each() {
    say "\$ $*"
    "$@" || {
        say "exit status $?"
        failed=1
    }
}

find_nvcc() {
    nvcc=${NVCC:-$(command -v nvcc || true)}
    [ -n "$nvcc" ] || nvcc=/usr/local/cuda/bin/nvcc
    [ -x "$nvcc" ]
}

section_machine() {
    date -u
    uname -sm
    "${CC:-cc}" --version | sed 1q
    find_nvcc && "$nvcc" --version | tail -n 2
    command -v nvidia-smi >/dev/null && nvidia-smi
    lscpu 2>/dev/null | grep -E 'Model name|^CPU\(s\)'
    "$M2RUN" --version
}

# The architectures to build for: that of the device when nvcc knows it;
# without an answer those of configure, with PTX for a newer device.
device_archs() {
    archs=${GPU_ARCHS:-$(nvidia-smi --query-gpu=compute_cap \
        --format=csv,noheader 2>/dev/null | tr -d '.' | sort -nu)}
    for arch in $archs; do
        "$nvcc" --list-gpu-arch | grep -qx "compute_$arch" || return 0
    done
    # shellcheck disable=SC2086
    echo $archs
}

section_build() {
    [ "$device" = cuda ] || leave_out "$device is taken as it is"
    find_nvcc || {
        say "nvcc not found: put it on PATH, or set NVCC"
        exit 1
    }
    mkdir -p "$work/build" && cd "$work/build" || exit 1
    archs=$(device_archs)
    say "for: ${archs:-the architectures of configure}"
    "$top/configure" --quiet --enable-only-cuda --with-cuda=yes \
        NVCC="$nvcc" NVCCFLAGS="-O3 -lineinfo" CUDA_ARCHS="$archs" || exit 1
    each "${MAKE:-make}" -j"$(nproc)" cuda
    each "$nvcc" -O2 -o gemm_rate "$here/gemm_rate.cu" -lcublas
    exit $failed
}

section_devices() {
    each "$M2RUN" devices "$device"
    exit $failed
}

section_selftest() {
    if [ -n "$quick" ]; then
        each "$M2RUN" selftest "$device" --op linear
    else
        each "$M2RUN" selftest "$device" --golden "$golden"
    fi
    exit $failed
}

section_trajectories() {
    case=train
    [ -z "$quick" ] || case=train_regression
    each "$M2RUN" selftest "$device" --golden "$golden" --op $case -v
    exit $failed
}

section_sanitizer() {
    [ -z "$quick" ] || leave_out "--quick"
    sanitizer=$(command -v compute-sanitizer || true)
    [ -n "$sanitizer" ] ||
        { find_nvcc && sanitizer=$(dirname "$nvcc")/compute-sanitizer; }
    [ -x "$sanitizer" ] || leave_out "no compute-sanitizer"
    for tool in memcheck racecheck initcheck synccheck; do
        each timeout 40 "$sanitizer" --tool "$tool" --error-exitcode 9 \
            --target-processes all "$M2RUN" run "$here/small.yaml" -q \
            --results "$work/$tool" device="$device" steps=2
    done
    exit $failed
}

# The folder of the one run that is in RESULTS.
run_in() { # RESULTS
    for folder in "$1"/*/*-????????????; do
        echo "$folder"
    done
}

section_repeat() {
    for dtype in f32 f64; do
        for results in first second; do
            each "$M2RUN" run "$here/small.yaml" -q device="$device" \
                dtype=$dtype --results "$work/$results-$dtype"
        done
        for file in metrics.csv checkpoints/last.safetensors; do
            each cmp "$(run_in "$work/first-$dtype")/$file" \
                "$(run_in "$work/second-$dtype")/$file"
        done
    done
    exit $failed
}

section_compare() {
    if [ -n "$quick" ]; then
        each "$M2RUN" compare-backends "$here/small.yaml" cpu "$device"
        exit $failed
    fi
    for file in quickstart mackey-glass hft lr-width-sweep ../tests/gpu/6e; do
        for dtype in f32 f64; do
            each "$M2RUN" compare-backends "$top/experiments/$file.yaml" cpu \
                "$device" dtype=$dtype
        done
    done
    exit $failed
}

# The last column of the line GFLOP/s, as a share of the GEMM rate.
share_of_gemm() { # BENCH RATES
    awk 'FNR == NR { if ($1 == "f32") rate = $2; next }
        $1 == "GFLOP/s" && rate > 0 {
            printf "%.1f %% of the GEMM rate of the device (%.0f GFLOP/s)\n",
                100 * $NF / rate, rate }' "$2" "$1"
}

section_bench() {
    rates=$work/rates
    : >"$rates"
    if [ -x "$work/build/gemm_rate" ]; then
        say "cuBLAS, one product of 4096 x 4096 x 4096, GFLOP/s:"
        each "$work/build/gemm_rate" >"$rates"
        cat "$rates"
    fi
    files="6e width-768" steps=5 devices=cpu,$device
    [ -z "$quick" ] || files=small steps=1 devices=$device
    for file in $files; do
        each "$M2RUN" bench "$here/$file.yaml" --device "$devices" \
            --steps $steps >"$work/bench" 2>&1
        cat "$work/bench"
        share_of_gemm "$work/bench" "$rates"
    done
    # the device alone, over more steps
    [ -n "$quick" ] ||
        each "$M2RUN" bench "$here/6e.yaml" --device "$device" --steps 200
    exit $failed
}

# ---- one section after the other -------------------------------------------

# section NAME SECONDS: runs it with a time limit, and counts how it ended.
# The results of `run_section` are lines of $work/summary.
section() {
    say "" "==== $1" >>"$report"
    begun=$(date +%s)
    # a busy machine without a GPU is no reason to fail
    [ -z "$quick" ] || set -- "$1" 300
    # beside this shell, which then hears a signal at once
    timeout -k 5 "$2" sh "$here/run.sh" --section "$1" \
        >>"$report" 2>&1 </dev/null &
    running=$!
    wait $running
    ended=$?
    running=
    case $ended in
    0) outcome=passed ;;
    77) outcome="left out" ;;
    124 | 137) outcome="FAILED: more than $2 s" ;;
    *) outcome=FAILED ;;
    esac
    line=$(printf '%-14s %s (%d s)' "$1" "$outcome" \
        $(($(date +%s) - begun)))
    say "$line" | tee -a "$work/summary" >>"$report"
    say "$line"
}

# A signal ends the section that runs, too, and takes the folder along.
running=
give_up() { # EXIT STATUS
    trap '' HUP INT TERM
    [ -z "$running" ] || kill "$running" 2>/dev/null
    [ -z "$running" ] || wait "$running"
    say "stopped" | tee -a "$report"
    exit "$1"
}

find_program() {
    for program in "${M2RUN-}" "$top/prebuilt/m2run" "$top/m2run"; do
        [ -n "$program" ] && [ -x "$program" ] || continue
        M2RUN=$program
        export M2RUN
        return 0
    done
    say "run.sh: no m2run: build it in this tree (./bootstrap build)" >&2
    exit 2
}

quick=${GPU_QUICK-}
if [ "${1-}" = --section ]; then
    work=$GPU_WORK
    "section_$2"
    exit
fi
if [ "${1-}" = --quick ]; then
    quick=yes
    shift
fi
case ${1-} in
-h | --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$here/run.sh"
    exit 0
    ;;
-*)
    say "run.sh: '$1' is no option; --help tells more" >&2
    exit 2
    ;;
esac
find_program
report=$(pwd)/gpu-report.txt
case ${1-} in
'') ;;
/*) report=$1 ;;
*) report=$(pwd)/$1 ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/m2run-gpu-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'give_up 129' HUP
trap 'give_up 130' INT
trap 'give_up 143' TERM
M2RUN_PLUGIN_PATH=$work/build/.libs${M2RUN_PLUGIN_PATH:+:$M2RUN_PLUGIN_PATH}
GPU_WORK=$work GPU_QUICK=$quick
export M2RUN_PLUGIN_PATH GPU_WORK GPU_QUICK
: >"$report" || exit 1
: >"$work/summary"
say "m2run on a GPU: report of tests/gpu/run.sh, device $device" >>"$report"

section machine 10
section build 150
section devices 15
section selftest 90
section trajectories 30
section sanitizer 90
section repeat 30
section compare 90
section bench 90

say "" "==== summary" >>"$report"
cat "$work/summary" >>"$report"
say "report: $report"
! grep -q FAILED "$work/summary"
