#!/bin/sh
# What a run will take is known before, and bench measures it.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"
export M2RUN_RESULTS="$work/results" XDG_CACHE_HOME="$work/cache"
# What others leave on this machine is none of this test's.
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"

cat >exp.yaml <<'END'
name: planned
data:
  source: synthetic
  options: {kind: bars, rows: 400}
  features: [log_return(close)]
  target: [log_return(close)]
  window: 12
  split: {train: 0.75, val: 0.25}
model: {d_model: 8, n_layer: 1, d_state: 4, headdim: 8, chunk: 4}
train:
  steps: 2
  batch_size: 4
  eval_every: 1
  schedule: {warmup_steps: 0}
checkpoint: {every: 1}
END

value() { # KEY: its first value in $out, JSON
    sed -n "s/^ *\"$1\": \([^,]*\),*\$/\1/p" "$out" | head -n 1
}

runs "the data of a sweep over windows" 0 "$M2RUN" data exp.yaml window=8,16
contains "are those of its first value" "$err" \
    "data.window is swept: shown for its first value, 8"
contains "and not of the file's" "$out" "windows of 8 rows"
runs "an embargo longer than a part" 5 "$M2RUN" data exp.yaml embargo=100000
contains "is told as such" "$err" "(embargo 100000)"
runs "a sweep of which one run has no window" 5 \
    "$M2RUN" plan exp.yaml window=8,1000
contains "names that run" "$err" "error: window-1000_s0: data: no window"
runs "a sweep over a key that is called like a column" 0 \
    "$M2RUN" plan exp.yaml train.steps=3,4
contains "has two titles" "$out" " train.steps  windows  steps "
runs "a sweep is planned" 0 "$M2RUN" plan exp.yaml d_state=4,8 train.epochs=3 \
    train.steps=null
contains "with its runs" "$out" "planned: 2 runs (2 configurations, 1 seed)"
# 300 rows, the first without a return: 299 - 12 windows, 72 batches of 4.
contains "their windows" "$out" "train 287, val 100, test 0"
contains "and steps" "$out" "72 steps per epoch, 3 epochs"
contains "a run has a state" "$out" "pending"
check "nothing was written" test ! -e results

runs "a run is made" 0 "$M2RUN" run exp.yaml -q
runs "planned again" 0 "$M2RUN" plan exp.yaml --json
equal "it is done" "$(value state)" '"done"'
contains "and not to do" "$out" '"to_do": 0'
equal "its parameters are those of the run" "$(value parameters)" \
    "$(sed -n 's/^ *"parameters": \([0-9]*\),$/\1/p' results/planned/run-*/run.json)"

# A point of a list may set any number of keys: each has its column.
cat >wide.yaml <<'END'
include: exp.yaml
name: wide
sweep:
  list:
    - {data.stride: 1, data.eval_stride: 1, data.max_gap: 10,
       data.window: 12, data.horizon: 1, data.split.embargo: 0,
       model.d_model: 8, model.n_layer: 1, model.d_state: 4, model.expand: 2,
       model.headdim: 8, model.d_conv: 4, model.ngroups: 1, model.chunk: 4,
       model.norm_eps: 1e-5, model.conv_bias: true, model.proj_bias: false,
       train.steps: 2, train.batch_size: 4, train.microbatch: 4,
       train.huber_delta: 1, train.clip_norm: 1, train.eval_every: 1,
       train.log_every: 1, train.optimizer.lr: 1e-3,
       train.optimizer.eps: 1e-8, train.optimizer.weight_decay: 0.1,
       train.schedule.warmup_steps: 0, train.schedule.min_ratio: 0,
       train.early_stopping.patience: 0, train.early_stopping.min_delta: 0,
       data.split.train: 0.75, data.split.val: 0.25, train.loss: mse}
END
runs "a point of 34 keys is planned" 0 "$M2RUN" plan wide.yaml --csv
equal "with 34 columns of its own" \
    "$(sed -n 1p "$out" | tr ',' '\n' | wc -l | tr -d ' ')" 44
check "and as many cells" awk -F, 'NF != 44 { exit 1 }' "$out"
runs "and as a table" 0 "$M2RUN" plan wide.yaml
contains "with the last key" "$out" " loss "

# A sanitizer multiplies memory; elsewhere the prediction holds within 5 %.
big="d_model=512 n_layer=4 headdim=64 chunk=16 name=big"
sanitized=$(ldd "$M2RUN" | grep -e asan -e tsan)
if [ -n "$sanitized" ]; then
    skip "peak memory of a large model" "built with a sanitizer"
else
    # shellcheck disable=SC2086
    runs "a large model is planned" 0 "$M2RUN" plan exp.yaml $big --json
    planned=$(value process)
    # shellcheck disable=SC2086
    runs "and trained" 0 "$M2RUN" run exp.yaml $big -q
    peak=$(tail -n 1 results/big/run-*/timing.csv | sed 's/.*,//')
    check "above 100 MB" test "$planned" -gt 100000000
    check "peak memory is within 5 % of the plan ($planned, $peak)" \
        awk -v a="$planned" -v b="$peak" \
        'BEGIN { exit !(a < 1.05 * b && a > 0.95 * b) }'
fi

# What run would do, and whether there is room for it.
runs "a plan is a table for programs, too" 0 "$M2RUN" plan exp.yaml \
    d_state=4,8 --csv
equal "with bytes in full" "$(sed -n 1p "$out")" \
    "run,state,action,model.d_state,windows,steps,parameters,device_bytes,\
process_bytes,disk_bytes,seconds"
equal "and a row per run" "$(wc -l <"$out" | tr -d ' ')" 3
runs "steps are measured" 0 "$M2RUN" plan exp.yaml d_state=8,16 seeds=2 -j 2 \
    --time
