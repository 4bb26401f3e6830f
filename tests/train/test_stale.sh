#!/bin/sh
# An unfinished run whose data have changed is stale: it is told, with the file,
# and never goes on.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/train/example.sh"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

mkdir data
bars() { # FILE DAY ROWS PRICE
    printf 'time,close\n' >"$1"
    awk -v day="$2" -v n="$3" -v price="$4" 'BEGIN { for (i = 0; i < n; i++)
        printf "2024-01-%02dT%02d:%02d:00Z,%d.%d\n", day, int(i / 60), i % 60,
            price + i % 7, i * i % 10 }' >>"$1"
}
bars data/a.csv 1 400 100
bars data/b.csv 2 200 100
sed -i 's/source: synthetic/source: csv/; s/^  options.*/  options: {series: joined}\n  path: data\/*.csv/
    s/steps: 60,/steps: 2000, log_every: 7,/; s/every: 10/every: 30/' small.yaml

has_rows() { lines "$(attempt 0001)/metrics.csv" 9; }
"$M2RUN" run small.yaml -q >/dev/null 2>&1 </dev/null &
parent=$!
check "a run is on its way" at_once has_rows
kill -TERM "$parent"
wait "$parent"
run=$(attempt 0001)
state() { # NAME STATE
    runs "$1" 0 "$M2RUN" ls small --csv
    contains "$1: it is $2" "$out" ",$2,"
}
state "it is stopped" stopped
touch -d 2001-01-01 data/a.csv
state "another time with the same bytes" stopped
cp -p data/b.csv b.csv

bars data/b.csv 2 200 300
state "changed bytes of the same size" stale
runs "show tells the file" 0 "$M2RUN" show "$run"
contains "that has changed" "$out" "state       stale: data file $work/data/b.csv has changed since"
runs "show as JSON" 0 "$M2RUN" show "$run" --json
contains "says so, too" "$out" '"state": "stale"'
runs "a stale run cannot be stopped" 1 "$M2RUN" stop "$run"
contains "and stop says why" "$err" "it is stale: data file $work/data/b.csv has changed since"
runs "plan lists what would be begun" 0 "$M2RUN" plan small.yaml
contains "as another run" "$out" pending
contains "and tells of the stale one" "$err" "1 unfinished run of small stays stale: data file $work/data/b.csv has changed since"
runs "a filter finds it" 0 "$M2RUN" ls small state=stale
contains "by its state" "$out" stale
cp -p b.csv data/b.csv
state "the old bytes again" stopped

bars data/c.csv 3 100 100
state "a file more" stale
runs "show tells it" 0 "$M2RUN" show "$run"
contains "by name" "$out" "data file $work/data/c.csv has been added since"
rm data/c.csv data/b.csv
state "a file less" stale
runs "show tells that" 0 "$M2RUN" show "$run"
contains "by its name" "$out" "data file $work/data/b.csv has gone since"
mv data elsewhere
state "data that are not there tell nothing" stopped
mv elsewhere data
cp -p b.csv data/b.csv
state "and are there again" stopped

bars data/b.csv 2 210 100
runs "a run on the new data" 0 "$M2RUN" run small.yaml steps=40
equal "is warned once" "$(grep -c 'stay.* stale' "$err")" 1
contains "with what to remove" "$err" "remove $work/$(dirname "$run")"
runs "and publishes another run" 0 "$M2RUN" ls small --csv
contains "as done" "$out" ",done,"
contains "beside the stale one" "$out" ",stale,"
rm -r "$(dirname "$run")"
runs "without it" 0 "$M2RUN" run small.yaml steps=40
lacks "there is no warning" "$err" stale
finish
