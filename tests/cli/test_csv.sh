#!/bin/sh
# The program on CSV files: what is refused, with which words and exit code,
# and the options that accept it.
. "$top_srcdir/tests/tap.sh"

{
    echo "timestamp;open;high;low;close"
    i=0
    while [ $i -lt 120 ]; do
        printf '2014-05-01 %02d:%02d;1.3%02d;1.4;1.2;1.3%02d\n' \
            $((i / 60)) $((i % 60)) $((i % 97)) $((i % 89))
        i=$((i + 1))
    done
} >bars.csv

cat >exp.yaml <<'END'
name: csv
device: ref
data:
  source: csv
  path: bars.csv
  features: [log_return(close), time_of_day]
  target: [log_return(close)]
  window: 10
  split: {train: 0.6, val: 0.2, test: 0.2}
model: {d_model: 16, n_layer: 1, d_state: 8, headdim: 8}
train: {steps: 1, batch_size: 8}
END

runs "a plain file is read" 0 "$M2RUN" data exp.yaml
contains "its rows are counted" "$out" "120 rows read"
contains "what was found is told" "$out" "120 rows divided at ';'"
contains "so is the zone that was taken" "$out" \
    "120 times without an offset read as UTC"
contains "a column that never changes is a warning" "$out" \
    "! 2 columns that hold one value only"

sed '5s/;[^;]*$/;NA/' bars.csv >missing.csv
runs "missing values are refused" 5 "$M2RUN" data exp.yaml \
    data.path=missing.csv
contains "with their number" "$err" "1 missing values in 1 rows"
contains "and the line of the first" "$err" "missing.csv:5:"
contains "and the option that accepts them" "$err" "data.missing: drop"
runs "which does" 0 "$M2RUN" data exp.yaml data.path=missing.csv \
    data.missing=drop
contains "and counts the rows" "$out" "1 rows with a missing value left out"

sed 's/\./,/g' bars.csv >comma.csv
runs "a decimal comma is refused" 5 "$M2RUN" data exp.yaml data.path=comma.csv
contains "with the place and the option" "$err" \
    "comma.csv:2:18: column 'open': '1,300' is not a number; \`decimal: \",\"\`"
runs "which reads it" 0 "$M2RUN" data exp.yaml data.path=comma.csv \
    'data.options.decimal=","'

head -2 bars.csv >one.csv
runs "one row is too short for any window" 5 "$M2RUN" data exp.yaml \
    data.path=one.csv
contains "which is told with both numbers" "$err" "need 11 rows without a gap"

runs "a wrong option is an error of the configuration" 3 "$M2RUN" data \
    exp.yaml data.options.timezone=Mars/Olympus
contains "with its key" "$err" "data.options.timezone: there is no zone"

finish
