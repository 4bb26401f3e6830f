#!/bin/sh
# What `run` does with runs that failed, with those that are done, and when it
# is asked to stop: --retry, --fresh, --grace, --max-failures.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
mock=$top_builddir/tests/mock/.libs/m2_mock.so
ulimit -c 0
sweep="device=$mock train.optimizer.lr=1e-3,2e-3,3e-3 steps=4"

# three NAME ENVIRONMENT...: a sweep of three under results NAME
three() {
    results=$1
    shift
    env "$@" "$M2RUN" run small.yaml $sweep -j1 --results "$results" \
        >"$out" 2>"$err"
}

# ---- failures are told at once, counted, and can be retried
three failed M2_MOCK=nan-op=100
equal "runs that diverge end with 1" $? 1
contains "the summary counts states" "$err" "3 runs: 0 done, 3 diverged"
contains "and names them" "$err" "  diverged lr-0.001_s0-"
contains "with the command that shows them" "$err" "    m2run show "
contains "and that which repeats them" "$err" \
    "again: m2run run small.yaml device=$mock train.optimizer.lr=1e-3,2e-3,3e-3"
contains "with the states" "$err" " steps=4 --retry diverged"
for bad in done nonsense ''; do
    runs "--retry '$bad' is refused" 2 "$M2RUN" run small.yaml $sweep \
        --retry "$bad" --results failed
done
runs "plan tells what run will do" 0 "$M2RUN" plan small.yaml $sweep --csv \
    --results failed
equal "without an option" "$(grep -c ,diverged,skip, "$out")" 3
runs "and what" 0 "$M2RUN" plan small.yaml $sweep --csv --retry diverged \
    --results failed
equal "with one" "$(grep -c ,diverged,again, "$out")" 3
runs "--retry failed leaves what diverged" 1 "$M2RUN" run small.yaml $sweep \
    --retry failed --results failed
contains "and counts it" "$err" "3 runs: 0 done, 3 diverged (3 published before)"
runs "--retry diverged runs it again" 0 "$M2RUN" run small.yaml $sweep \
    --retry diverged --results failed
equal "three runs are done" "$(ls -d failed/small/lr-* | wc -l)" 3
equal "what was there is set aside" \
    "$(ls failed/small/.old | sed 's/-[0-9a-f]\{12\}\.1$//')" \
    "$(printf 'lr-0.001_s0\nlr-0.002_s0\nlr-0.003_s0')"
contains "as it was" "$(echo failed/small/.old/lr-0.001*)/run.json" \
    '"state": "diverged"'
runs "show reads it by its path" 0 "$M2RUN" show \
    "$(echo failed/small/.old/lr-0.001*)"
contains "with its state" "$out" diverged
runs "ls does not list it" 0 "$M2RUN" ls --results failed --csv
equal "but the runs" "$(grep -c ,done, "$out")" 3
three whole A=
for run in failed/small/lr-*; do
    same_run "retried: ${run##*/}" "$run" "whole/small/${run##*/}"
done

three once M2_MOCK=nan-op=100
for i in 1 2; do
    M2_MOCK=nan-op=100 "$M2RUN" run small.yaml $sweep --retry all -j1 \
        --results once >"once$i.out" 2>"once$i.err" &
    eval "pid$i=$!"
done
wait "$pid1"
equal "two that retry at once: the first ends with 1" $? 1
wait "$pid2"
equal "and so does the second" $? 1
equal "but each run is retried once" "$(ls once/small/.old | wc -l)" 3

# ---- --fresh
runs "--fresh runs what is done again" 0 "$M2RUN" run small.yaml $sweep \
    --fresh --results whole
equal "and keeps what was" "$(ls whole/small/.old | wc -l)" 3
runs "twice" 0 "$M2RUN" run small.yaml $sweep --fresh --results whole -q
equal "under the next number" "$(ls -d whole/small/.old/*.2 | wc -l)" 3
for run in whole/small/lr-*; do
    same_run "fresh: ${run##*/}" "$run" "failed/small/${run##*/}"
done
for i in 1 2; do
    "$M2RUN" run small.yaml $sweep --fresh --results whole -q \
        >"both$i.out" 2>"both$i.err" &
    eval "pid$i=$!"
done
wait "$pid1"
equal "of two at once the first ends well" $? 0
wait "$pid2"
equal "and the second" $? 0
equal "three runs are there" "$(ls -d whole/small/lr-* | wc -l)" 3
check "nothing was lost" test "$(ls whole/small/.old | wc -l)" -ge 9
env M2_MOCK=slow=1000 "$M2RUN" run small.yaml "device=$mock" -q \
    --results begun >/dev/null 2>&1 &
pid=$!
check "a run is on its way" at_once sh -c \
    'ls begun/small/.active/*/0001/checkpoints/last.safetensors'
kill -9 "$pid"
check "its worker notices, and stops" at_once sh -c \
    'grep stopped begun/small/.active/*/0001/run.json'
runs "--fresh does not go on from it" 0 "$M2RUN" run small.yaml \
    "device=$mock" --fresh --results begun
equal "it begins at its first step" \
    "$(json "$(published begun/small)/run.json" attempts 0 from_step)" 0
equal "and the attempt is set aside" "$(ls begun/small/.old | wc -l)" 1

# ---- limits
three limit M2_MOCK=nan-op=100
runs "--max-failures 50% of four" 1 env M2_MOCK=nan-op=100 "$M2RUN" run \
    small.yaml "device=$mock" lr=1e-3,2e-3,3e-3,4e-3 steps=4 -j1 \
    --max-failures 50% --results share
contains "gives up after two" "$err" "2 diverged, 2 not begun"
for bad in -1 101% x 5.5; do
    runs "--max-failures $bad is refused" 2 "$M2RUN" run small.yaml \
        "--max-failures=$bad"
done

# ---- as many at once as have memory
if [ "$(nproc)" -gt 1 ]; then
    runs "runs without room for two" 0 env M2RUN_MEMORY=9000000 "$M2RUN" run \
        small.yaml device=ref lr=1e-3,2e-3,3e-3 steps=4 --results memory
    contains "are worked one by one" "$err" "1 at a time instead of "
    contains "with what they need" "$err" ": the largest run needs "
    runs "-j is taken at its word" 0 env M2RUN_MEMORY=9000000 "$M2RUN" run \
        small.yaml device=ref lr=1e-3,2e-3,3e-3 steps=5 -j2 --results memory
    contains "so" "$err" "2 at a time on "
fi

runs "a run that fits into no memory" 1 env M2RUN_MEMORY=60000 "$M2RUN" run \
    small.yaml device=ref steps=6 --results memory
contains "is told with both sizes" "$err" ": oom: the model needs "
contains "before its first step" "$err" "has 58.6 KiB"

# ---- the grace time
env M2_MOCK=slow=200000 "$M2RUN" run small.yaml "device=$mock" \
    --grace 1 --results grace >"$out" 2>"$err" &
pid=$!
check "a slow run is in its first step" at_once grep "baseline zero" "$err"
sleep 0.5
kill -TERM "$pid"
wait "$pid"
equal "it ends as interrupted" $? 75
contains "the grace time is told" "$err" "for at most 1 seconds"
contains "and that it is over" "$err" "the grace time is over"
finish
