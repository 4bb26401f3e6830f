#!/bin/sh
# m2run reproduce with data and files that have moved, and when it is stopped.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

# bars SEED FILE: 400 days of made-up prices
bars() {
    awk -v seed="$1" 'BEGIN {
        srand(seed); price = 100
        print "time,close"
        for (i = 0; i < 400; i++) {
            price *= 1 + (rand() - 0.5) / 50
            printf "2020-01-01T%02d:%02d:00Z,%.6f\n", i / 60, i % 60, price
        }
    }' >"$2"
}
train() { # NAME [KEY=VALUE...]
    train_name=$1
    shift
    "$M2RUN" run csv.yaml name="$train_name" -q "$@" >"$out" 2>"$err" \
        </dev/null
    run=$(echo "results/$train_name"/*-????????????)
}

bars 1 bars.csv
sed -e '/options:/d' -e 's/source: synthetic/source: csv/' \
    -e 's/^data:/data:\n  path: bars.csv/' \
    -e 's/^train:.*/train: {steps: 20, batch_size: 32, log_every: 4, eval_every: 8}/' \
    -e '$a checkpoint: {every: 4}' tiny.yaml >csv.yaml
train csv
runs "a run on files" 0 "$M2RUN" reproduce "$run" -q
contains "is identical" "$out" "identical: 5 rows, parameters sha256"
digest=$(sha256sum bars.csv | cut -d ' ' -f 1)

# ---- data ------------------------------------------------------------------
mkdir far
mv bars.csv far/
runs "data that are gone" 5 "$M2RUN" reproduce "$run" -q
contains "are named" "$err" "bars.csv: is missing (sha256 $digest)"
contains "with what to do" "$err" "data.path=FILE says where"
check "and nothing is left" test ! -e "$run.repro-1"
runs "data that have moved" 0 "$M2RUN" reproduce "$run" data.path=far/bars.csv -q
contains "are the same" "$out" "identical: 5 rows, parameters sha256"
runs "as a folder" 0 "$M2RUN" reproduce "$run" data.path=far -q
cp -r "$run" whole
sed "s/$digest/0${digest#?}/" whole/run.json >"$run/run.json"
runs "a digest that was altered" 7 "$M2RUN" reproduce "$run" data.path=far -q
contains "is told from data that were" "$out" \
    "altered: run.json: its data are not those of its identity"
cp whole/run.json "$run/run.json"
bars 2 bars.csv
runs "other data of this name" 5 "$M2RUN" reproduce "$run" -q
contains "are refused" "$err" "bars.csv: has other contents: sha256 "
contains "with both digests" "$err" "the run was trained on $digest"
mv bars.csv far/more.csv
runs "a file too many" 5 "$M2RUN" reproduce "$run" data.path=far -q
contains "is refused" "$err" "far/more.csv: the run had no such file"
cp far/bars.csv renamed.csv
runs "another name" 0 "$M2RUN" reproduce "$run" data.path=renamed.csv -q
contains "is a word" "$err" "renamed.csv has the contents of bars.csv"
contains "and no difference" "$out" "identical: 5 rows, parameters sha256"
cp far/bars.csv bars.csv

# ---- init_from ------------------------------------------------------------------
cp "$run/checkpoints/last.safetensors" first.safetensors
train next init_from=first.safetensors
runs "a run that began from a file" 0 "$M2RUN" reproduce "$run" -q
mv first.safetensors far/
runs "which is gone" 5 "$M2RUN" reproduce "$run" -q
contains "and named" "$err" "there is no file $work/first.safetensors"
runs "or has moved" 0 "$M2RUN" reproduce "$run" -q \
    init_from=far/first.safetensors
cp results/csv/*/checkpoints/best.safetensors first.safetensors
cmp -s first.safetensors far/first.safetensors &&
    cp "$run/checkpoints/last.safetensors" first.safetensors
runs "or is another" 5 "$M2RUN" reproduce "$run" -q
contains "is refused" "$err" "is not the file that the run began from"

# ---- a run of several attempts -----------------------------------------------
"$M2RUN" run csv.yaml name=long steps=4000 log_every=20 eval_every=200 \
    checkpoint.every=100 -q >"$out" 2>"$err" </dev/null &
child=$!
has_checkpoint() {
    ls results/long/.active/*/0001/checkpoints/last.safetensors
}
check "a long run has begun" soon has_checkpoint
kill -TERM "$child"
wait "$child"
equal "and is stopped" "$?" 75
train long steps=4000 log_every=20 eval_every=200 checkpoint.every=100
equal "and resumed" "$(json "$run/run.json" attempts 1 attempt)" 2
runs "a run of two attempts" 0 "$M2RUN" reproduce "$run" -q
contains "has the bits of one" "$out" "identical: 200 rows, parameters sha256"

# ---- stops ------------------------------------------------------------------------
begin() {
    "$M2RUN" reproduce "$run" -q >repro.out 2>repro.err </dev/null &
    child=$!
    soon grep -q . "$run.repro-1/.work/trace.txt"
}
begin
check "a long one has begun" kill -0 "$child"
runs "another one beside it" 0 "$M2RUN" reproduce "$run" --steps 20
contains "does not disturb it" "$err" "another process works in"
kill -TERM "$child"
wait "$child"
equal "a stop ends it as resumable" "$?" 75
check "with what it has" test -d "$run.repro-1/.work"
runs "other steps are another one" 0 "$M2RUN" reproduce "$run" --steps 20
contains "which tells what is left" "$err" "left unfinished, begun otherwise"
runs "the same command continues" 0 "$M2RUN" reproduce "$run"
contains "where it has stopped" "$err" "going on in $work/$run.repro-1"
contains "to the same bits" "$out" ", parameters sha256"
check "and nothing is left" sh -c "! ls -d '$run'.repro-*"
begin
check "one that is killed" kill -0 "$child"
# its worker ends by itself, but not at once
worker=$(cat /proc/"$child"/task/*/children)
kill -STOP $worker
kill -KILL "$child"
wait "$child" 2>"$work/.killed"
(sleep 1 && kill -CONT $worker) &
runs "is continued, too" 0 "$M2RUN" reproduce "$run" --keep
contains "in its folder" "$err" "going on in $work/$run.repro-1"
equal "and has every trace" "$(grep -c . "$run.repro-1/trace.txt")" 4000
rm -r "$run.repro-1"
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w "$(dirname "$run")"
    runs "a folder that cannot be written" 6 "$M2RUN" reproduce "$run"
    contains "has a way out" "$err" "--into DIR"
    runs "elsewhere" 0 "$M2RUN" reproduce "$run" --into there --steps 20
    chmod u+w "$(dirname "$run")"
else
    skip "a folder that cannot be written" "root writes everywhere"
fi
finish
