#!/bin/sh
# m2run compare-backends: the same steps on two backends.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"
quickstart=$top_srcdir/experiments/quickstart.yaml
mock=$top_builddir/tests/mock/.libs/m2_mock.so

compare() { # FILE A B [OPTION|KEY=VALUE]...
    "$M2RUN" compare-backends "$@"
}

for dtype in f32 f64; do
    runs "cpu against ref in $dtype" 0 compare "$quickstart" cpu ref \
        dtype=$dtype
    contains "$dtype: every call is counted" "$out" \
        "all 150 calls are within their limits"
    contains "$dtype: each op has a line" "$out" "ssd_backward"
    runs "free runs in $dtype" 0 compare "$quickstart" cpu ref \
        dtype=$dtype --free-run
    contains "$dtype: the first different bit is told" "$out" \
        "the bits part at step"
    contains "$dtype: twenty steps" "$out" "20 steps on cpu and ref"
done

runs "as JSON" 0 compare "$quickstart" cpu ref --json --steps 2
equal "they agree" "$(json "$out" agree)" true
equal "two steps" "$(json "$out" steps)" 2
equal "the first op" "$(json "$out" ops 0 op)" add
equal "nothing is over" "$(json "$out" first_over)" null
equal "the second device" "$(json "$out" devices 1 device)" ref
runs "free runs as JSON" 0 compare "$quickstart" cpu ref --free-run --json
equal "of twenty steps" "$(json "$out" steps 19 step)" 20
equal "with a limit" "$(json "$out" limit)" 0.001

runs "the same backend twice" 0 compare tiny.yaml ref ref
contains "must agree in every bit" "$out" "no difference is allowed"
runs "so must its free runs" 0 compare tiny.yaml ref ref --free-run --steps 3
contains "and they do" "$out" "every bit of 3 losses"
runs "no more steps than a run has" 0 compare tiny.yaml ref ref \
    train.steps=2
contains "are made" "$out" "2 steps of"

M2_MOCK=nan-op=3 runs "an op that is wrong" 7 compare tiny.yaml ref "$mock"
contains "is counted" "$out" "1 of "
contains "named with step and tensor" "$out" \
    "first over its limit: call 3, step 1: linear, y (layers.0.input), row 0,"
equal "nothing else is said" "$(cat "$err")" ""
M2_MOCK=nan-op=3 runs "as JSON" 7 compare tiny.yaml ref "$mock" --json
equal "by its op" "$(json "$out" first_over op)" linear
equal "its call" "$(json "$out" first_over call)" 3
equal "an infinite error is null" "$(json "$out" first_over error)" null
# Noise in a prediction is in the loss; three ops come before the first step.
M2_MOCK=nan-op=13 runs "the op that predicts" 7 compare tiny.yaml ref "$mock"
contains "is the 13th of a step" "$out" "call 13, step 1: linear, y (output)"
M2_MOCK=noise-op=16 runs "free runs that part in f64" 7 \
    compare tiny.yaml ref "$mock" --free-run dtype=f64
contains "do so from a step on" "$out" "over the limit from step 1"
M2_MOCK=nan-op=6 runs "a side that diverges" 1 \
    compare tiny.yaml ref "$mock" --free-run
contains "is named" "$err" "mock: step 1: "
M2_MOCK=lost-op=30 runs "a side that is lost" 4 \
    compare tiny.yaml ref "$mock" --free-run
lacks "is named once" "$err" "mock: mock: "

M2_MOCK=nan-op=6 runs "a training that diverges" 1 \
    compare tiny.yaml "$mock" ref
contains "ends there" "$err" "is not finite"
contains "after the step it made" "$out" "1 step of 64 windows"
contains "and is compared until then" "$out" \
    "first over its limit: call 3, step 1: linear, y (layers.0.input), row 0,"

runs "a backend that is not there" 4 compare tiny.yaml ref nope
contains "is not found" "$err" "not found"
runs "nor is the first" 4 compare tiny.yaml nope ref
M2_MOCK=refuse=7 runs "a backend that refuses an op" 4 \
    compare tiny.yaml ref "$mock"
contains "says why" "$err" "op 7 is refused"
runs "an experiment that is not there" 3 compare nope.yaml ref ref
finish
