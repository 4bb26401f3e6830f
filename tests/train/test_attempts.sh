#!/bin/sh
# What happens to attempts: a full disk, a folder that is read-only, a clock
# that goes back, a parent that is killed, a worker that is taken for dead.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
. "$top_srcdir/tests/train/faults.sh"
steps3='s/steps: 60,/steps: 3, schedule: {warmup_steps: 0},/
    s/eval_every: 20/eval_every: 3/; s/every: 10/every: 2/'
sed "$steps3" small.yaml >short.yaml
runs "the whole run" 0 "$M2RUN" run short.yaml -q --results whole
whole=$(published whole/small)
record=$(echo whole/small/sweep-*.yaml)

worker() { # WHAT AT
    faulty "$1" "$2" worker "$M2RUN" worker "$record" 0 --results "$work/there"
}
# the number of the first call CALL on a file that ends in NAME
number_of() { # CALL NAME
    grep -n " $1 .*$2\$" "$calls" | head -n 1 | cut -d: -f1
}

if ! faults_work; then
    skip "faults" "the library with the faults does not load"
    finish
    exit
fi

# ---- a full disk
runs "the calls of a run" 0 worker none 0
first=$(number_of create .last.safetensors.tmp)
second=$(grep -n " create .*.last.safetensors.tmp$" "$calls" | sed -n 2p | cut -d: -f1)
rm -rf there
runs "no room for the last checkpoint when the best is of this step" 0 \
    worker ENOSPC "$second"
check "deletes the last one" grep -q "unlink .*0001/checkpoints/last.safetensors$" "$calls"
same_run "and goes on" "$(published there/small)" "$whole"

