#!/bin/sh
# tests/fuzz/run.sh SECONDS [NAME...]: runs the fuzz targets of a build with
# --enable-fuzzing for that long each, from their corpora. A line per target at
# the end; exit 1 when there was a finding, whose input is then in fuzz-NAME-*,
# or a target was interrupted.
set -u
seconds=${1:?usage: run.sh SECONDS [NAME...]}
shift
src=${top_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
build=${top_builddir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/m2fuzz.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ $# -eq 0 ]; then
    for program in "$build"/tests/fuzz/fuzz_*; do
        [ ! -x "$program" ] || set -- "$@" "${program##*/fuzz_}"
    done
fi
[ $# -gt 0 ] || { echo "no targets: configure --enable-fuzzing" >&2; exit 1; }

# prepare NAME: a copy of the corpus that may grow
prepare() {
    mkdir "$work/$1"
    [ ! -d "$src/tests/fuzz/corpus/$1" ] ||
        cp "$src/tests/fuzz/corpus/$1"/* "$work/$1"
    [ "$1" != yaml ] || cp "$src"/tests/cli/broken/*.yaml "$work/$1"
}

status=0
interrupted=72 # what libFuzzer ends with on SIGINT and SIGTERM
for name; do
    prepare "$name"
    set --
    [ ! -f "$src/tests/fuzz/$name.dict" ] ||
        set -- -dict="$src/tests/fuzz/$name.dict"
    "$build/tests/fuzz/fuzz_$name" "$work/$name" "$@" \
        -max_total_time="$seconds" -max_len=8192 -timeout=120 \
        -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="fuzz-$name-" >"$work/$name.log" 2>&1
    code=$?
    found="0 findings"
    if [ $code -ne 0 ]; then
        status=1
        found="1 finding"
        [ $code -ne $interrupted ] || found="interrupted"
        grep -v '^#' "$work/$name.log" >&2
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log")
    echo "$name: ${runs:-0} runs, $found" >>"$work/summary"
done
cat "$work/summary"
exit $status
