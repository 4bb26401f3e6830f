#!/bin/sh
# m2run best and compare on a results folder written by hand: its numbers are
# known, and so is every cell of the tables.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

# record EXPERIMENT HASH STATE LR SEED VALUE TEST: a published run
record() {
    dir=results/$1/lr-$4_s$5-$2
    mkdir -p "$dir"
    cat >"$dir/run.json" <<JSON
{"schema": 1, "name": "$1", "run": "lr-$4_s$5-$2", "state": "$3",
 "reason": "", "started": "2026-01-0$((1 + $5))T00:00:00Z", "metric": "val/mse",
 "config": {"name": "$1", "seed": "$5", "device": "cpu", "threads": "$5",
  "data.source": "csv", "data.window": "16", "train.loss": "mse",
  "train.steps": "null", "train.optimizer.lr": "$4"},
 "build": {"version": "0.1.0", "compiler": "gcc 1$5"},
 "backend": {"name": "cpu", "numerics": 1, "bytes": 10$5},
 "environment": {}, "parameters": 1234, "step": 10, "steps": 10, "seconds": 2,
 "baselines": {"val": {"zero": {"mse": 1.0}, "repeat_last": {"mse": 2.0}}},
 "final": {"train/loss": 0.5},
 "best": {"value": $6, "val/mse": $6, "val/skill": 0.25, "step": 10},
 "test": {"test/mse": $7}}
JSON
}

record grid 0000000000a0 done 0.1 0 0.4 0.9
record grid 0000000000a1 done 0.1 1 0.5 0.9
record grid 0000000000a2 done 0.1 2 0.6 0.9
record grid 0000000000b0 done 0.01 0 0.3 1.0
record grid 0000000000b1 diverged 0.01 1 null null
record grid 0000000000b2 failed 0.01 2 null null
record grid 0000000000c0 diverged 10 0 null null
record grid 0000000000c1 done 10 1 null null

runs "best ranks by the mean over seeds" 0 "$M2RUN" best grid
equal "n beside every mean, what is missing marked, the worst last" \
    "$(cat "$out")" \
    "#    lr       n  val/mse  +/-     95 %  naive mse  skill  test/mse  not done
1  0.01  1 of 3      0.3    -        -          1   0.25         1         2
2   0.1       3      0.5  0.1  0.24841          1   0.25       0.9         -
-    10  0 of 3        -    -        -          1   0.25         -         1"
contains "with a word about it" "$err" "2 configurations have fewer results"
contains "and about what diverged" "$err" "2 runs diverged: in no mean"
runs "for programs" 0 "$M2RUN" best grid --csv
equal "every column is there" \
    "$(sed -n '1p;3{s/0.0999999999999999[0-9]*/0.1/;s/0.248413771175[0-9]*/ci/;p;}' \
        "$out")" \
    "rank,experiment,train.optimizer.lr,n,n_expected,metric,std,ci95,val_mse,\
naive_mse,skill,hit_rate,test,test_mse,diverged,not_done
2,grid,0.1,3,3,0.5,0.1,ci,0.5,1,0.25,,0.9,0.9,0,0"
runs "as JSON" 0 "$M2RUN" best grid --json
equal "a setting is a number" "$(json "$out" 0 train.optimizer.lr)" 0.01
equal "no value is null" "$(json "$out" 2 rank)" null
runs "a condition" 0 "$M2RUN" best grid 'lr<1' state=done --csv
equal "is met by the runs that are ranked" \
    "$(cut -d, -f1,3,4,5,16 "$out" | tail -n +2)" "1,0.01,1,3,0
2,0.1,3,3,0"
runs "a configuration alone" 0 "$M2RUN" best grid lr=0.1 --csv
equal "has the mean that it has among others" \
    "$(tail -n 1 "$out" | cut -d, -f3,5)" "3,0.5"
runs "a condition that no run meets" 6 "$M2RUN" best grid 'lr>100'
contains "is said to be the reason" "$err" "that meet the conditions"
runs "an order by a setting" 0 "$M2RUN" best grid --sort -lr --csv
equal "is one of numbers" "$(cut -d, -f3 "$out" | tail -n +2 | tr '\n' ' ')" \
    "10 0.1 0.01 "
runs "an order by the test part" 0 "$M2RUN" best grid --sort test/mse --csv
equal "keeps the ranks" "$(cut -d, -f1 "$out" | tr '\n' ' ')" "rank 2 1  "
contains "and is warned of" "$err" "warning: sorted by the test part"
runs "an order by an unknown word" 2 "$M2RUN" best grid --sort skil
contains "has a suggestion" "$err" "did you mean 'skill'?"
runs "the first of the rows" 0 "$M2RUN" best grid -n 1 --csv
equal "is one" "$(grep -c . "$out")" 2

