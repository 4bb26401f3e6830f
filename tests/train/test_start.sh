#!/bin/sh
# A run may start from the parameters of another: a RUN or a file.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"

runs "a first run" 0 "$M2RUN" run small.yaml -q
first=$(published)
best=$first/checkpoints/best.safetensors
mkdir odd
odd="$work/odd/it's, a \"file\" #1: [x].safetensors"
cp "$best" "$odd"

# starts NAME WORD: $run is the folder of a run that starts from there
starts() {
    runs "$1" 0 "$M2RUN" run small.yaml -q "name=$1" "init_from=$2"
    run=$(published "results/$1")
}
starts by-run "${first##*/}"
by_run=$run
equal "its best checkpoint is meant" \
    "$(json "$run/run.json" config model.init_from)" "$(pwd -P)/$best"
starts by-hash "${first##*-}"
starts by-file "$best"
same_run "by the hash or by the file" "$run" "$by_run"
equal "it is the same run" "$(json "$run/run.json" identity)" \
    "$(json "$by_run/run.json" identity)"
starts odd "'$(echo "$odd" | sed "s/'/''/g")'"
same_run "under any name" "$run" "$by_run"

# it is another run than one that starts afresh, and its loss is lower
check "it is not the first run" test "$(json "$run/run.json" identity)" != \
    "$(json "$first/run.json" identity)"
check "it has learned before" awk -F, 'FNR == 2 { loss[++n] = $4 }
    END { exit !(loss[1] < loss[2]) }' "$run/metrics.csv" "$first/metrics.csv"

# another content is another run; the sweep's workers see the same file
cp "$by_run/checkpoints/last.safetensors" other.safetensors
starts other other.safetensors
check "another content is another run" test \
    "$(json "$run/run.json" identity)" != "$(json "$by_run/run.json" identity)"
runs "a sweep from one start" 0 "$M2RUN" run small.yaml -q name=sweep \
    init_from=other.safetensors lr=1e-3,2e-3 -j2

runs "a start that is not there" 2 "$M2RUN" run small.yaml -q \
    init_from=nothing
contains "is named" "$err" "no run 'nothing'"
echo "no parameters" >broken.safetensors
runs "a start that cannot be read" 5 "$M2RUN" run small.yaml -q name=broken \
    init_from=broken.safetensors
contains "is named" "$err" "broken.safetensors"
equal "and leaves nothing" "$(ls -A results/broken/.active)" ""
runs "a start of another shape" 3 "$M2RUN" run small.yaml -q name=shape \
    init_from=other.safetensors d_model=8
contains "is named" "$err" "other.safetensors"
finish
