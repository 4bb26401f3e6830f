#!/bin/sh
# The script for real GPUs runs from end to end, on the emulated one, and a
# section that fails shows in its exit status and in its report.
. "$top_srcdir/tests/tap.sh"

M2RUN_PLUGIN_PATH=$M2_EMU_DIR:$M2RUN_PLUGIN_PATH
export M2RUN_PLUGIN_PATH
GPU_DEVICE=cuda_emu runs "all sections on the emulated device" 0 \
    sh "$top_srcdir/tests/gpu/run.sh" --quick report.txt
sed 's/^/# /' report.txt
for section in devices selftest trajectories repeat bench; do
    check "$section passed" grep -q "^$section *passed" report.txt
done
contains "what cannot be had is left out, and said" report.txt \
    "left out: cuda_emu is taken as it is"
lacks "nothing failed" report.txt FAILED

GPU_DEVICE=nosuch runs "a device that is not there fails" 1 \
    sh "$top_srcdir/tests/gpu/run.sh" --quick report.txt
contains "the sections after the first failure ran, too" report.txt \
    "==== bench"
check "the selftest failed" grep -q '^selftest *FAILED' report.txt
check "the machine is described all the same" grep -q '^machine *passed' \
    report.txt
finish
