#!/bin/sh
# run.sh [BUILD_DIR]: a training step of m2run beside the same step in PyTorch,
# in one run, at 1 and 2 threads; then every op alone.
#
# Needs Debian's python3-torch and libopenblas0-openmp. On one thread both
# sides report CPU time, on more the wall clock: leave the machine alone then.
# Variables: PYTHON, ROUNDS (3), STEPS (8), DTYPE (f32), THREADS ("1 2"), and RUN,
# a prefix of every measured program: as root on a busy machine, "chrt -f 50".
set -eu
source=$(cd "$(dirname "$0")" && pwd)
build=${1:-$source/../..}
python=${PYTHON:-/usr/bin/python3}
run=${RUN:-} rounds=${ROUNDS:-3} steps=${STEPS:-8} dtype=${DTYPE:-f32}
M2RUN_PLUGIN_PATH=${M2RUN_PLUGIN_PATH:-$build/.libs}
export M2RUN_PLUGIN_PATH

"$python" -c 'import torch' 2>/dev/null || {
    echo "run.sh: $python has no torch; apt install python3-torch" >&2
    exit 77
}
for program in bench_step bench_ops; do
    [ -x "$build/tests/bench/$program" ] || {
        echo "run.sh: make tests/bench/bench_step tests/bench/bench_ops" >&2
        exit 2
    }
done

# Runs a program, shows its line "... best 316.4 median 326.9 ms ..." and
# leaves the smaller one of $best and its best figure in $best.
measure() {
    line=$("$@")
    echo "$line"
    best=$(echo "$line" | sed 's/.* best \([0-9.e+-]*\) .*/\1/' |
        awk -v best="$best" '{ print best == "" || $1 + 0 < best ? $1 : best }')
}

for threads in ${THREADS:-1 2}; do
    ours='' theirs=''
    OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads
    export OMP_NUM_THREADS OPENBLAS_NUM_THREADS
    for _ in $(seq "$rounds"); do
        best=$ours
        measure $run "$build/tests/bench/bench_step" threads="$threads" \
            dtype="${dtype#f}" steps="$steps"
        ours=$best best=$theirs
        measure $run "$python" "$source/pytorch_step.py" \
            --threads "$threads" --dtype "$dtype" --steps "$steps"
        theirs=$best
    done
    awk -v threads="$threads" -v ours="$ours" -v theirs="$theirs" 'BEGIN {
        printf "%d threads: m2run %.1f ms, PyTorch %.1f ms, ratio %.3f\n",
            threads, ours, theirs, ours / theirs }'
    $run "$build/tests/bench/bench_ops" cpu "$threads" "$dtype" 0.3
done
