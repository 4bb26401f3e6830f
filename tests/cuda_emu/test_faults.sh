#!/bin/sh
# Every CUDA call of a training and of a selftest fails once: each time the
# program says so in CUDA's words, ends with the right code, and leaves nothing
# behind. M2_TEST_STRIDE=1 tries them all, in some minutes; otherwise it is
# about twenty of each kind.
. "$top_srcdir/tests/tap.sh"

emu=$top_builddir/tests/cuda_emu
if [ ! -e "$emu/m2_cuda_emu.so" ]; then
    skip "calls that fail" "the emulator is not built here"
    finish
    exit
fi
export M2RUN_PLUGIN_PATH="$emu${M2RUN_PLUGIN_PATH:+:$M2RUN_PLUGIN_PATH}"
export OMP_NUM_THREADS=1
. "$top_srcdir/tests/cli/example.sh"

# one NAME of the program's counts, summed over its processes
count() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" stats | awk '{s += $1} END {print s + 0}'
}

left() {
    for each in live_allocations pinned streams events graphs blas; do
        [ "$(count $each)" = 0 ] || printf '%s %s ' "$(count $each)" $each
    done
}

# the program, with M2_EMU=$1; what it says goes to said, its code to $code
once() { # SETTINGS COMMAND...
    once_settings=$1
    shift
    rm -rf stats results
    M2_EMU=$once_settings M2_EMU_STATS=$work/stats timeout 60 "$@" \
        >said 2>&1 </dev/null
    code=$?
}

# What is wrong with the run that just failed on order; nothing: all is well.
complaint() {
    case $code in
    0) ;; # something was given back that failed; or it was listed
    # 4: the device cannot be opened; 1: the run failed later
    1 | 4) grep -q "$words" said || echo "without CUDA's words" ;;
    *) echo "code $code" ;;
    esac
    [ -s stats ] || echo "no counts: it crashed?"
    [ -z "$(left)" ] || echo "leaves $(left)"
}

# sweep NAME WORDS ERROR COMMAND...: all calls in turn
sweep() {
    sweep_name=$1 words=$2 error=$3
    shift 3
    once "" "$@"
    equal "$sweep_name: well without failures" "$code $(left)" "0 "
    calls=$(count calls)
    : >bad
    tried=0
    k=1
    while [ $k -le "$calls" ]; do
        once "fail=any:$k:$error" "$@"
        complaint >complaints
        [ -s complaints ] && {
            echo "call $k: $(tr '\n' ';' <complaints)"
            sed 's/^/    /' said | tail -3
        } >>bad
        tried=$((tried + 1))
        k=$((k + ${M2_TEST_STRIDE:-$((calls / 20 + 1))}))
    done
    echo "# $sweep_name: $tried of $calls calls failed in turn"
    check "$sweep_name: every failure is told and cleaned up" test ! -s bad
    sed 's/^/# /' bad | head -60
}

sweep "training" "unknown error" 999 "$M2RUN" run tiny.yaml \
    device=cuda_emu data.options.rows=200
sweep "training, device lost" "illegal memory access" 700 "$M2RUN" run \
    tiny.yaml device=cuda_emu data.options.rows=200
sweep "listing of devices" "unknown error" 999 "$M2RUN" devices

# ---- no driver, no device, no memory -----------------------------------------

once driver=none "$M2RUN" run tiny.yaml device=cuda_emu
equal "no driver: exit code" "$code" 4
contains "no driver: CUDA's words" said \
    "CUDA driver version is insufficient for CUDA runtime version"
once driver=old "$M2RUN" devices
contains "driver too old: m2run devices says it" said \
    "CUDA driver version is insufficient for CUDA runtime version"
once devices=0 "$M2RUN" run tiny.yaml device=cuda_emu
equal "no device: exit code" "$code" 4
contains "no device: CUDA's words" said "no CUDA-capable device is detected"
once mem=40000000 "$M2RUN" run tiny.yaml device=cuda_emu model.d_model=256 \
    train.batch_size=64
equal "no memory: exit code" "$code" 1
contains "no memory: the plan's number" said "MiB on cuda_emu (plan)"
contains "no memory: what is free" said "MiB are free"
equal "no memory: nothing left" "$(left)" ""
once fail=cudaMalloc:3:2 "$M2RUN" run tiny.yaml device=cuda_emu
contains "an allocation fails: CUDA's words" said "out of memory"
equal "an allocation fails: nothing left" "$(left)" ""
finish
