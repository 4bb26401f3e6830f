#!/bin/sh
# A sweep that has begun is what its file said then: the file may change, or go.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"

cat >base.yaml <<'END'
train: {steps: 400, batch_size: 16, eval_every: 200}
END
sed -e '/^train:/d' small.yaml >sweep.yaml
echo 'include: [base.yaml]' >>sweep.yaml
echo 'sweep: {grid: {train.optimizer.lr: [1e-3, 2e-3, 3e-3]}}' >>sweep.yaml

"$M2RUN" run sweep.yaml -q -j1 --results frozen >frozen.out 2>frozen.err &
pid=$!
check "the first run has begun" at_once sh -c \
    'ls frozen/small/.active/*/0001/metrics.csv'
sed -i 's/lr: .*\]}/lr: [5e-2]}/; s/window: 8/window: 12/' sweep.yaml
rm base.yaml
wait "$pid"
equal "the sweep ends well" $? 0
equal "with its three runs" "$(ls -d frozen/small/*-???????????? | wc -l)" 3
for run in frozen/small/*-????????????; do
    contains "window of the file that was: ${run##*/}" "$run/config.yaml" \
        "window: 8"
    contains "steps of the include that was: ${run##*/}" "$run/config.yaml" \
        "steps: 400"
done
for rate in 0.001 0.002 0.003; do
    check "the rate of the file that was: $rate" \
        ls -d frozen/small/lr-"$rate"*
done
contains "the sources as they were are in the record" \
    "$(echo frozen/small/sweep-*.yaml)" "include: [base.yaml]"
finish
