#!/bin/sh
# A run is not continued by what computes other bits, unless it is told to; then
# it says so for ever.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
mock=$top_builddir/tests/mock/.libs/m2_mock.so

# 400 steps in two halves: stopped where attempt N has some rows
sed -i 's/steps: 60,/steps: 1000, log_every: 7,/; s/every: 10/every: 30/' small.yaml
half() { # RESULTS ATTEMPT OPTION...
    results=$1 number=$2
    shift 2
    "$M2RUN" run small.yaml -q --results "$results" "$@" >half.out 2>half.err \
        </dev/null &
    parent=$!
    check "$results: it is on its way" at_once lines \
        "$results/small/.active"/????????????/"$number/metrics.csv" 9
    kill -TERM "$parent"
    wait "$parent"
    equal "$results: it is stopped" "$?" 75
}
lines() { # as at_once gives it: the pattern may not exist yet
    set -- $1 "$2"
    [ "$(wc -l <"$1")" -ge "$2" ]
}

# ---- a backend of another numerics number
export M2_MOCK=numerics=1
half number 0001 "device=$mock"
runs "a run goes on under its own numerics" 0 "$M2RUN" run small.yaml -q \
    "device=$mock" --results whole
equal "which is not mixed" "$(json "$(published whole/small)/run.json" mixed)" \
    false
export M2_MOCK=numerics=2
# a plan says before what run will do, and of the same reason
runs "plan tells what will be refused" 0 "$M2RUN" plan small.yaml \
    "device=$mock" --results number
contains "and why" "$err" "was computed by 'mock 1, mock device 0', this process computes by 'mock 2, mock device 0'"
contains "and what to do" "$out" "refused: 1 of them"
runs "in a table" 0 "$M2RUN" plan small.yaml "device=$mock" --csv \
    --results number
contains "as an action" "$out" ",stopped,refuse,"
runs "but not with --mixed" 0 "$M2RUN" plan small.yaml "device=$mock" --csv \
    --results number --mixed
contains "which goes on" "$out" ",stopped,continue,"
runs "nor where the numerics are the same" 0 env M2_MOCK=numerics=1 "$M2RUN" \
    plan small.yaml "device=$mock" --csv --results number
contains "which goes on, too" "$out" ",stopped,continue,"
lacks "without a word" "$err" "was computed by"
equal "a plan changes nothing" "$(ls number/small/.active/????????????)" "0001
label"
runs "another numerics number is refused" 6 "$M2RUN" run small.yaml \
    "device=$mock" --results number
contains "both are named" "$err" "was computed by 'mock 1, mock device 0', this process computes by 'mock 2, mock device 0'"
contains "with the way out" "$err" "--mixed"
equal "the unfinished run is as it was" \
    "$(ls number/small/.active/????????????)" "0001
label"
half number 0002 "device=$mock" --mixed
runs "once mixed, it goes on by itself" 0 "$M2RUN" run small.yaml \
    "device=$mock" --results number
run=$(published number/small)
equal "and is recorded as mixed" "$(json "$run/run.json" mixed)" true
for attempt in 0 1 2; do
    [ $attempt = 0 ] && number=1 || number=2
    equal "attempt $attempt says what it was" \
        "$(json "$run/run.json" attempts $attempt numerics)" \
        "mock $number, mock device 0"
done
equal "and what it began from" "$(json "$run/run.json" attempts 2 from_attempt)" 2
contains "which the log tells" "$run/log.txt" "the run is recorded as mixed"
runs "show names the segments" 0 "$M2RUN" show "$run"
contains "of the first backend" "$out" \
    "  steps 1 to $(json "$run/run.json" attempts 1 from_step) by attempt 1: mock 1"
contains "and of the second" "$out" "to 1000 by attempt 3: mock 2"
runs "show of a whole run" 0 "$M2RUN" show "$(published whole/small)"
lacks "has none to name" "$out" "mixed"
unset M2_MOCK

# ---- another variant of the cpu backend, another core of its library
if "$M2RUN" devices | grep -q 'OpenBLAS.*DYNAMIC_ARCH' &&
    M2_CPU_ISA=avx2 "$M2RUN" devices | grep -q '(avx2)'; then
    M2_CPU_ISA=base OPENBLAS_CORETYPE=Haswell
    export M2_CPU_ISA OPENBLAS_CORETYPE
    half cpu 0001 device=cpu
    numerics=$(json "$(attempt 0001 cpu/small)/run.json" numerics)
    case $numerics in
    cpu*' (base, OpenBLAS '*' Haswell)') true ;;
    *) false ;;
    esac
    tap_result $? "the core is part of the numerics: $numerics"
    OPENBLAS_CORETYPE=Prescott
    runs "another core of OpenBLAS is refused" 6 "$M2RUN" run small.yaml \
        device=cpu --results cpu
    M2_CPU_ISA=avx2 OPENBLAS_CORETYPE=Haswell
    runs "another variant is refused" 6 "$M2RUN" run small.yaml device=cpu \
        --results cpu
    contains "with its name" "$err" "(avx2)'"
    M2_CPU_ISA=base
    runs "the same core and variant go on" 0 "$M2RUN" run small.yaml -q \
        device=cpu --results cpu
    equal "and mix nothing" "$(json "$(published cpu/small)/run.json" mixed)" \
        false
else
    skip "variants and cores of the cpu backend" \
        "one variant here, or OpenBLAS with one core"
fi
finish
