#!/bin/sh
# Scores are honest: what is known to be there is found, to within the noise of
# a coefficient from so many windows, and where nothing is, nothing is found.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

cat >honest.yaml <<'END'
name: honest
device: cpu
data:
  source: synthetic
  options: {kind: bars, rows: 60000, ic: 0.1}
  features: [log_return(close)]
  target: [log_return(close)]
  window: 4
  split: {train: 0.6, val: 0.2, test: 0.2}
model: {d_model: 8, n_layer: 1, d_state: 4, headdim: 8, chunk: 4}
train:
  epochs: 3
  batch_size: 256
  optimizer: {lr: 3e-3}
  schedule: {warmup_steps: 20}
END
# within NAME VALUE EXPECTED DISTANCE
within() {
    check "$1: $2, expected $3 +- $4" awk -v v="$2" -v e="$3" -v d="$4" \
        'BEGIN { exit !(v - e <= d && e - v <= d) }'
}
score() { # PART NAME: of $run
    json "$run/run.json" "$1" "$2"
}

# The best forecast has a coefficient of 0.1, and the right sign with
# probability 1/2 + asin(0.1)/pi; 12000 windows tell both to 1/sqrt(12000) and
# half of that.
runs "bars with a coefficient of 0.1" 0 "$M2RUN" run honest.yaml -q
run=$(echo results/honest/*-????????????)
for part in "best val" "test test"; do
    group=${part% *} part=${part#* }
    within "$part: the coefficient is found" "$(score $group $part/ic)" 0.1 0.0274
    within "$part: and the signs" "$(score $group $part/hit_rate)" 0.5319 0.0137
    within "$part: by skill, and no more than there is" \
        "$(score $group $part/skill)" 0.0075 0.0050
    equal "$part: over all windows" "$(score $group $part/hit_n)" 12000.0
done

# 2000 windows without a signal, ten times: three standard errors of a rate of
# one half are 0.0335
runs "bars without a signal, ten seeds" 0 "$M2RUN" run honest.yaml -q ic=0 \
    rows=10000 seeds=10 --results nothing
equal "ten runs" "$(ls -d nothing/honest/*-???????????? | wc -l)" 10
for run in nothing/honest/*-????????????; do
    seed=$(basename "$run")
    within "${seed%-*}: val" "$(score best val/hit_rate)" 0.5 0.0335
    within "${seed%-*}: test" "$(score test test/hit_rate)" 0.5 0.0335
done
finish