# a damaged run is no reason to show nothing
mkdir -p results/grid/lr-1_s0-0000000000d0
echo '{"schema":' >results/grid/lr-1_s0-0000000000d0/run.json
runs "a damaged run" 0 "$M2RUN" best grid
contains "is reported" "$err" "lr-1_s0-0000000000d0/run.json:2:0: not a run.json"
equal "and the others are ranked" "$(grep -c . "$out")" 4
runs "ls lists it, too" 0 "$M2RUN" ls grid
contains "as damaged" "$out" "damaged"
contains "and reports it" "$err" "warning: "
runs "a column of numbers" 0 "$M2RUN" ls grid --json state=done 'lr>0'
equal "is one although a run has none" \
    "$(json "$out" 0 train.optimizer.lr)" 0.01

runs "two runs side by side" 0 "$M2RUN" compare lr-0.1_s0 lr-0.01_s0
equal "show what differs and which is better" "$(cat "$out")" \
    "[1]  grid/lr-0.1_s0-0000000000a0
[2]  grid/lr-0.01_s0-0000000000b0

                           [1]      [2]
  state                   done     done
  progress               10/10    10/10
  metric               val/mse  val/mse
  best_step                 10       10
  seconds                 2.0s     2.0s
  parameters              1234     1234
settings
  train.optimizer.lr       0.1     0.01
scores
  val/mse                 0.4      0.3*
  val/skill              0.25     0.25
  test/mse                0.9*       1
  train/loss              0.5      0.5
baselines
  val/mse zero               1        1
  val/mse repeat_last        2        2"
equal "and nothing else" "$(cat "$err")" ""
runs "other seeds" 0 "$M2RUN" compare lr-0.1_s0 lr-0.1_s1 --csv
equal "have other facts" "$(grep -E '^(settings|facts)' "$out")" \
    "settings,seed,0,1,
settings,threads,0,1,
facts,build.compiler,gcc 10,gcc 11,"
runs "all of it" 0 "$M2RUN" compare lr-0.1_s0 lr-0.1_s1 --all
contains "settings that are equal" "$out" "data.window"
contains "facts, too" "$out" "backend.numerics"
runs "as JSON" 0 "$M2RUN" compare 0000000000a0 0000000000b1 --json
equal "runs are named" "$(json "$out" runs 1 state)" diverged
equal "sections, too" "$(json "$out" rows 0 section)" run
odd=$(printf 'r\377')
cp -r results "$odd"
runs "as JSON, in a folder that is no UTF-8" 0 "$M2RUN" compare \
    --results "$odd" 0000000000a0 0000000000b1 --json
equal "no run is lost" "$(json "$out" runs 1 state)" diverged
runs "columns that do not fit" 0 env COLUMNS=48 "$M2RUN" compare \
    results/grid/lr-0.1_s*/ results/grid/lr-0.01_s*/
equal "stand below" "$(grep -c '^  state' "$out")" 3
equal "and every line fits" "$(awk 'length > 48' "$out")" ""
runs "a damaged one" 6 "$M2RUN" compare lr-0.1_s0 lr-1_s0 lr-0.01_s0
contains "is reported" "$err" "left out: "
contains "and the others are shown" "$out" "[2]  grid/lr-0.01_s0"
runs "one run" 2 "$M2RUN" compare lr-0.1_s0
runs "the same run twice" 2 "$M2RUN" compare lr-0.1_s0 0000000000a0
contains "is a mistake" "$err" "are the same run"
runs "a run that is not there" 2 "$M2RUN" compare lr-0.1_s0 nope

# an unfinished run of another experiment, killed after three rows
dir=results/other/.active/0000000000e0/0001
mkdir -p "$dir"
printf 'lr-1_s0' >results/other/.active/0000000000e0/label
echo '{"name": "other", "run": "lr-1_s0-0000000000e0", "state": "running",
 "metric": "val/ic", "config": {"seed": "0", "train.loss": "mae"}}' \
    >"$dir/run.json"
echo '{}' >"$dir/owner.json"
touch -d '2026-01-01 00:00' "$dir/owner.json"
printf 'step,train/loss,val/ic\n1,0.9,0.1\n2,0.8,0.3\n3,0.7,0.2\n4,0.' \
    >"$dir/metrics.csv"
runs "an unfinished run beside a finished one" 0 "$M2RUN" compare \
    lr-0.1_s0 other/lr-1_s0
contains "has its state" "$out" "interrupted"
contains "the best value so far" "$out" "  val/ic                    -          0.3"
contains "of the step where it was" "$out" "  best_step                 10            2"
contains "and a word where scores are not the same" "$err" "loss differ"

# the runs of a file's sweep are not all of the experiment
cat >>tiny.yaml <<'YAML'
sweep:
  grid: {train.optimizer.lr: [1e-3, 1e-4]}
  seeds: 2
YAML
runs "some runs of a sweep" 0 "$M2RUN" run tiny.yaml -q
sed -i 's/1e-4/1e-5/; s/seeds: 2/seeds: 3/' tiny.yaml
runs "a changed file" 0 "$M2RUN" best tiny.yaml --csv
equal "has its own runs only, and marks what is missing" \
    "$(cut -d, -f3,4 "$out" | tail -n +2)" "2,3"
contains "and tells how many have not begun" "$err" \
    "4 of the 6 runs of the sweep have not begun"
runs "by name all are there" 0 "$M2RUN" best tiny --csv
equal "of any file" "$(grep -c . "$out")" 3
finish
