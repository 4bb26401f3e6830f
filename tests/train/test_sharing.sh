#!/bin/sh
# Several invocations of one experiment: each run is worked once, by whoever
# claims it first; what is published is skipped.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"

# attempts that the published runs took, in all
attempts() { # RESULTS
    cat "$1"/small/*-????????????/run.json | grep -c '"attempt":'
}
count() { # RESULTS
    ls -d "$1"/small/*-???????????? | wc -l
}

# ---- one after another
runs "a sweep" 0 "$M2RUN" run small.yaml -q lr=1e-3,3e-3 --results one
stamp=$(ls -l --time-style=full-iso one/small/*/run.json)
runs "the same again" 0 "$M2RUN" run small.yaml lr=1e-3,3e-3 --results one
contains "is done already" "$err" "2 runs: 2 done (2 published before)"
equal "nothing is written again" \
    "$(ls -l --time-style=full-iso one/small/*/run.json)" "$stamp"
equal "the record of the sweep is the same" \
    "$(ls one/small/sweep-*.yaml | wc -l)" 1
runs "a larger sweep" 0 "$M2RUN" run small.yaml lr=1e-3,3e-3,9e-3 --results one
contains "adds what is new" "$err" "3 runs: 3 done (2 published before)"
equal "threads, checkpoints and the name of the device's index make no new run" \
    "$("$M2RUN" run small.yaml lr=1e-3 threads=2 checkpoint.every=7 \
        --results one 2>&1 | grep -c '1 done (1 published before)')" 1

# the frozen configuration of a run is that run
config=$(ls -d one/small/lr-0.003*)/config.yaml
runs "config.yaml repeats its run" 0 "$M2RUN" run "$config" -q --results two
same_run "the frozen configuration" "$(published two/small)" "${config%/*}"
equal "under the same identity" \
    "$(json "$(published two/small)/run.json" identity)" \
    "$(json "${config%/*}/run.json" identity)"

# ---- at once: three processes, six runs
for i in 1 2 3; do
    "$M2RUN" run small.yaml -q -j2 lr=1e-3,3e-3,9e-3 seeds=2 --results at-once \
        >"$i.out" 2>"$i.err" </dev/null &
    eval "pid$i=$!"
done
for i in 1 2 3; do
    eval "wait \$pid$i"
    equal "invocation $i ends well" "$?" 0
    equal "invocation $i knows all runs" "$(grep -c '^done ' $i.out)" 6
    equal "invocation $i has nothing to complain of" \
        "$(grep -v '^6 runs: ' $i.err)" ""
done
equal "six runs" "$(count at-once)" 6
equal "each was worked once" "$(attempts at-once)" 6
equal "nothing is left" "$(ls -A at-once/small/.active)" ""

# ---- more jobs than a pool has places, more runs than jobs
runs "-j1000" 0 "$M2RUN" run small.yaml -q -j1000 steps=1 warmup_steps=0 \
    seeds=70 --results many
equal "works all runs" "$(count many)" 70

# ---- held by somebody else
"$M2RUN" run small.yaml -q steps=1000000 --results held >/dev/null 2>&1 \
    </dev/null &
holder=$!
check "somebody works on a run" soon sh -c \
    'cat held/small/.active/*/0001/metrics.csv | grep -q ^40,'
runs "--no-wait leaves it" 75 "$M2RUN" run small.yaml steps=1000000 --no-wait \
    --results held
contains "and says so" "$err" "1 worked on elsewhere"
equal "without an attempt of its own" "$(ls held/small/.active/*/ | grep -c 000)" 1
kill -KILL "$(json "$(attempt 0001 held/small)/owner.json" pid)" "$holder"
wait "$holder"

# ---- of another host: silent for a while is dead
runs "the uninterrupted run" 0 "$M2RUN" run small.yaml -q steps=600 \
    --results whole
M2RUN_BOOT_ID=far "$M2RUN" run small.yaml -q steps=600 --results far \
    >/dev/null 2>&1 </dev/null &
holder=$!
check "a run on another host" soon sh -c \
    'cat far/small/.active/*/0001/metrics.csv | grep -q ^40,'
kill -KILL "$holder" "$(json "$(attempt 0001 far/small)/owner.json" pid)"
wait "$holder"
runs "its host may still be alive" 75 "$M2RUN" run small.yaml -q steps=600 \
    --no-wait --results far
equal "so nothing is taken" "$(ls far/small/.active/*/ | grep -c 000)" 1
runs "after a while it is taken over" 0 env M2RUN_SILENCE_S=0.5 "$M2RUN" run \
    small.yaml steps=600 --results far
contains "from its checkpoint" "$err" "going on from step "
same_run "taken over" "$(published far/small)" "$(published whole/small)"
finish
