#!/bin/sh
# What fails costs one run: how each failure ends, what it says, what it leaves.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
mock=$top_builddir/tests/mock/.libs/m2_mock.so
ulimit -c 0

# only NAME DIR: nothing is left but the record of the sweep
nothing_left() {
    equal "$1" "$(ls -A "$2/small" | sed 's/-[0-9a-f]*\.yaml$//' | tr '\n' ' ' &&
        ls -A "$2/small/.active")" ".active sweep "
}
state() { # DIR
    json "$1/run.json" state
}

# ---- a run that fails is published, the others finish
runs "a crash" 1 env M2_MOCK=crash-op=1000 "$M2RUN" run small.yaml \
    "device=$mock" steps=40,4 -j1 -q --results crash
contains "is told" "$err" "steps-40_s0: failed: the worker was killed by signal 11"
contains "the others finish" "$out" "done $work/crash/small/steps-4_s0-"
run=$(echo crash/small/steps-40_s0-*)
equal "it is published as failed" "$(state "$run")" failed
contains "with its reason" "$run/run.json" "signal 11 (Segmentation fault)"
check "with its rows" lines "$run/metrics.csv" 2
check "with its checkpoint" test -s "$run/checkpoints/last.safetensors"
check "and its configuration" test -s "$run/config.yaml"
equal "nothing else is left" "$(ls -A crash/small/.active)" ""
runs "a failed run is not run again" 1 "$M2RUN" run small.yaml \
    "device=$mock" steps=40,4 -q --results crash
contains "but counted" "$out" "failed $work/crash/small/steps-40_s0-"

runs "a number that is not finite" 1 env M2_MOCK=nan-op=700 "$M2RUN" run \
    small.yaml "device=$mock" -q --results nan
run=$(published nan/small)
equal "ends the run as diverged" "$(state "$run")" diverged
check "with the first tensor that went bad" grep -Eq \
    '"reason": "step [0-9]+: the gradient of [a-z_.]+ is not finite' \
    "$run/run.json"
contains "which is said" "$err" "run: diverged: step "
equal "and not twice" "$(grep -c 'is not finite' "$err")" 1
contains "and stands in the log" "$run/log.txt" "m2run: error: step "

for k in 1 4; do
    runs "a device without memory ($k)" 1 env M2_MOCK=fail-alloc=$k "$M2RUN" \
        run small.yaml "device=$mock" -q --results oom$k
    run=$(published oom$k/small)
    equal "ends the run as oom ($k)" "$(state "$run")" oom
    check "before step 1 ($k)" test ! -e "$run/metrics.csv"
done
runs "an op that fails" 1 env M2_MOCK=fail-op=700 "$M2RUN" run small.yaml \
    "device=$mock" -q --results op
equal "ends the run as failed" "$(state "$(published op/small)")" failed
contains "with the device's words" "$err" "failed: mock: fault at op 700 "

# ---- what cannot run leaves nothing
cat >missing.yaml <<'END'
include: [small.yaml]
data: {source: csv, path: bars.csv, features: [close], target: [close]}
END
sed -i '/options/d' small.yaml
grep -v source small.yaml >base.yaml
sed -i 's/small.yaml/base.yaml/' missing.yaml
runs "missing data" 5 "$M2RUN" run missing.yaml -q --results missing
contains "are named" "$err" "bars.csv"
printf 'time,close\n2024-01-01T00:00:00Z,1\n2024-01-01T00:01:00Z,x\n' >bars.csv
runs "data that cannot be read" 5 "$M2RUN" run missing.yaml -q --results bad
contains "are named with their line" "$err" "bars.csv:3"
equal "said once" "$(grep -c bars.csv:3 "$err")" 1
nothing_left "and leave nothing" bad
runs "a device that is not there" 4 "$M2RUN" run small.yaml \
    device=/nowhere/m2_x.so -q --results nodev
contains "is named" "$err" "/nowhere/m2_x.so"
nothing_left "and leaves nothing" nodev
runs "a device that does not open" 4 env M2_MOCK=fail-open "$M2RUN" run \
    small.yaml "device=$mock" -q --results closed
nothing_left "leaves nothing" closed
runs "an op that the device does not have" 4 env M2_MOCK=refuse=0 "$M2RUN" run \
    small.yaml "device=$mock" -q --results refused
nothing_left "leaves nothing either" refused
runs "a metric that is not measured" 3 "$M2RUN" run small.yaml \
    "target=[close]" metric=val/ic -q --results metric
contains "is named" "$err" "metric: 'val/ic' is not measured"
nothing_left "leaves nothing as well" metric

# ---- the results folder
echo "a file" >file
runs "results that are a file" 6 "$M2RUN" run small.yaml -q --results file
contains "are named" "$err" "$work/file"
runs "a published run" 0 "$M2RUN" run small.yaml "device=$mock" -q \
    --results damaged
echo '{' >"$(published damaged/small)/run.json"
runs "whose run.json is damaged" 6 "$M2RUN" run small.yaml "device=$mock" -q \
    --results damaged
contains "is named" "$err" "run.json names no identity"

# a full disk: files end at 16 KiB, or 32 where the shell counts so
full() { # WORDS: of the command
    (
        trap '' XFSZ
        ulimit -f 32
        exec "$M2RUN" "$@"
    )
}
runs "no room for a row" 6 full run small.yaml -q --results full \
    steps=500 log_every=1 eval_every=500 checkpoint.every=50
contains "is an error of the results" "$err" "metrics.csv: cannot write"
runs "with room it goes on" 0 "$M2RUN" run small.yaml --results full \
    steps=500 log_every=1 eval_every=500 checkpoint.every=50
contains "from its checkpoint" "$err" "going on from step "
equal "with a row for every step" \
    "$(wc -l <"$(published full/small)/metrics.csv")" 501
runs "no room for a checkpoint" 6 full run small.yaml -q --results no \
    d_model=64
contains "is one, too" "$err" "safetensors: File too large"
nothing_left "and leaves nothing to go on from" no

# ---- giving up
sweep="steps=400,300,4 device=$mock -j1 -q"
M2_MOCK=crash-op=3000
export M2_MOCK
runs "--on-error stop" 1 "$M2RUN" run small.yaml $sweep --on-error stop \
    --results stop
equal "stops at the first" "$(ls -d stop/small/*-???????????? | wc -l)" 1
runs "--max-failures 2" 1 "$M2RUN" run small.yaml $sweep --max-failures 2 \
    --results max
equal "stops at the second" "$(ls -d max/small/*-???????????? | wc -l)" 2
runs "without them" 1 "$M2RUN" run small.yaml $sweep --results all
equal "all are run" "$(ls -d all/small/*-???????????? | wc -l)" 3
finish
