#!/bin/sh
# m2run prove: passes where bits hold, names the first difference where they do
# not, and never passes without a kill that hit.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
mock=$top_builddir/tests/mock/.libs/m2_mock.so

# ---- bits that hold
runs "the bits hold" 0 "$M2RUN" prove tiny.yaml --steps 24 --kills 6 --seed 1
contains "every byte agrees" "$out" \
    "all bytes agree: metrics.csv, checkpoints and scores of 2 runs of 24 steps, 4 times; 18 files, "
contains "four passes: the first" "$out" "straight  2 runs, 1 at a time on "
check "the second, with kills" grep -Eq \
    '^killed .* [1-9][0-9]* kills? with work left, [1-9][0-9]* of them midway; [1-9][0-9]* workers? went on from a checkpoint: the same bytes$' \
    "$out"
contains "the third" "$out" "together  2 runs, 2 at a time on 1 thread each"
contains "the fourth" "$out" "threads   2 runs, 2 at a time on 3 threads each"
equal "nothing is left" "$(ls -A)" "$(ls -A | grep -v results)"

runs "as JSON" 0 "$M2RUN" prove tiny.yaml --steps 24 --json --seed 2 --keep
cp "$out" proof.json
for key in agrees:true steps:24 seed:2 files:18 rows:48 difference:null \
    of_runs:2; do
    equal "${key%:*} in JSON" "$(json proof.json "${key%:*}")" "${key#*:}"
done
equal "the kills are counted" "$(json proof.json passes 1 pass)" killed
check "and not none" test "$(json proof.json passes 1 midway)" -gt 0
kept=$(json proof.json folder)
check "--keep keeps" test -d "$kept/killed/tiny"
equal "and no list shows it" "$("$M2RUN" ls --csv 2>/dev/null | wc -l)" 1
run=$(echo "$kept"/killed/tiny/*_s0-???????????? "$kept"/killed/tiny/s0-*)
set -- $run
for run; do [ -d "$run" ] && break; done
check "a killed run has attempts" test \
    "$(json "$run/run.json" attempts 1 attempt)" -ge 2
rm -r results

runs "settings of the user" 0 "$M2RUN" prove tiny.yaml --steps 12 dtype=f64 \
    lr=1e-3,3e-3,1e-2 seeds=3 device=ref --json
cp "$out" proof.json
equal "are taken" "$(json proof.json of_runs)" 9
equal "of many runs four are worked" "$(json proof.json runs 3)" lr-0.01_s2
equal "and compared three times" "$(json proof.json files)" 36

# ---- bits that do not
export M2_MOCK=noise-op=400
runs "a backend with noise" 7 "$M2RUN" prove tiny.yaml --steps 24 --seed 3 \
    "device=$mock"
contains "differs" "$out" "different: metrics.csv of s0, killed against straight"
check "which names step and column" grep -Eq \
    '^metrics.csv: step [0-9]+: (train|val)/[a-z_]+ .* vs ' "$out"
check "and a tensor" grep -Eq '^last.safetensors: .*[a-z_.]+.* vs ' "$out"
runs "in JSON" 7 "$M2RUN" prove tiny.yaml --steps 24 --json "device=$mock"
cp "$out" proof.json
equal "it is no agreement" "$(json proof.json agrees)" false
equal "of this pass" "$(json proof.json difference pass)" killed
equal "in this file" "$(json proof.json difference file)" metrics.csv
equal "nothing is left of it" "$(ls -d results 2>/dev/null)" ""
unset M2_MOCK

# bytes that are altered before they are compared
"$M2RUN" prove tiny.yaml --steps 300 >altered.out 2>altered.err </dev/null &
prover=$!
published_straight() {
    altered=$(echo results/.prove-*/straight/tiny/s1-*/checkpoints)
    [ -f "$altered/last.safetensors" ]
}
check "the first pass has ended" at_once published_straight
published_straight
printf '\177' | dd of="$altered/last.safetensors" bs=1 conv=notrunc \
    seek=$(($(wc -c <"$altered/last.safetensors") - 1)) 2>/dev/null
wait $prover
equal "one altered byte" $? 7
contains "is a difference" altered.out "different: last.safetensors of s1"
contains "at its byte" altered.out " is the first that differs"

# ---- what cannot be proven
runs "steps that leave nothing to kill" 2 "$M2RUN" prove tiny.yaml --steps 3
runs "no kills" 2 "$M2RUN" prove tiny.yaml --kills 0
runs "no file" 2 "$M2RUN" prove
runs "without a checkpoint to go on from" 1 "$M2RUN" prove tiny.yaml \
    checkpoint.every=1000 keep_best=0
contains "nothing is proven" "$err" "nothing is proven of interruptions"
runs "a run that fails" 1 env M2_MOCK=nan-op=400 "$M2RUN" prove tiny.yaml \
    "device=$mock"
contains "has nothing to compare" "$err" "ended as diverged"
sed 's/source: synthetic/source: csv/; s/^  options.*/  path: nowhere.csv/' \
    tiny.yaml >csv.yaml
runs "data that are not there" 5 "$M2RUN" prove csv.yaml
contains "are named" "$err" nowhere.csv

# ---- stopped
"$M2RUN" prove tiny.yaml --steps 100000 >stopped.out 2>stopped.err \
    </dev/null &
prover=$!
check "a proof is on its way" soon sh -c \
    'ls results/.prove-*/straight/tiny/.active/*/0001/metrics.csv'
kill -TERM $prover
wait $prover
equal "it stops on request" $? 75
equal "and leaves nothing" "$(ls -d results 2>/dev/null)" ""

"$M2RUN" prove tiny.yaml --steps 100000 >/dev/null 2>&1 </dev/null &
prover=$!
check "another one" soon sh -c \
    'ls results/.prove-*/straight/tiny/.active/*/0001/metrics.csv'
kill -KILL $prover
wait $prover
left=$(echo results/.prove-*)
check "is killed and leaves its folder" test -d "$left"
runs "the next one" 0 "$M2RUN" prove tiny.yaml --steps 8
contains "removes it" "$err" "$left: removed, for its process was killed"
check "for good" test ! -d "$left"
finish
