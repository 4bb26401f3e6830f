#!/bin/sh
# The script for real GPUs runs from end to end, on the emulated one, and a
# section that fails shows in its exit status and in its report.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh" # soon

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

runs "help is no name of a report" 0 sh "$top_srcdir/tests/gpu/run.sh" --help
contains "it tells what there is to set" "$out" GPU_DEVICE
runs "nor is another option" 2 sh "$top_srcdir/tests/gpu/run.sh" --slow

# a program in whose selftest nothing happens
mkdir slow tmp
cat >slow/m2run <<'END'
#!/bin/sh
[ "$1" = selftest ] || exit 0
echo $$ >"$SLOW/pid"
exec sleep 100
END
chmod +x slow/m2run
SLOW=$work/slow TMPDIR=$work/tmp M2RUN=$work/slow/m2run GPU_DEVICE=slow \
    sh "$top_srcdir/tests/gpu/run.sh" --quick stopped.txt >/dev/null 2>&1 &
script=$!
soon test -s slow/pid
kill -TERM $script
wait $script
equal "a signal ends the script" $? 143
check "the section that ran" soon sh -c "! kill -0 $(cat slow/pid)"
equal "and leaves no folder" "$(ls tmp)" ""
contains "which the report says" stopped.txt stopped
finish
