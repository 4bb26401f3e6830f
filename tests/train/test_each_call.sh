#!/bin/sh
# A worker is killed at every call that changes a file, from the claim to the
# end of publishing, and each of these calls fails in turn: what it leaves is
# one of the allowed states, and the same command ends with the same bytes.
#
# M2_EACH_CALL=N looks at every Nth call only; 1, in `make check-chaos`, at all.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
. "$top_srcdir/tests/train/faults.sh"
stride=${M2_EACH_CALL:-16}
sed -i 's/steps: 60,/steps: 3, schedule: {warmup_steps: 0},/
    s/eval_every: 20/eval_every: 3/; s/every: 10/every: 2/' small.yaml

if ! faults_work; then
    skip "a fault at every call" "the library with the faults does not load"
    finish
    exit
fi

runs "the whole run" 0 "$M2RUN" run small.yaml -q --results whole
whole=$(published whole/small)
record=$(echo whole/small/sweep-*.yaml)
there=there/small/${whole##*/}

# complaint TEXT: the case is not as it should be
complaint() {
    echo "$case: $1" >>complaints
}
# complete DIR: all that a run computes is there, to the byte
complete() {
    cmp -s "$1/metrics.csv" "$whole/metrics.csv" &&
        cmp -s "$1/checkpoints/last.safetensors" \
            "$whole/checkpoints/last.safetensors" &&
        cmp -s "$1/checkpoints/best.safetensors" \
            "$whole/checkpoints/best.safetensors" &&
        grep -q '"state": "done"' "$1/run.json"
}
# whatever has happened: what has the run's name is the whole run
check_state() {
    if [ -d "$there" ] && ! complete "$there"; then
        complaint "published, but not whole"
    fi
    "$M2RUN" ls --results there >"$out" 2>"$err" </dev/null ||
        complaint "ls: exit code $?"
}
check_second() {
    "$M2RUN" run small.yaml -q --results there >"$out" 2>"$err" </dev/null ||
        complaint "the second: exit code $?: $(cat "$err")"
    complete "$there" || complaint "the second: other bytes"
    [ "$(ls -A there/small | grep -c -e -)" = 2 ] ||
        complaint "left over: $(ls -A there/small)"
    [ -z "$(ls -A there/small/.active)$(find there -name '.*.tmp')" ] ||
        complaint "left over: $(find there -name '.*' ! -name .active)"
    [ ! -e "$there/owner.json" ] || complaint "left over: owner.json"
}

# What the worker says to its parent when it gives up names the reason.
says_why() {
    grep -q "\"event\":\"error\".*$1" .events ||
        complaint "gives up without the reason: $(tail -n 1 .events)"
}
# check_end WHAT CODE: a kill kills; a failure is met, or ends with the reason
check_end() {
    case $1-$2 in
    before-137 | after-137 | torn-137 | [!bat]*-0) ;;
    EIO-6) says_why "Input/output error" ;;
    ENOSPC-6 | full-6) says_why "No space left on device" ;;
    EINTR-6) says_why "Interrupted system call" ;;
    readonly-6) says_why "Read-only file system" ;;
    ENOENT-6) says_why "\(No such file\|has gone, and nobody\)" ;;
    *) complaint "exit code $2" ;;
    esac
}

# each WHAT NAME: in turn at every call of a worker
each() {
    at=1 cases=0
    rm -f complaints
    while [ "$at" -le "$n_calls" ]; do
        rm -rf there
        faulty "$1" "$at" worker "$M2RUN" worker "$record" 0 \
            --results "$work/there" >.events 2>/dev/null </dev/null
        code=$?
        case="$1 $(sed -n "${at}p" "$calls")"
        check_end "$1" "$code"
        check_state
        check_second
        at=$((at + stride)) cases=$((cases + 1))
    done
    check "$2 ($cases of $n_calls calls)" test ! -s complaints
    [ ! -s complaints ] || sed 's/^/# /' complaints
}

faulty none 0 worker "$M2RUN" worker "$record" 0 --results "$work/there" \
    >.events 2>/dev/null </dev/null
n_calls=$(wc -l <"$calls")
check "a run changes files by more than 60 calls" test "$n_calls" -gt 60
each before "killed before a call"
each after "killed after a call"
each torn "killed with half of a call done"
each EIO "a call fails: input or output"
each ENOSPC "a call fails: no room"
each EINTR "a call is interrupted"
each short "a call writes half"
each full "the disk is full from a call on"
each ENOENT "a call finds nothing, as in a folder that has gone"
each readonly "the folder is read-only from a call on"
each sent-twice "a rename is done, and fails"
finish
