#!/bin/sh
# CUDA calls of the conformance suite fail: the case that made the call fails
# in CUDA's words, nothing is left behind. M2_TEST_STRIDE=1 tries every call of
# every golden case but the longest, in half an hour.
. "$top_srcdir/tests/tap.sh"

emu=$top_builddir/tests/cuda_emu
if [ ! -e "$emu/m2_cuda_emu.so" ]; then
    skip "calls that fail" "the emulator is not built here"
    finish
    exit
fi
export M2RUN_PLUGIN_PATH="$emu${M2RUN_PLUGIN_PATH:+:$M2RUN_PLUGIN_PATH}"
. "$top_srcdir/tests/cuda_emu/faults.sh"
golden=$top_srcdir/tests/golden

counted() {
    tail -n 1 said
}

cases=${M2_TEST_CASES:-op_ssd_a step_lm}
if [ -n "${M2_TEST_STRIDE-}" ] && [ -z "${M2_TEST_CASES-}" ]; then
    "$M2RUN" selftest ref --golden "$golden" -v >all || true
    # a trajectory is a step, twenty times
    cases=$(sed -n 's/^passed: golden \([a-z0-9_]*\) f32.*/\1/p' all |
        grep -v '^train\|^seed')
fi
for case in $cases; do
    sweep "$case" 'unknown error\|CUBLAS_STATUS_' 999 counted \
        "$M2RUN" selftest cuda_emu --golden "$golden" --op "$case"
done
finish
