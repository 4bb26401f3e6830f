#!/bin/sh
# Devices that are chosen, shared, too small, lost, or not there.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
mock=$top_builddir/tests/mock/.libs/m2_mock.so
mkdir plugins && ln -s "$mock" plugins/m2_mock.so
export M2RUN_PLUGIN_PATH="$work/plugins:${M2RUN_PLUGIN_PATH-}"
run() { # SETTINGS NAME CODE WORD...
    run_settings=$1 run_name=$2 run_code=$3
    shift 3
    runs "$run_name" "$run_code" env M2_MOCK="$run_settings" "$M2RUN" run \
        small.yaml steps=12 eval_every=6 "$@"
}

# a training step can be recorded: nothing is read, nothing allocated in it
for words in microbatch=16 microbatch=8 "microbatch=4 spectral_radius.mode=discrete \
spectral_radius.rho=0.9"; do
    run strict "strict: $words" 0 -q "name=strict" device=mock $words
    run "" "ref: $words" 0 -q name=plain device=ref $words
    for file in last best; do # beside a checkpoint's head, the numbers
        check "the same numbers: $words ($file)" \
            sh -c 'cut -d, -f1-6 "$1"/metrics.csv >a; cut -d, -f1-6 \
                "$2"/metrics.csv >b; cmp a b' - "$(published results/strict)" \
            "$(published results/plain)"
    done
    rm -rf results
done

# the list
runs "two devices" 0 env M2_MOCK=devices=2,mem=1000000 "$M2RUN" devices --json \
    mock
equal "by their words" "$(json "$out" backends 0 devices 1 device)" mock:1
equal "and numbers" "$(json "$out" backends 0 devices 1 index)" 1
equal "with their memory" \
    "$(json "$out" backends 0 devices 1 memory_free_bytes)" 1000000
runs "in words" 0 env M2_MOCK=devices=2,mem=1000000 "$M2RUN" devices mock
contains "the first has its number" "$out" "mock:0"
contains "and memory" "$out" "free"
runs "none" 4 env M2_MOCK=devices=0 "$M2RUN" devices --json
runs "one that cannot be used, by name" 4 env M2_MOCK=devices=0 "$M2RUN" \
    devices mock
contains "in the backend's own words" "$out" "mock: no device, as ordered"
runs "one of two" 0 env M2_MOCK=devices=2 "$M2RUN" devices mock:1
runs "one beyond the last" 4 env M2_MOCK=devices=2 "$M2RUN" devices mock:7
contains "is told so" "$out" "mock: device 7 does not exist"
odd=$(printf 'odd-\344')
mkdir "$odd" && ln -s "$mock" "$odd/m2_odd.so"
runs "a path that is not UTF-8" 4 "$M2RUN" --plugin-dir "$odd" devices --json
contains "does not hide its backend" "$out" '"odd"'

# auto
runs "auto" 0 "$M2RUN" run small.yaml -v steps=12 name=auto device=auto
contains "is told" "$err" "device auto: "
run_json=$(published results/auto)/run.json
check "and recorded" test "$(json "$run_json" backend chosen)" = \
    "$(sed -n 's/.*\(device auto: .*\)/\1/p' "$err" | head -n 1)"
lacks "not as a setting" "$run_json" '"device": "auto"'

# what cannot be opened is told once
once() { # NAME TEXT
    equal "$1" "$(grep -cF -e "$2" "$err")" 1
}
run devices=0 "no device" 4 device=mock name=none
once "the reason is told once" "no device, as ordered"
run devices=0 "a sweep without a device" 4 device=mock name=none lr=1e-3,2e-3,3e-3
once "the reason is told once for all" "no device, as ordered"
contains "the runs are counted" "$err" "3 could not run"
equal "and nothing is left" "$(ls -A results/none/.active)" ""
run devices=2 "a number beyond the last" 4 device=mock:7 name=none lr=1e-3,2e-3 -j2
once "is told once" "mock: device 7 does not exist"
run devices=0 "the others still run" 4 -j1 name=two device=mock,ref
contains "one of them" "$err" "1 done, 1 could not run"

# one job per device, each with its own
devices_of() {
    for dir in results/"$1"/*-????????????; do
        json "$dir/run.json" backend device
    done | sort | uniq -c | tr -s ' \n' ' '
}
run devices=2,slow=2000 "two devices" 0 device=mock name=both lr=1e-3,2e-3,3e-3,4e-3
case $(nproc) in
1) ;;
*)
    contains "two jobs" "$err" "2 at a time"
    check "both are used" test "$(devices_of both | wc -w)" -ge 4
    ;;
esac
equal "the setting stays without a number" \
    "$(json "$(set -- results/both/*-????????????; echo "$1")/run.json" config device)" mock
run devices=1 "one device" 0 device=mock name=one lr=1e-3,2e-3
contains "one job" "$err" "1 at a time"
run devices=4 "a device with a number" 0 device=mock:3 name=pin lr=1e-3,2e-3 -j2
contains "is shared with a word" "$err" "which runs share"
equal "and the only one" "$(devices_of pin)" " 2 mock:3 "

runs "the plan of one device" 0 env M2_MOCK=devices=1,mem=100000000 "$M2RUN" \
    plan small.yaml device=mock name=plan lr=1e-3,2e-3 --json
equal "has one job" "$(json "$out" jobs)" 1
runs "the plan of a device that is small" 3 env M2_MOCK=devices=2,mem=20000 \
    "$M2RUN" plan small.yaml device=mock name=plan lr=1e-3,2e-3
contains "tells so" "$err" "the device has 19.5 KiB"

# too small, before the first step
run mem=20000 "too little memory" 1 device=mock name=small
contains "with the plan's number" "$err" "on mock (plan), 19.5 KiB are free"
equal "is the state oom" "$(json "$(published results/small)/run.json" state)" oom
run mem=2000000000,fail-alloc=5 "an allocation that fails" 1 device=mock name=alloc
contains "with the plan's number" "$err" "on mock (plan), 1.9 GiB were free when it began; mock: out"
equal "is the state oom" "$(json "$(published results/alloc)/run.json" state)" oom

# lost on the way
run lost-op=300 "a lost device" 1 device=mock name=lost
contains "in the backend's own words" "$err" "the device is lost"
equal "is the state failed" "$(json "$(published results/lost)/run.json" state)" failed

# TF32
run "" "tf32 is recorded" 0 -q device=mock name=tf32 tf32=true
equal "among the facts" \
    "$(json "$(published results/tf32)/run.json" backend tf32)" true
run "" "with f64" 3 device=mock tf32=true dtype=f64
contains "is a mistake" "$err" "'tf32' cannot be true with 'dtype' f64"
runs "on the processor" 0 "$M2RUN" check small.yaml device=cpu tf32=true
contains "it has no effect" "$err" "'tf32' has no effect"
finish
