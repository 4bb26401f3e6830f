#!/bin/sh
# A run that was stopped or killed, wherever, and continued by the same command
# equals one that was never interrupted, byte for byte.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"

# 1000 steps: long enough to be caught in the middle
sed -i 's/steps: 60,/steps: 1000, log_every: 7,/; s/every: 10/every: 30/' small.yaml
runs "the whole run" 0 "$M2RUN" run small.yaml -q --results whole
whole=$(published whole/small)

# a shell makes what it begins in the background deaf to SIGINT, nohup to SIGHUP
int=INT hearing="env --default-signal=INT,HUP"
if ! $hearing true 2>/dev/null; then
    int=TERM hearing=
fi
# in the background; its process is $parent, its exit code comes by `wait`
begin() { # RESULTS [ATTEMPT]
    M2RUN_RESULTS=$1 $hearing "$M2RUN" run small.yaml >"$1.out" 2>"$1.err" </dev/null &
    parent=$!
    check "$1: it is on its way" at_once has_rows "$1" "${2:-0001}"
}
has_rows() { # RESULTS ATTEMPT
    lines "$(attempt "$2" "$1/small")/metrics.csv" 9
}
ends() { # NAME CODE
    wait "$parent"
    equal "$1" "$?" "$2"
}
worker() { # RESULTS
    json "$(attempt 0001 "$1/small")/owner.json" pid
}
continues() { # RESULTS
    runs "$1: the same command continues" 0 "$M2RUN" run small.yaml \
        --results "$1"
    contains "$1: from a checkpoint" "$err" "going on from step "
    same_run "$1" "$(published "$1/small")" "$whole"
    equal "$1: nothing is left" "$(ls -A "$1/small/.active")" ""
}

# ---- stopped on request
begin int
kill -$int "$parent"
ends "SIGINT: interrupted and resumable" 75
contains "SIGINT: which is said" int.err "; the same command continues"
equal "SIGINT: the state" "$(json "$(attempt 0001 int/small)/run.json" state)" \
    stopped
runs "SIGINT: it is listed" 0 "$M2RUN" ls --results int --csv
contains "SIGINT: as stopped" "$out" ",stopped,"
continues int
equal "SIGINT: two attempts" \
    "$(json "$(published int/small)/run.json" attempts 1 attempt)" 2
equal "SIGINT: the second begins where the first ended" \
    "$(json "$(published int/small)/run.json" attempts 1 from_step)" \
    "$(json "$(published int/small)/run.json" attempts 0 to_step)"

begin term
kill -TERM "$parent"
ends "SIGTERM: interrupted and resumable" 75
begin term 0002
kill -HUP "$parent"
ends "SIGHUP: interrupted and resumable" 75
continues term
equal "three attempts" \
    "$(json "$(published term/small)/run.json" attempts 2 attempt)" 3

# a batch system or timeout(1) asks the whole process group: that is one request
if command -v setsid >/dev/null 2>&1; then
    setsid sh -c "echo \$\$ >group.pid; M2RUN_RESULTS=group exec '$M2RUN' run \
        small.yaml >group.out 2>group.err </dev/null" &
    parent=$!
    check "group: it is on its way" at_once has_rows group 0001
    kill -TERM -- "-$(cat group.pid)"
    ends "a group that is asked to stop" 75
    equal "stops with a checkpoint" \
        "$(json "$(attempt 0001 group/small)/run.json" state)" stopped
else
    skip "a group that is asked to stop" "there is no setsid(1)"
fi

# the second request ends it at once
begin twice
kill -STOP "$(worker twice)" # so that it cannot answer the first
kill -TERM "$parent"
check "the first request is heard" soon grep "stopping: " twice.err
sleep 0.3 # two that come within 0.2 s are one
kill -TERM "$parent"
sleep 0.3
kill -CONT "$(worker twice)"
ends "two requests: interrupted" 75
continues twice

# ---- killed
begin worker
kill -KILL "$(worker worker)"
ends "a worker that is killed is started again" 0
contains "which is said" worker.err \
    "the worker was killed by signal 9 (Killed); starting it again"
same_run "a killed worker" "$(published worker/small)" "$whole"

begin parent
pid=$(worker parent)
kill -KILL "$parent"
ends "a parent that is killed" 137
check "its worker stops" soon sh -c "! kill -0 $pid"
equal "with a checkpoint" "$(json "$(attempt 0001 parent/small)/run.json" state)" \
    stopped
continues parent

# ---- damaged meanwhile
begin damage
kill -TERM "$parent"
ends "stopped once more" 75
last=$(attempt 0001 damage/small)/checkpoints/last.safetensors
size=$(wc -c <"$last")
printf 'X' | dd of="$last" bs=1 seek=$((size - 9)) conv=notrunc 2>/dev/null
continues damage
contains "a damaged checkpoint is passed over" "$err" \
    "last.safetensors: damaged: its SHA-256 is "
contains "for the one before" "$err" "; trying an earlier checkpoint"

begin rows
kill -TERM "$parent"
ends "stopped again" 75
: >"$(attempt 0001 rows/small)/metrics.csv"
runs "without rows there is nothing to go on from" 0 "$M2RUN" run small.yaml \
    --results rows
contains "which is said" "$err" "metrics.csv lacks rows that belong to it"
lacks "it begins anew" "$err" "going on from"
same_run "begun anew" "$(published rows/small)" "$whole"
finish