# a sanitizer takes more address space than a measuring process may have
if [ -n "$sanitized" ]; then
    skip "each shape once" "built with a sanitizer"
else
    contains "each shape once" "$out" "(2 shapes measured)"
    contains "for as many jobs" "$out" " with -j 2; "
    runs "times as JSON" 0 "$M2RUN" plan exp.yaml d_state=8 --time --json
    check "of every run" test "$(value wall_seconds)" != null
fi
equal "no file is left behind" "$(ls "$TMPDIR")" ""
runs "a model that no memory holds" 3 "$M2RUN" plan exp.yaml d_model=32768 \
    headdim=64 n_layer=64 d_state=4,8 --time
contains "is named with both sizes" "$out" "does not fit: d_state-4_s0-"
contains "and not measured" "$err" "2 of 2 runs to do could not be measured"

# The list of plan is the list of run.
cat >random.yaml <<'END'
include: exp.yaml
name: random
sweep:
  random: {n: 3, seed: 7}
  params: {lr: {loguniform: [1e-4, 1e-2]}, d_state: {choice: [4, 8]}}
  list: [{label: narrow, expand: 2}, {expand: 4}]
  exclude: expand == 4 && d_state == 8
  seeds: [1, 5]
END
runs "a sweep of everything is planned" 0 "$M2RUN" plan random.yaml --csv
sed 1d "$out" | cut -d, -f1 >planned.txt
runs "and run" 0 "$M2RUN" run random.yaml -q
sed 's|.*/||' "$out" >made.txt
check "they are the same runs, in the same order" cmp planned.txt made.txt
check "with the label of the list" grep -q '^narrow_.*_s5-' made.txt
runs "planned again" 0 "$M2RUN" plan random.yaml
contains "all are done" "$out" "to do: 0 of"
contains "and points are left out" "$out" "points excluded"
cat >bars.csv <<'END'
time,close
END
i=0
while [ $i -lt 300 ]; do
    echo "$((1700000000 + i * 60)),$((100 + i * 7 % 13))"
    i=$((i + 1))
done >>bars.csv
mkdir copy
cp bars.csv copy/
sed -e 's/source: .*/source: csv/' -e '/options:/d' exp.yaml >csv.yaml
runs "one file in two folders" 0 "$M2RUN" plan csv.yaml \
    data.path=bars.csv,copy/bars.csv
contains "is one run" "$out" "planned: 1 run ("
contains "and that is said" "$err" "1 run is the same as another and left out"
runs "an experiment is timed" 0 "$M2RUN" bench exp.yaml --steps 4 \
    --device cpu,ref
check "devices side by side" grep -q '^ *cpu *ref$' "$out"
contains "against the peak of the cores" "$out" "share of the peak, %"
runs "as an axis of the command line" 0 "$M2RUN" bench exp.yaml --steps 4 \
    device=cpu,ref
check "they are side by side, too" grep -q '^ *cpu *ref$' "$out"
runs "not both" 2 "$M2RUN" bench exp.yaml device=cpu,ref --device cpu
contains "which is said" "$err" "the devices are given twice"
runs "a device without a name" 4 "$M2RUN" bench exp.yaml --device ''
contains "is none" "$err" "no backend named"
runs "as JSON" 0 "$M2RUN" bench exp.yaml --steps 4 --json
check "a step takes time" test "$(value step_min_s)" != 0
equal "bench leaves nothing behind" "$(ls "$TMPDIR")" ""

# However it ends: what a signal stops tidies up, what is killed is tidied up
# by the next one.
is_measuring() { # KIND: and its folder is ready
    test -s "$(echo "$TMPDIR"/m2run-"$1"-*/owner.json)"
}
"$M2RUN" bench exp.yaml --steps 1000000 >"$out" 2>"$err" </dev/null &
check "a bench that would take hours" soon is_measuring bench
kill -TERM $!
wait $!
equal "ends by the signal that it gets" "$?" 143
equal "and leaves nothing behind" "$(ls "$TMPDIR")" ""
"$M2RUN" bench exp.yaml --steps 1000000 >"$out" 2>"$err" </dev/null &
check "one that is killed" soon is_measuring bench
kill -KILL $!
wait $! 2>/dev/null
left=$(ls "$TMPDIR")
check "leaves its folder" test -n "$left"
runs "the next one" 0 "$M2RUN" bench exp.yaml --steps 1
contains "removes it" "$err" "$left: removed, for its process was killed"
equal "and its own" "$(ls "$TMPDIR")" ""
# a minute of steps, so that there is time to stop
slow="d_model=64 n_layer=6 headdim=64 batch_size=64 device=ref"
if [ -n "$sanitized" ]; then
    skip "a plan that measures" "built with a sanitizer"
else
    # shellcheck disable=SC2086
    "$M2RUN" plan exp.yaml $slow --time >"$out" 2>"$err" </dev/null &
    planner=$!
    check "a plan that measures" soon is_measuring plan
    kill -TERM $planner
    wait $planner
    equal "ends by its signal, too" "$?" 143
    equal "with its processes, and leaves nothing" "$(ls "$TMPDIR")" ""
fi
for steps in 0 -1 1000001; do
    runs "--steps $steps" 2 "$M2RUN" bench exp.yaml --steps $steps
    contains "is no number of steps" "$err" "bench: --steps is 1 to 1000000"
done
runs "a device that is not there" 4 "$M2RUN" bench exp.yaml --device none
finish
