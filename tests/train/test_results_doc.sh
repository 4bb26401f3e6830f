#!/bin/sh
# docs/results.md names everything that a real run leaves.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
doc=$top_srcdir/docs/results.md

# named NAME...: each stands in the page as code
named() {
    for name; do
        contains "$name" "$doc" "\`$name\`"
    done
}

printf 'time,close\n' >bars.csv
i=0
while [ $i -lt 200 ]; do # with a row that is not there
    [ $i -eq 60 ] || printf '2024-01-01T%02d:%02d:00Z,%d.%d\n' \
        $((i / 60)) $((i % 60)) $((100 + i % 7)) $((i % 10)) >>bars.csv
    i=$((i + 1))
done
grep -v 'options' small.yaml | sed 's/source: synthetic/source: csv/
    s/^  window/  path: bars.csv\n  window/' >csv.yaml
runs "a run" 0 env OMP_NUM_THREADS=1 "$M2RUN" run csv.yaml -q
run=$(published)
# keys of run.json but for those of config
json "$run/run.json" config >config.json
keys() {
    tr -d '\n' <"$1" | grep -o '"[^"\\]*" *:' | tr -d '": ' | sort -u
}
keys config.json | grep '\.' >config.keys
named $(keys "$run/run.json" | grep -vxF -f config.keys)

# files and columns
for file in $(cd "$run" && ls -A . checkpoints); do
    case $file in
    .: | checkpoints: | checkpoints) ;;
    *) contains "$file" "$doc" "$file" ;;
    esac
done
named $(head -n 1 "$run/metrics.csv" | tr , ' ') \
    $(head -n 1 "$run/timing.csv" | tr , ' ')

# metadata of a checkpoint
named $(tr ',{' '\n\n' <"$run/checkpoints/last.safetensors" |
    sed -n 's/^"m2run\.\([a-z0-9_]*\)":".*$/\1/p' | sort -u)
check "there are metadata" grep -aq '"m2run.metrics_bytes"' \
    "$run/checkpoints/last.safetensors"

# keys of a sweep's record and of an owner
named $(sed -n 's/^\([a-z]*\):.*/\1/p' results/small/sweep-*.yaml |
    grep -v format)
finish
