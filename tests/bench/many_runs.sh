#!/bin/sh
# many_runs.sh [BUILD_DIR]: how long `m2run ls` and `m2run best` take on a folder
# of many finished runs; fails when either takes a second or more, warm.
#
# Variables: N (10000), LIMIT in seconds (1), and RUN, a prefix of every
# measured program: as root on a busy machine, "chrt -f 50". The best of three
# counts: what else the machine does only adds to it.
set -eu
source=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$source/../..}" && pwd)
n=${N:-10000} limit=${LIMIT:-1} run=${RUN:-}
M2RUN_PLUGIN_PATH=${M2RUN_PLUGIN_PATH:-$build/.libs}
export M2RUN_PLUGIN_PATH

[ -x "$build/tests/bench/make_runs" ] || {
    echo "many_runs.sh: make tests/bench/make_runs" >&2
    exit 2
}
work=$(mktemp -d "${TMPDIR:-/tmp}/m2run-many-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
"$build/m2run" -q run "$source/../../experiments/quickstart.yaml" >/dev/null
"$build/tests/bench/make_runs" "$(echo results/quickstart/lr-0.003_s0-*)" \
    many "$n"

# seconds COMMAND...: wall clock of the fastest of three
seconds() {
    for round in 1 2 3; do
        from=$(date +%s%N)
        $run "$@" >"out$round" 2>/dev/null
        echo $(($(date +%s%N) - from))
    done | sort -n | awk 'NR == 1 { printf "%.2f\n", $1 / 1e9 }'
}

failed=0
for command in ls best; do
    took=$(seconds "$build/m2run" "$command" --results many)
    echo "$command of $n runs: $took s"
    awk -v took="$took" -v limit="$limit" 'BEGIN { exit !(took < limit) }' ||
        failed=1
done
exit $failed
