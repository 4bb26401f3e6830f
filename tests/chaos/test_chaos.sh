#!/bin/sh
# The small version of `make check-chaos`: three invocations of four runs.
. "$top_srcdir/tests/tap.sh"
ulimit -c 0

TMPDIR=$work M2_CHAOS_RUNS=4 M2_CHAOS_PROCESSES=3 M2_CHAOS_STEPS=300 \
    M2_CHAOS_FAULTS=25 M2_CHAOS_SECONDS=60 M2_CHAOS_FULL=0 \
    M2_CHAOS_SEED="${M2_CHAOS_SEED-7}"
export TMPDIR M2_CHAOS_RUNS M2_CHAOS_PROCESSES M2_CHAOS_STEPS \
    M2_CHAOS_FAULTS M2_CHAOS_SECONDS M2_CHAOS_FULL M2_CHAOS_SEED
runs "a sweep that is killed and stopped at random" 0 \
    "$top_builddir/tests/chaos/chaos" "$M2RUN"
sed 's/^/# /' "$out"
contains "ends with every run once, and the same bytes" "$out" \
    "every run once, all bytes equal"
contains "four runs" "$out" " 4 runs published"
finish
