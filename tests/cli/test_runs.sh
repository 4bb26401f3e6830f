#!/bin/sh
# m2run ls and show on the runs of a small sweep.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

runs "no run is no error" 0 "$M2RUN" ls
equal "and nothing is printed" "$(cat "$out")" ""
runs "nor as JSON" 0 "$M2RUN" ls --json
check "but an empty list" json "$out"

runs "a sweep is trained" 0 "$M2RUN" run tiny.yaml lr=1e-3,1e-4
contains "it says what begins" "$err" "tiny: 2 of 2 runs to do"
contains "a run ends with one line" "$err" "lr-0.001_s0: done in "
lacks "without its epochs" "$err" "epoch 1"
contains "which its log has" results/tiny/lr-0.001_s0-*/log.txt "epoch 1"
contains "and what became of all" "$err" "2 runs: 2 done"
runs "one run tells more" 0 "$M2RUN" run tiny.yaml --results alone
contains "each evaluation" "$err" "epoch 1: train/loss"
contains "in one run, not runs" "$err" "1 run: 1 done"
runs "the same again" 0 "$M2RUN" run tiny.yaml --results alone
contains "is no work" "$err" "1 run: 1 done (1 published before)"
runs "a device that is not there" 4 "$M2RUN" run tiny.yaml device=nope
contains "is told without a label" "$err" "m2run: error: "
runs "every line of a sweep on request" 0 \
    "$M2RUN" run tiny.yaml lr=1e-3,1e-4 -v --results alone
contains "has a label" "$err" "lr-0.0001_s0: step "
runs "quiet, before the command" 0 \
    "$M2RUN" -q run tiny.yaml seed=7 --results alone
equal "says nothing" "$(cat "$err")" ""
runs "a run that fails" 1 "$M2RUN" run tiny.yaml name=wild lr=100 \
    weight_decay=1 epochs=20 -q

runs "ls lists them" 0 "$M2RUN" ls
contains "by experiment and name" "$out" "tiny        lr-0.001_s0-"
contains "with a column per differing key" "$out" " lr "
contains "the metric by its name" "$out" "val/loss"
contains "the reason of a failure" "$out" "diverged"
contains "the summary is no result" "$err" "3 runs: 2 done, 1 diverged"
runs "a condition on a number" 0 "$M2RUN" ls 'lr<1e-3'
equal "keeps the runs that meet it" "$(grep -c . "$out")" 2
contains "and no others" "$out" "lr-0.0001_s0-"
runs "a condition on a state" 0 "$M2RUN" ls state!=done
contains "works on text" "$out" "wild"
runs "an experiment by its name" 0 "$M2RUN" ls tiny
lacks "shows no others" "$out" "wild"
runs "an experiment by its file" 0 "$M2RUN" ls tiny.yaml 'run=lr-0.001*'
equal "with a pattern" "$(grep -c tiny "$out")" 1
runs "an unknown key" 2 "$M2RUN" ls 'optimiser.lr<1'
runs "an order that meets no number" 2 "$M2RUN" ls 'lr<1e-3x'
contains "names the slip" "$err" "expected one in place of '1e-3x'"
runs "a score that does not exist" 2 "$M2RUN" ls 'val/los<1'
contains "has a suggestion" "$err" "did you mean 'val/loss'?"
runs "best in the order of a column's title" 0 \
    "$M2RUN" best tiny --sort -test/loss
runs "or of the metric's name" 0 "$M2RUN" best tiny --sort val/loss
runs "as CSV, sorted" 0 "$M2RUN" ls tiny --csv --sort -lr
equal "header and runs in order" "$(cut -d, -f2 "$out" | sed 's/-[^-]*$//')" \
    "run
lr-0.001_s0
lr-0.0001_s0"
runs "limited, as JSON" 0 "$M2RUN" ls tiny --json --sort lr -n 1
equal "numbers are numbers" "$(json "$out" 0 train.optimizer.lr)" 0.0001
equal "steps are counted" "$(json "$out" 0 step)" "$(json "$out" 0 steps)"
path=$(json "$out" 0 path)
runs "--watch without a terminal prints once" 0 "$M2RUN" ls --watch
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    COLUMNS=40 TERM=vt100 timeout 5 \
        script -qec "'$M2RUN' ls --watch" /dev/null >"$out" 2>"$err" </dev/null
    check "on a terminal it draws again" test \
        "$(grep -c "$(printf '\033')\[H" "$out")" -ge 2
    contains "with the summary above" "$out" "3 runs: 2 done, 1 diverged in"
    equal "and lines cut to the terminal" \
        "$(tr -d '\r' <"$out" | awk 'length > 50' | head -n 1)" ""
else
    skip "--watch on a terminal" "there is no script(1), or no terminal to be had"
fi
runs "another folder" 0 "$M2RUN" ls --results elsewhere
equal "has no runs" "$(cat "$out")" ""
runs "and by the environment" 0 env M2RUN_RESULTS=elsewhere "$M2RUN" ls
equal "the same" "$(cat "$out")" ""
mkdir -p copy/results
cp -r results/tiny copy/results/
echo '{"schema":' >"$(echo copy/results/tiny/lr-0.001_s0-*)/run.json"
runs "a damaged run does not hide the others" 0 \
    "$M2RUN" ls --results copy/results
contains "it is shown as such" "$out" "damaged"
contains "beside them" "$out" "done"
runs "show says what is wrong with it" 0 \
    "$M2RUN" show --results copy/results lr-0.001
contains "by file and line" "$out" "run.json:"
runs "its JSON cannot be printed" 6 \
    "$M2RUN" show --results copy/results lr-0.001 --json

runs "show takes a directory" 0 "$M2RUN" show "$path"
contains "state" "$out" "state       done"
contains "settings that are not at their default" "$out" "data.window: 16"
lacks "no others" "$out" "d_conv"
contains "baselines" "$out" "repeat_last"
contains "data" "$out" "400 rows, 1 series"
contains "checkpoints" "$out" "best.safetensors"
contains "rows of metrics.csv" "$out" "train/grad_norm"
contains "attempts" "$out" "from step 0 to"
runs "a prefix" 0 "$M2RUN" show lr-0.0001
runs "the last one" 0 "$M2RUN" show @last
contains "is the one that failed" "$out" "diverged"
contains "with its reason" "$out" "state       diverged: "
runs "a prefix of two runs" 2 "$M2RUN" show lr-0.
contains "names them" "$err" "tiny/lr-0.0001_s0-"
runs "as JSON" 0 "$M2RUN" show "$path" --json
equal "it is run.json" "$(json "$out" state)" done
equal "all of it" "$(json "$out")" "$(json "$path/run.json")"
rm "$path/config.yaml"
runs "without config.yaml" 0 "$M2RUN" show "$path"
contains "the recorded settings are shown" "$out" "model.d_conv: 4"
runs "following a finished run ends" 0 "$M2RUN" show -f "$path"
same "with its log" "$out" "$path/log.txt"
contains "and its state" "$err" "tiny/lr-0.0001_s0-"
runs "a run that keeps no best checkpoint" 0 "$M2RUN" run tiny.yaml name=bare \
    keep_best=0 -q
runs "is begun from by its last one" 0 "$M2RUN" run tiny.yaml name=after \
    init_from=@last -q
runs "a model that no memory holds fails before it is made" 1 \
    "$M2RUN" run tiny.yaml name=giant model.d_model=65536 n_layer=16
contains "with both sizes" "$err" "the model needs 6.6 TiB, "
runs "and is listed with its reason" 0 "$M2RUN" ls giant
contains "as out of memory" "$out" " oom "
finish
