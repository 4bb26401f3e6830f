#!/bin/sh
# What is damaged in a results folder: said, passed over, never waited for.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

runs "a run is trained" 0 "$M2RUN" run tiny.yaml -q
run=$(basename results/tiny/*-????????????)
hash=${run##*-}
folder=results/tiny/$run
active=results/tiny/.active/$hash
cp -r "$folder" whole

restore() {
    rm -rf "$folder" "$active"
    cp -r whole "$folder"
}
# pipe FILE: a pipe in the place of the file
pipe() {
    rm "$1" && mkfifo "$1"
}

pipe "$folder/run.json"
runs "ls does not wait for a pipe" 0 timeout 20 "$M2RUN" ls
contains "but lists the run" "$out" damaged
runs "show says what is damaged" 0 timeout 20 "$M2RUN" show "$hash"
contains "by its name" "$out" "run.json: not a regular file"
runs "show --json has nothing to print" 6 timeout 20 "$M2RUN" show "$hash" --json
runs "run does not train in its place" 6 timeout 60 "$M2RUN" run tiny.yaml -q
contains "and says what to do" "$err" "move it away to run again"
restore
pipe "$folder/config.yaml"
runs "show does without config.yaml" 0 timeout 20 "$M2RUN" show "$hash"
contains "by what run.json says" "$out" "model.d_model: 8"
runs "predict does not" 6 timeout 20 "$M2RUN" predict "$hash"
contains "and says why" "$err" "config.yaml: not a regular file"
restore
pipe "$folder/checkpoints/best.safetensors"
runs "predict does not wait for a checkpoint" 6 \
    timeout 20 "$M2RUN" predict "$hash"
contains "and says why" "$err" "best.safetensors: not a regular file"
restore
head -c 100 whole/checkpoints/best.safetensors \
    >"$folder/checkpoints/best.safetensors"
runs "a checkpoint that was cut is an error" 6 "$M2RUN" predict "$hash"
contains "that names the file" "$err" "best.safetensors: "

# again NAME: the run, unpublished and damaged, is trained to the same bytes
again() {
    runs "$1" 0 timeout 60 "$M2RUN" run tiny.yaml -q
    for file in metrics.csv checkpoints/last.safetensors; do
        same "$1: $file" "$folder/$file" "whole/$file"
    done
    restore
    mkdir -p "$active"
    mv "$folder" "$active/0001"
}

restore
mkdir -p "$active"
mv "$folder" "$active/0001"
tr '0-9' 'x' <whole/metrics.csv | tr '\n' ' ' >"$active/0001/metrics.csv"
again "rows that are none are passed over with their checkpoint"
pipe "$active/0001/metrics.csv"
again "a pipe in their place, too"
pipe "$active/0001/timing.csv"
again "times are begun anew"
pipe "$active/0001/checkpoints/last.safetensors"
again "a pipe is no checkpoint"
pipe "$active/0001/owner.json" 2>/dev/null || mkfifo "$active/0001/owner.json"
again "a pipe has no owner"
printf '../../x' >"$active/label"
runs "a label stays in the folder" 6 "$M2RUN" run tiny.yaml -q
contains "or is an error" "$err" "label: damaged"
restore

runs "a folder is not a run because it is there" 2 "$M2RUN" show "$work"
contains "but a word that fits none" "$err" "no run '$work'"
runs "results are in a folder" 6 "$M2RUN" ls --results tiny.yaml
runs "a file is none" 6 "$M2RUN" run tiny.yaml --results tiny.yaml -q
contains "and is named" "$err" "tiny.yaml: not a directory"
mkdir gone
cd gone
rmdir ../gone
runs "a folder that was removed has no results" 6 "$M2RUN" run ../tiny.yaml -q
contains "and says so" "$err" "results: No such file or directory"
cd "$work" || exit 1
mkfifo pipe
for data in /dev/zero pipe; do
    runs "a run is known by what its data holds: $data" 5 timeout 20 "$M2RUN"         run tiny.yaml data.source=csv "data.path=$data" '~data.options'
    contains "which must be a file" "$err" "not a regular file"
done

latin=$(printf 'caf\351')
mkdir "$latin"
cp tiny.yaml "$latin"
cd "$latin" || exit 1
runs "a folder whose name is no UTF-8 is one to train in" 0 \
    "$M2RUN" run tiny.yaml -q
runs "and to list" 0 "$M2RUN" ls --json
contains "as JSON, which is UTF-8" "$out" "$(printf 'caf\357\277\275')"
runs "but no data is in it" 3 "$M2RUN" run tiny.yaml data.source=csv \
    data.path=bars.csv '~data.options'
contains "since it is recorded by its name" "$err" "must have a name in UTF-8"
runs "nor a run to begin from" 3 "$M2RUN" run tiny.yaml name=next \
    init_from=@last
contains "for the same reason" "$err" "must have a name in UTF-8"
cd "$work" || exit 1
finish
