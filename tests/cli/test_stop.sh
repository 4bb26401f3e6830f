#!/bin/sh
# m2run stop and show -f on a run that would take hours.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

runs "nothing runs" 1 "$M2RUN" stop
contains "which is said" "$err" "nothing runs here"

is_running() {
    "$M2RUN" ls --csv 'state=running' | grep -q ",running,"
}
begin() { # NAME [VARIABLE=VALUE]
    (
        env ${2:-} "$M2RUN" run tiny.yaml name="$1" epochs=1000000 eval_every=10 -q \
            >"$1.out" 2>"$1.err" </dev/null
        echo $? >"$1.code"
    ) &
    soon is_running
}
ended() { # NAME
    soon test -s "$1.code"
}

begin long
check "a run has begun" is_running
runs "show tells its state" 0 "$M2RUN" show @last
contains "running" "$out" "state       running"
timeout 60 "$M2RUN" show -f @last >followed 2>followed.err </dev/null &
follower=$!
check "its log is followed" soon grep -q "step " followed
runs "stop without a name stops the one that runs" 0 "$M2RUN" stop
contains "and says which" "$out" "long: asked process "
check "the pool ends" ended long
equal "as interrupted and resumable" "$(cat long.code)" 75
wait "$follower"
equal "the follower ends with it" "$?" 0
contains "with the last line" followed "stopped at step"
contains "and the state" followed.err "long/run-"
runs "the run waits to be continued" 0 "$M2RUN" ls --csv
contains "as stopped" "$out" ",stopped,"
check "with a checkpoint" \
    sh -c 'ls results/long/.active/*/*/checkpoints/last.safetensors'
runs "nothing runs any more" 1 "$M2RUN" stop long
contains "of this experiment" "$err" "nothing of long runs here"

begin one
run=$(basename results/one/.active/????????????)
runs "one run alone" 0 "$M2RUN" stop "one/$run"
contains "by its hash" "$out" "one/run-$run: asked process "
check "ends" ended one
equal "and its pool with it" "$(cat one.code)" 75

begin far M2RUN_BOOT_ID=elsewhere
runs "what runs on another host cannot be stopped here" 1 "$M2RUN" stop far
contains "and that is said" "$err" ": stop it there"
check "nor does it end" is_running
runs "it can be stopped there" 0 env M2RUN_BOOT_ID=elsewhere "$M2RUN" stop far
check "and ends" ended far

begin two
begin three
check "two experiments run" soon sh -c "'$M2RUN' ls --csv state=running |
    grep -c ,running, | grep -q 2"
runs "without a name there is doubt" 2 "$M2RUN" stop
contains "between the two" "$err" "2 experiments run: three, two"
runs "--all is all of them" 0 "$M2RUN" stop --all
contains "this one" "$out" "two: asked process"
contains "and that" "$out" "three: asked process"
lacks "no worker is asked twice" "$out" "/run-"
check "both end" ended two
check "the other, too" ended three
finish
