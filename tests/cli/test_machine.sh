#!/bin/sh
# m2run devices, selftest, data, schema: what is here, and does it work?
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

# a CUDA module of the build tree has no driver on most machines
"$M2RUN" devices >listed 2>&1
listed=$?
unusable=$(grep -c "cannot be used: " listed)
equal "devices ends with 4 where one cannot be used" "$listed" \
    "$([ "$unusable" = 0 ] && echo 0 || echo 4)"
runs "the reference can" 0 "$M2RUN" devices ref
runs "all of them are listed" "$listed" "$M2RUN" devices
contains "the reference is always there" "$out" "built in"
contains "the directories searched are shown" "$out" "searched: /"
runs "devices as JSON" "$listed" "$M2RUN" devices --json
equal "the first backend is ref" "$(json "$out" backends 0 backend)" ref
equal "which can be used" "$(json "$out" backends 0 error)" null
equal "by this word" "$(json "$out" backends 0 devices 0 device)" ref
mkdir modules
echo "no library" >modules/m2_aaa.so
runs "a module that cannot be used" 4 \
    "$M2RUN" --plugin-dir modules devices --json
contains "is told apart from the list" "$err" "cannot be used: aaa"
equal "its directory is searched first" "$(json "$out" search_path 0)" \
    "$work/modules"
equal "it is listed" "$(json "$out" backends 1 backend)" aaa
contains "with the reason" "$out" "m2_aaa.so"
runs "in words, too" 4 "$M2RUN" --plugin-dir modules devices
contains "why it cannot be used" "$out" "cannot be used: "

echo "no library" >modules/m2_cpu.so
runs "workers search the same directories" 4 \
    "$M2RUN" --plugin-dir modules run tiny.yaml -q
contains "and find the same modules" "$err" "$work/modules/m2_cpu.so"

runs "selftest of one op" 0 "$M2RUN" selftest ref --op silu
equal "the last line counts" \
    "$(tail -n 1 "$out" | sed 's/^[1-9][0-9]* passed/N passed/')" \
    "N passed, 0 failed, 0 not supported"
equal "and is the only one" "$(wc -l <"$out" | tr -d ' ')" 1
runs "every case with -v" 0 "$M2RUN" selftest ref --op silu -v
contains "is printed in f64" "$out" "passed: silu f64"
contains "and in f32" "$out" "passed: silu f32"
runs "golden vectors" 0 \
    "$M2RUN" selftest ref --op op_silu_a --golden "$top_srcdir/tests/golden" -v
contains "are run" "$out" "op_silu_a"
runs "no case is a failure" 1 "$M2RUN" selftest ref --op slu
contains "with a suggestion" "$err" "did you mean 'silu'?"
contains "and the count" "$out" "0 passed, 0 failed, 0 not supported"
runs "golden vectors that are not there" 5 \
    "$M2RUN" selftest ref --op silu --golden nowhere
runs "a backend that is not there" 4 "$M2RUN" selftest nope
contains "is not found" "$err" "not found"
runs "a device that is not there" 4 "$M2RUN" selftest ref:7 --op silu
runs "a module that is no library" 4 "$M2RUN" selftest modules/m2_aaa.so

runs "the data of an experiment" 0 "$M2RUN" data tiny.yaml
contains "its rows" "$out" "400"
contains "its windows" "$out" "windows of 16 rows"
runs "as JSON" 0 "$M2RUN" data tiny.yaml --json
equal "the source" "$(json "$out" source)" synthetic
equal "the rows" "$(json "$out" series 0 rows)" 400
runs "data without a window" 5 "$M2RUN" data tiny.yaml window=1000
contains "are described all the same" "$out" "close"
contains "and the reason is given" "$err" "no window in the train part"

runs "the schema" 0 "$M2RUN" schema
check "is JSON" json "$out"
equal "that knows the sources' options" \
    "$(json "$out" title)" "m2run experiment"
runs "the keys" 0 "$M2RUN" schema --format keys
contains "by their full name" "$out" "train.optimizer.lr"
contains "with options of the sources" "$out" "data.options.kind"
finish
