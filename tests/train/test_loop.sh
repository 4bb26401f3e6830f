#!/bin/sh
# When a run writes rows and checkpoints, when it ends, and what it is scored
# on.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"

# run NAME [KEY=VALUE...]: $run is its folder
run() {
    name=$1
    shift
    runs "$name" 0 "$M2RUN" run small.yaml --results "$name" "$@"
    run=$(published "$name/small")
}
steps_of() { # FILE: the steps of its rows in one line
    tail -n +2 "$1" | cut -d, -f1 | tr '\n' ' '
}
column() { # FILE NAME: "step value" lines
    awk -F, -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $1, $c }' "$1"
}
# digits NUMBER: as run.json has them
digits() {
    awk -v number="$1" 'BEGIN { printf "%.17g", number }'
}
# the step of a checkpoint
saved_at() { # FILE
    tr ',' '\n' <"$1" | sed -n 's/^"m2run.step":"\([0-9]*\)"$/\1/p'
}

# 231 windows in batches of 16: an epoch of 15 steps, the last batch of 7
run epochs ~train.steps epochs=2 ~eval_every ~checkpoint.every
equal "a row at the end of each epoch" "$(steps_of "$run/metrics.csv")" "15 30 "
equal "counted from 1" "$(column "$run/metrics.csv" epoch | tr '\n' ' ')" \
    "15 1 30 2 "
equal "timing has the same rows" "$(steps_of "$run/timing.csv")" "15 30 "
equal "the columns of metrics.csv" "$(head -n 1 "$run/metrics.csv")" \
    "step,epoch,lr,train/loss,train/grad_norm,val/loss,val/mse,val/mae,val/rmse_raw,val/skill,val/hit_rate,val/hit_n,val/ic,val/rank_ic,trace"
equal "those of timing.csv" "$(head -n 1 "$run/timing.csv")" \
    "step,seconds,samples_per_s,peak_bytes"

run steps steps=50 eval_every=20 log_every=8
equal "rows for logs and evaluations, and one at the end" \
    "$(steps_of "$run/metrics.csv")" "8 16 20 24 32 40 48 50 "
equal "evaluated every N steps and at the end" \
    "$(column "$run/metrics.csv" val/loss | grep -c ' .')" 3
equal "steps run across epochs" "$(column "$run/metrics.csv" epoch | tail -n 1)" \
    "50 3"
equal "the last checkpoint is that of the last step" \
    "$(saved_at "$run/checkpoints/last.safetensors")" 50
equal "the record has the steps" "$(json "$run/run.json" step)" 50
equal "of all" "$(json "$run/run.json" steps)" 50

# ---- the best step
best=$(json "$run/run.json" best step)
equal "the best step has the lowest value of the metric" "$best" \
    "$(column "$run/metrics.csv" val/loss | awk '$2 != ""' |
        sort -g -k 2 | head -n 1 | cut -d' ' -f1)"
equal "its checkpoint is kept" \
    "$(saved_at "$run/checkpoints/best.safetensors")" "$best"
for row in "best $best" "final 50"; do
    equal "its row is in the record: ${row% *}" \
        "$(digits "$(json "$run/run.json" "${row% *}" val/mae)")" \
        "$(digits "$(column "$run/metrics.csv" val/mae |
            sed -n "s/^${row#* } //p")")"
done
run ic steps=50 eval_every=10 metric=val/ic
best=$(json "$run/run.json" best step)
equal "a coefficient is best when it is highest" "$best" \
    "$(column "$run/metrics.csv" val/ic | sort -g -r -k 2 | head -n 1 |
        cut -d' ' -f1)"
contains "the best is marked in the log" "$run/log.txt" " (best)"
run train metric=train/loss split.val=0 split.train=0.8
equal "without a validation part" "$(head -n 1 "$run/metrics.csv")" \
    "step,epoch,lr,train/loss,train/grad_norm,trace"
equal "the training loss decides" \
    "$(digits "$(json "$run/run.json" best value)")" \
    "$(digits "$(column "$run/metrics.csv" train/loss | sort -g -k 2 |
        head -n 1 | cut -d' ' -f2)")"

# ---- early stopping: nothing is better by 10, so that patience runs out
run patience steps=1000 eval_every=5 early_stopping.patience=2 min_delta=10
equal "the run ends when patience does" "$(steps_of "$run/metrics.csv")" \
    "5 10 15 "
equal "it is done" "$(json "$run/run.json" state)" done
equal "and says why" "$(json "$run/run.json" early_stopped)" true
equal "with a last checkpoint" \
    "$(saved_at "$run/checkpoints/last.safetensors")" 15
run patient steps=20 eval_every=5 early_stopping.patience=4 min_delta=10
equal "at the last step it is no early stop" \
    "$(json "$run/run.json" early_stopped)" false

# ---- parts and sizes
run no-test split.test=0 split.train=0.8
check "without a test part there is no test score" \
    sh -c "! '$top_builddir/tests/cli/json_check' '$run/run.json' test"
run large batch_size=1000 steps=3 eval_every=1
equal "a batch larger than the data is all of it" \
    "$(column "$run/metrics.csv" epoch | tr '\n' ' ')" "1 1 2 2 3 3 "
run few keep_best=0
check "keep_best: 0 keeps none" test ! -e "$run/checkpoints/best.safetensors"
check "the test part is scored on the last then" test -n \
    "$(json "$run/run.json" test test/mse)"
run mean readout=mean loss=huber huber_delta=0.5
equal "the loss of the validation is that of the training" \
    "$(json "$run/run.json" state)" done
lacks "so it is no mse" "$run/metrics.csv" \
    "$(column "$run/metrics.csv" val/mse | tail -n 1 | tr ' ' ,)"

# ---- the test part: once, on the best checkpoint, as predict sees it
run twice steps=40 eval_every=10
equal "the test part is scored once" "$(grep -c '^test, once' "$run/log.txt")" 1
runs "predictions of the test part" 0 "$M2RUN" predict "$run" --split test
check "give the same mean square error" awk -F, -v mse="$(json "$run/run.json" \
    test test/rmse_raw)" '
    NR == 1 { for (i = 1; i <= NF; i++) { if ($i ~ /pred$/ && !p) p = i
        if ($i ~ /true$/ && !t) t = i }; next }
    $t != "" { sum += ($p - $t) ^ 2; n++ }
    END { e = sqrt(sum / n) / mse - 1; exit !(n == 80 && e * e < 1e-18) }' "$out"
finish
