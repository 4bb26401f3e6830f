#!/bin/sh
# m2run reproduce: identical runs, altered records, other computations.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"
mock=$(cd "$top_builddir" && pwd)/tests/mock/.libs/m2_mock.so

# A row and a checkpoint every 4 steps, 20 steps.
train() { # NAME [KEY=VALUE...]
    train_name=$1
    shift
    "$M2RUN" run tiny.yaml name="$train_name" steps=20 log_every=4 \
        eval_every=8 checkpoint.every=4 batch_size=32 -q "$@" \
        >"$out" 2>"$err" </dev/null
    run=$(echo "results/$train_name"/*-????????????)
    rm -rf whole
    cp -r "$run" whole
}
restore() {
    rm -rf "$run" "$run".repro-*
    cp -r whole "$run"
}
none_left() {
    [ ! -e "$run.repro-1" ]
}

train tiny
runs "an untouched run" 0 "$M2RUN" reproduce @last
contains "is identical" "$out" "identical: 5 rows, parameters sha256 "
contains "with what has changed, before" "$err" \
    "nothing recorded that can change a bit has changed"
check "its copy is removed" none_left
runs "--keep" 0 "$M2RUN" reproduce "$run" --keep
contains "says where it is" "$err" "the new run is $work/$run.repro-1"
for file in config.yaml metrics.csv checkpoints/last.safetensors \
    checkpoints/best.safetensors; do
    same "keeps a run: $file" "$run.repro-1/$file" "$run/$file"
done
equal "with the trace of every step" "$(grep -c . "$run.repro-1/trace.txt")" 20
equal "that of its last row" "$(tail -n 1 "$run.repro-1/trace.txt")" \
    "$(tail -n 1 "$run/metrics.csv" | sed 's/.*,//')"
check "and nothing else" test ! -e "$run.repro-1/.work"
runs "ls does not list it" 0 "$M2RUN" ls --csv
equal "but the run alone" "$(grep -c ',done,' "$out")" 1
runs "nor does @last mean it" 0 "$M2RUN" show @last
contains "but the run" "$out" "$(basename "$run")"
runs "nor does run take it for one" 0 "$M2RUN" run tiny.yaml name=tiny \
    steps=20 log_every=4 eval_every=8 checkpoint.every=4 batch_size=32
contains "but skips the run" "$err" "published before"
runs "it can be shown" 0 "$M2RUN" show "$run.repro-1"
runs "the next one has the next number" 0 "$M2RUN" reproduce "$run" --keep
contains "and is told" "$err" "the new run is $work/$run.repro-2"
contains "what is left" "$err" "earlier reproduce: $work/$run.repro-1"
runs "--json" 0 "$M2RUN" reproduce "$run" --json -q
cp "$out" json
equal "has the result" "$(json json result)" identical
equal "the rows" "$(json json rows)" 5
equal "no findings" "$(json json findings)" "[]"
equal "and no folder that is gone" "$(json json again)" null
runs "the first steps alone" 0 "$M2RUN" reproduce "$run" --steps 10
contains "are as many rows" "$out" "identical: 2 rows up to step 8"
contains "and no parameters" "$out" "last.safetensors, step 20: "
runs "as many steps as there are" 0 "$M2RUN" reproduce "$run" --steps 99
contains "are all of it" "$out" "identical: 5 rows, parameters sha256"
runs "no step at all" 2 "$M2RUN" reproduce "$run" --steps 0
contains "is no number of steps" "$err" "--steps: expected at least 1"
runs "fewer than a row has" 2 "$M2RUN" reproduce "$run" --steps 3
contains "are none" "$err" "the first row of metrics.csv is that of step 4"
runs "another folder" 0 "$M2RUN" reproduce "$run" --into else/where --keep
check "takes the copy" test -e "else/where/$(basename "$run").repro-1/run.json"
restore

# ---- altered records ---------------------------------------------------------
digit=$(sed -n '3s/^\([^,]*,\)\{3\}\([^,]*\),.*/\2/p' "$run/metrics.csv")
sed "3s/$digit/9${digit#?}/" whole/metrics.csv >"$run/metrics.csv"
runs "one altered digit" 7 "$M2RUN" reproduce "$run" -q
contains "is found" "$out" "altered: metrics.csv, step 8: train/loss 9"
contains "and told from a computation" "$out" "proves that the computation"
check "the copy is kept" test -e "$run.repro-1/metrics.csv"
restore
printf '\377' | dd of="$run/checkpoints/last.safetensors" bs=1 conv=notrunc \
    seek=$(($(wc -c <"$run/checkpoints/last.safetensors") / 2)) 2>"$work/.dd"
runs "one altered byte of a parameter" 7 "$M2RUN" reproduce "$run" -q
contains "is found" "$out" "altered: last.safetensors: its own SHA-256"
contains "with the number" "$out" "(1 of "
restore
sed 's/^seed: 0/seed: 7/' whole/config.yaml >"$run/config.yaml"
runs "another seed" 7 "$M2RUN" reproduce "$run"
contains "is found" "$out" "altered: config.yaml: does not fit the run's identity"
contains "by its key" "$out" "seed is 7, the run had 0"
check "before anything is computed" none_left
runs "the same as JSON" 7 "$M2RUN" reproduce "$run" --json
cp "$out" json
equal "is a finding" "$(json json findings 0 kind)" altered
restore
score=$(sed -n '3s/^\([^,]*,\)\{5\}\([^,]*\),.*/\2/p' "$run/metrics.csv")
sed "3s/$score/9.5/" whole/metrics.csv >"$run/metrics.csv"
runs "a score that the trace does not prove" 7 "$M2RUN" reproduce "$run" -q
contains "was altered when others agree" "$out" "this one was altered"
restore
sed '4d' whole/metrics.csv >"$run/metrics.csv"
runs "a row too few" 7 "$M2RUN" reproduce "$run" -q
contains "is found" "$out" "step 12: the row of this step is missing"
restore
head -c 400 whole/metrics.csv >"$run/metrics.csv"
runs "rows that were cut" 7 "$M2RUN" reproduce "$run" -q
contains "end within a line" "$out" "in the middle of line"
restore
head -c 900 whole/checkpoints/best.safetensors \
    >"$run/checkpoints/best.safetensors"
runs "a checkpoint that was cut" 7 "$M2RUN" reproduce "$run" -q
contains "is named" "$out" "altered: best.safetensors: "
restore
sed 's/"test": {/"test": {"test\/loss": 1e999, "x":{/' whole/run.json \
    >"$run/run.json"
runs "hostile JSON" 6 "$M2RUN" reproduce "$run" -q
contains "is none" "$err" "run.json:"
for text in '' '[]' '{}' '{"identity": 7}' '{"state":"done","identity":"x"}' \
    "$(printf '%2000s' '' | tr ' ' '[')"; do
    printf '%s' "$text" >"$run/run.json"
    runs "a run.json that is none: '$(printf '%.12s' "$text")'" 6 \
        "$M2RUN" reproduce "$run" -q
done
restore
echo 'seed: {' >"$run/config.yaml"
runs "a config.yaml that is none" 3 "$M2RUN" reproduce "$run" -q
restore
rm -r "$run/checkpoints"
runs "a copy without checkpoints" 0 "$M2RUN" reproduce "$run" -q
contains "has its rows" "$out" "identical: 5 rows, parameters not compared"
contains "and says what is missing" "$out" "last.safetensors: is not there"
mv "$run" elsewhere
runs "a run that was moved" 0 "$M2RUN" reproduce elsewhere -q
contains "is still one" "$out" "identical: 5 rows"
run=results/tiny/again
restore

# ---- other computations ---------------------------------------------------------
runs "another device" 7 "$M2RUN" reproduce "$run" device=ref
contains "has other bits" "$out" "differs from step 4: train/loss "
contains "after a warning" "$err" "warning: device ref: "
contains "with the reason" "$out" "backend: cpu, now ref"
restore
runs "and numbers within a tolerance" 0 "$M2RUN" reproduce "$run" device=ref \
    --tolerance 1e-3 -q
contains "which it tells" "$out" "within 0.001: 5 rows"
contains "with the largest" "$out" "the largest difference is "
runs "which can be too small" 7 "$M2RUN" reproduce "$run" device=ref \
    --tolerance 1e-12 -q
contains "for the first row" "$out" "differs from step 4: "
restore
for bad in lr=1 'seed=1,2' device=auto nonsense=1 seed=3; do
    runs "a run is repeated as it was: $bad" \
        "$(case $bad in nonsense*) echo 3 ;; *) echo 2 ;; esac)" \
        "$M2RUN" reproduce "$run" "$bad" -q
done
runs "a tolerance is a number" 2 "$M2RUN" reproduce "$run" --tolerance x
runs "and a run must be named" 2 "$M2RUN" reproduce

M2_MOCK=devices=2 train second device="$mock:1"
M2_MOCK=devices=2 runs "another device of the same backend" 0 "$M2RUN" \
    reproduce "$run" device="$mock"
lacks "is nothing to warn of" "$err" "other bits are to be expected"

train mock device="$mock"
runs "a noisy device" 7 env M2_MOCK=noise-op=300 "$M2RUN" reproduce "$run" -q
contains "differs from some step" "$out" "differs from step "
contains "though nothing is known to have changed" "$out" \
    "no recorded fact that can change a bit has changed"
restore
runs "other numerics" 0 env M2_MOCK=numerics=2 "$M2RUN" reproduce "$run"
contains "are told before" "$err" "numerics number"
restore
runs "a device that crashes" 1 env M2_MOCK=crash-op=300 "$M2RUN" reproduce \
    "$run" -q
contains "says nothing of the run" "$err" "the new run ended as failed"
restore

# ---- other ends ---------------------------------------------------------------
M2_MOCK=crash-op=700 train crash device="$mock"
contains "a run that crashed" "$out" "failed "
runs "is compared as far as it came" 0 "$M2RUN" reproduce "$run" -q
contains "which is told" "$out" "the recorded run ended as failed"
contains "and is identical" "$out" "identical: "
restore
train wild lr=100 weight_decay=1 steps=2000
contains "a run that diverged" "$out" "diverged "
runs "diverges again" 0 "$M2RUN" reproduce "$run" -q
contains "after the same step" "$out" "diverged after the same step"
restore
sed 's/"reason": "[^"]*"/"reason": "x"/' whole/run.json >"$run/run.json"
runs "for the same reason" 7 "$M2RUN" reproduce "$run" -q
contains "or not" "$out" "run.json: ended diverged at step"
restore
train early steps=400 patience=1 lr=0.3
runs "a run that stopped early" 0 "$M2RUN" reproduce "$run" -q
contains "does so again" "$out" "stopped early at the same step"
finish