# restore FOLDER, and number_in FOLDER CALL NAME: of a worker that goes on there
restore() {
    rm -rf there
    cp -r "$1" there
}
number_in() {
    restore "$1"
    worker none 0 >"$out" 2>"$err"
    number_of "$2" "$3"
    restore "$1"
}
deletes() { # NAME ATTEMPT
    check "$1" grep -q "unlink .*$2/checkpoints/best.safetensors$" "$calls"
}
spares() { # NAME ATTEMPT: until the run is published, by the only rename there
    sed '/rename .*-[0-9a-f]*$/,$d' "$calls" >before-publishing
    lacks "$1" before-publishing "unlink $(pwd)/there/small/.active/$hash/$2/"
}
hash=${whole##*-}
rm -rf there
runs "a worker is killed after its best checkpoint" 137 worker before "$second"
cp -r there one
at=$(number_in one create 0002/checkpoints/.last.safetensors.tmp)
runs "no room for the first of a second worker" 6 worker ENOSPC "$at"
contains "which has only that one" "$out" "No space left on device"
spares "and spares it" 0001
runs "is found later" 0 worker none 0
same_run "with one checkpoint" "$(published there/small)" "$whole"

restore one
runs "a second worker is killed after it has copied one" 137 worker before "$at"
cp -r there two
at=$(number_in two create 0003/checkpoints/.best.safetensors.tmp)
runs "no room for the one that a third copies" 0 worker ENOSPC "$at"
deletes "is made where nobody goes on from" 0001
spares "not where somebody does" 0002
same_run "with three attempts" "$(published there/small)" "$whole"

rm -rf there
runs "a worker is killed after its last checkpoint but one" 137 \
    worker before "$((first + 5))"
cp -r there last
at=$(number_in last create 0002/checkpoints/.last.safetensors.tmp)
runs "no room for the second of the next one" 0 worker ENOSPC "$at"
check "is made by the first worker's" grep -q \
    "unlink .*0001/checkpoints/last.safetensors$" "$calls"
same_run "with two attempts" "$(published there/small)" "$whole"

rm -rf there
full_at=$((second + 1))
runs "a disk that stays full" 6 worker full "$full_at"
contains "is the reason" "$out" "No space left on device"
contains "with what is kept" "$out" "keeps the last checkpoint"
check "the last good checkpoint is there" test -s \
    "$(attempt 0001 there/small)/checkpoints/best.safetensors"
runs "with room the same command ends" 0 "$M2RUN" run short.yaml -q \
    --results there
contains "from that checkpoint" "$(published there/small)/log.txt" \
    "going on from step 3"
same_run "with the same bytes" "$(published there/small)" "$whole"

# ---- a folder that is read-only
rm -rf there
runs "a results folder that is read-only" 6 faulty readonly 1 run \
    "$M2RUN" run short.yaml -q --results "$work/there"
contains "is named" "$err" "$work/there: Read-only file system"
runs "one that becomes so" 6 faulty readonly 60 worker \
    "$M2RUN" run short.yaml -q --results "$work/there"
contains "is, too" "$err" "Read-only file system"
runs "later it goes on" 0 "$M2RUN" run short.yaml -q --results there
same_run "made writable" "$(published there/small)" "$whole"

# ---- a parent that is killed
at=1
rm -rf there complaints
faulty none 0 run "$M2RUN" run short.yaml -q --results "$work/there" \
    >"$out" 2>"$err"
n_calls=$(wc -l <"$calls")
while [ "$at" -le "$n_calls" ]; do
    rm -rf there
    faulty before "$at" run "$M2RUN" run short.yaml -q --results \
        "$work/there" >"$out" 2>"$err" </dev/null
    "$M2RUN" run short.yaml -q --results there >"$out" 2>"$err" </dev/null ||
        echo "$at: $(cat "$err")" >>complaints
    [ "$(ls -A there/small | wc -l)" = 3 ] &&
        [ -z "$(ls -A there/small/.active)" ] ||
        echo "$at: left over: $(find there/small -maxdepth 2)" >>complaints
    at=$((at + 1))
done
check "a parent is killed before each of its $n_calls calls" \
    test ! -s complaints
[ ! -s complaints ] || sed 's/^/# /' complaints

# ---- the wall clock goes back an hour at every look, or a thousand days
rm -rf there
clock=3600
runs "a worker is killed while the clock goes back" 137 worker before "$second"
clock=86400000
runs "a later one goes on, years before" 0 worker none 0
same_run "the clock goes back" "$(published there/small)" "$whole"
rm -rf there
clock=-1000000000
M2RUN_BOOT_ID=far
export M2RUN_BOOT_ID
runs "a worker of another host is killed in the future" 137 \
    worker before "$second"
unset M2RUN_BOOT_ID
clock=3600
runs "it may live, whatever the clock says" 75 faulty none 0 run "$M2RUN" run \
    short.yaml -q --no-wait --results "$work/there"
M2RUN_SILENCE_S=0.3
export M2RUN_SILENCE_S
runs "until it has been silent by the clock that never goes back" 0 \
    faulty none 0 run "$M2RUN" run short.yaml -q --results "$work/there"
same_run "after the future" "$(published there/small)" "$whole"
unset M2RUN_SILENCE_S
clock=0

# ---- taken for dead: a stopped worker is passed by, and leaves quietly
"$M2RUN" run small.yaml -q steps=2000 --results stopped >one.out 2>one.err \
    </dev/null &
parent=$!
check "a run is on its way" at_once sh -c \
    'cat stopped/small/.active/*/0001/metrics.csv | grep -q ^40,'
pid=$(json "$(attempt 0001 stopped/small)/owner.json" pid)
kill -STOP "$pid"
runs "its worker stands still, but lives" 75 "$M2RUN" run small.yaml -q \
    steps=2000 --no-wait --results stopped
runs "--takeover does not ask" 0 "$M2RUN" run small.yaml -q steps=2000 \
    --takeover --results stopped
cp -r "$(published stopped/small)" taken
kill -CONT "$pid"
wait "$parent"
equal "the first invocation ends well" "$?" 0
equal "without a word" "$(grep -v '^1 run: 1 done' one.err)" ""
check "the run is as it was published" diff -r "$(published stopped/small)" taken
equal "and nothing is left" "$(ls -A stopped/small/.active)" ""

# ---- eight at once
for i in 1 2 3 4 5 6 7 8; do
    "$M2RUN" run short.yaml -q -j1 lr=1e-3,2e-3,3e-3 --results eight \
        >"$i.out" 2>"$i.err" </dev/null &
    eval "pid$i=$!"
done
for i in 1 2 3 4 5 6 7 8; do
    eval "wait \$pid$i"
    equal "invocation $i of eight ends well" "$?" 0
done
equal "each run was worked once" \
    "$(cat eight/small/*-????????????/run.json | grep -c '"attempt":')" 3
equal "nobody complains" "$(cat ?.err | grep -v '^3 runs: 3 done')" ""
equal "nothing is left of them" "$(ls -A eight/small/.active)" ""
finish
