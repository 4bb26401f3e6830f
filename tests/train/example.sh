# tests/train/example.sh: what the tests of whole runs share; sourced after
# tap.sh. small.yaml is 60 steps on the reference backend.
. "$top_srcdir/tests/cli/example.sh"

cat >small.yaml <<'END'
name: small
device: ref
data:
  source: synthetic
  options: {kind: bars, rows: 400, ic: 0.25}
  features: [log_return(close)]
  target: [log_return(close)]
  window: 8
  split: {train: 0.6, val: 0.2, test: 0.2}
model: {d_model: 4, n_layer: 1, d_state: 4, headdim: 4, chunk: 8}
train: {steps: 60, batch_size: 16, eval_every: 20}
checkpoint: {every: 10}
END

# the one run of an experiment, published or not
published() { # [RESULTS/NAME]
    echo "${1:-results/small}"/*-????????????
}
attempt() { # NUMBER [RESULTS/NAME]
    echo "${2:-results/small}"/.active/????????????/"$1"
}

# same_run NAME DIR DIR: what a run computed is the same to the bit
same_run() {
    same "$1: metrics.csv" "$2/metrics.csv" "$3/metrics.csv"
    for file in last best; do
        same "$1: $file.safetensors" "$2/checkpoints/$file.safetensors" \
            "$3/checkpoints/$file.safetensors"
    done
    for part in final best test; do
        equal "$1: $part scores" "$(json "$2/run.json" $part)" \
            "$(json "$3/run.json" $part)"
    done
}

# lines FILE N: it has at least N
lines() {
    [ "$(wc -l <"$1")" -ge "$2" ]
}

# at_once COMMAND...: as `soon`, but without missing a moment
at_once() {
    at_once_tries=0
    until "$@" >/dev/null 2>&1; do
        at_once_tries=$((at_once_tries + 1))
        [ "$at_once_tries" -lt 2000 ] || return 1
        sleep 0.01
    done
}
