#!/bin/sh
# The bits of a run depend on its configuration alone: not on threads, jobs or
# the other runs; microbatches sum up to the batch.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"

# a model that the cpu backend splits among threads
cat >wide.yaml <<'END'
name: wide
device: cpu
data:
  source: synthetic
  options: {kind: bars, rows: 600, ic: 0.25}
  features: [log_return(close), log_ratio(high,low)]
  target: [log_return(close)]
  window: 24
  split: {train: 0.6, val: 0.2, test: 0.2}
model: {d_model: 48, n_layer: 2, d_state: 16, headdim: 16, chunk: 8}
train: {steps: 12, batch_size: 32, microbatch: 8, eval_every: 5}
END
for threads in 1 2 3; do
    runs "$threads threads" 0 "$M2RUN" run wide.yaml -q --results "t$threads" \
        "threads=$threads"
    equal "$threads threads are recorded" \
        "$(json "$(published "t$threads/wide")/run.json" host threads)" \
        "$threads"
done
for threads in 2 3; do
    same_run "$threads threads as one" "$(published "t$threads/wide")" \
        "$(published t1/wide)"
done

# the same eight runs one after another, two and eight at a time
for jobs in 1 2 8; do
    runs "-j$jobs" 0 "$M2RUN" run small.yaml -q -j "$jobs" --results "j$jobs" \
        lr=1e-3,3e-3 seeds=4
    equal "-j$jobs: eight runs" \
        "$(ls -d "j$jobs"/small/*-???????????? | wc -l)" 8
done
for run in $(cd j1/small && echo *-????????????); do
    for jobs in 2 8; do
        same_run "-j$jobs as -j1: ${run%-*}" "j1/small/$run" \
            "j$jobs/small/$run"
    done
done

# microbatches are another identity, the same numbers up to rounding, and the
# same bits when run again
for results in m1 m2; do
    runs "microbatches of 4 ($results)" 0 "$M2RUN" run small.yaml -q \
        --results $results microbatch=4
done
same_run "microbatches of 4" "$(published m1/small)" "$(published m2/small)"
runs "whole batches" 0 "$M2RUN" run small.yaml -q --results m3
check "microbatches change nothing but the rounding" awk -F, '
    FNR == 1 { file++; next }
    file == 1 { loss[FNR] = $4; next }
    (loss[FNR] - $4) ^ 2 > (1e-5 * $4) ^ 2 { exit bad = 1 }
    END { exit bad || FNR != 4 }' \
    "$(published m3/small)/metrics.csv" "$(published m1/small)/metrics.csv"
finish
