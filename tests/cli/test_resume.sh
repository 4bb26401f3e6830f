#!/bin/sh
# A run whose worker died goes on from its checkpoint, with the same bytes.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

runs "a run is trained" 0 "$M2RUN" run tiny.yaml -q
run=$(basename results/tiny/*-????????????)
hash=${run##*-}
active=results/tiny/.active/$hash
cp -r "results/tiny/$run" whole

# the published folder becomes attempt number $1 of an unfinished run
unpublish() {
    mkdir -p "$active"
    mv "results/tiny/$run" "$active/$1"
}

# again NAME: the run is continued, and ends as the first time
again() {
    runs "$1" 0 "$M2RUN" run tiny.yaml -q
    for file in metrics.csv checkpoints/last.safetensors \
        checkpoints/best.safetensors; do
        same "$1: $file" "results/tiny/$run/$file" "whole/$file"
    done
    check "$1: nothing is left" test ! -e "$active"
}

unpublish 0001
again "a worker that died before publishing"
unpublish 0001
rm "$active/0001/checkpoints/last.safetensors"
again "a worker that died between its best and its last checkpoint"
unpublish 0001
mkdir "$active/0002"
again "a worker that died at once, after another that had begun"
equal "the first attempt is remembered" \
    "$(json "results/tiny/$run/run.json" attempts 0 attempt)" 1
equal "and its beginning" "$(json "results/tiny/$run/run.json" started)" \
    "$(json whole/run.json started)"
finish
