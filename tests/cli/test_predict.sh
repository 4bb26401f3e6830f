#!/bin/sh
# What a trained run predicts: nothing from the future, the same row by row,
# and exactly what it was scored on.
. "$top_srcdir/tests/tap.sh"
export M2RUN_RESULTS="$work/results" XDG_CACHE_HOME="$work/cache"

# bars: 600 minutes of a random walk, always the same one
bars() {
    awk 'function u() { s = s * 16807 % 2147483647; return s / 2147483647 }
    BEGIN {
        s = 42; close_ = 100
        print "time,open,high,low,close,volume"
        for (i = 0; i < 600; i++) {
            open_ = close_
            r = 0.001 * (u() + u() + u() - 1.5) - 0.3 * before
            before = r
            close_ *= exp(r)
            high = (close_ > open_ ? close_ : open_) * (1 + 0.0005 * u())
            low = (close_ < open_ ? close_ : open_) * (1 - 0.0005 * u())
            printf "2024-01-02T%02d:%02d:00Z,%.5f,%.5f,%.5f,%.5f,%d\n",
                i / 60, i % 60, open_, high, low, close_, 1 + 1000 * u()
        }
    }'
}

# score FILE SPREAD: what run.json should say, from the predictions alone
score() {
    awk -F, -v spread="$2" '
    NR > 1 && $7 != "" {
        p[++n] = $6 + 0; t[n] = $7 + 0
        e = (p[n] - t[n]) / spread
        se += e * e; ae += e < 0 ? -e : e
        if (t[n] != 0) { signed_++; hits += p[n] * t[n] > 0 }
    }
    function pearson(a, b,   i, ma, mb, va, vb, c) {
        for (i = 1; i <= n; i++) { ma += a[i] / n; mb += b[i] / n }
        for (i = 1; i <= n; i++) {
            va += (a[i] - ma) ^ 2; vb += (b[i] - mb) ^ 2
            c += (a[i] - ma) * (b[i] - mb)
        }
        return c / sqrt(va * vb)
    }
    function ranks(a, r,   i, j) {
        for (i = 1; i <= n; i++) {
            r[i] = 0.5
            for (j = 1; j <= n; j++)
                r[i] += (a[j] < a[i]) + 0.5 * (a[j] == a[i])
        }
    }
    END {
        ranks(p, rp); ranks(t, rt)
        printf "mse %.15g\nmae %.15g\nrmse_raw %.15g\nhit_rate %.15g\n",
            se / n, ae / n, sqrt(se / n) * spread, hits / signed_
        printf "hit_n %d\nic %.15g\nrank_ic %.15g\n", signed_,
            pearson(p, t), pearson(rp, rt)
    }' "$1"
}

# recorded BLOCK PREFIX: the same names and values from run.json
recorded() {
    awk -v block="\"$1\":" -v prefix="\"$2/" '
    index($0, block) { inside = 1 }
    inside && index($0, prefix) {
        gsub(/[",]/, ""); sub(/^ */, ""); sub(/^[a-z]*\//, ""); sub(/:/, "")
        print
        printed = 1
    }
    printed && /}/ { exit }' "$run/run.json"
}

# agree NAME COMPUTED RECORDED: every computed value is the recorded one
agree() {
    awk 'NR == FNR { value[$1] = $2; next }
    {
        found++
        d = value[$1] - $2; if (d < 0) d = -d
        size = $2 < 0 ? -$2 : $2
        if (!($1 in value) || d > 1e-9 * size + 1e-12) {
            print $1, "is", value[$1], "expected", $2; bad = 1
        }
    }
    END { exit bad || found != 7 }' "$3" "$2" >"$work/.agree"
    tap_result $? "$1" "$work/.agree" "$2" "$3"
}

bars >bars.csv
cat >exp.yaml <<'END'
name: walk
data:
  source: csv
  path: bars.csv
  features: [log_return(close), log_ratio(high,low), zscore(volume,5),
             ema(close,9), time_of_day_sin]
  target: [log_return(close)]
  window: 12
  split: {train: 0.7, val: 0.15, test: 0.15}
model: {d_model: 8, n_layer: 2, d_state: 4, headdim: 8, chunk: 4}
train: {epochs: 2, batch_size: 32, optimizer: {lr: 5e-3}}
END
runs "a run on a CSV file is trained" 0 "$M2RUN" run exp.yaml -q
run=$(ls -d results/walk/run-*)

# The vector kernels of the cpu backend give a window the same bits in a batch
# of any size; matrix products of OpenBLAS, used without them, only the same
# value to rounding: in f32 at most 1e-5 of the target's deviation (6e-7 was
# measured).
exact() { grep -q 'device_name.*avx' "$run/run.json"; }
near() { # NAME FILE FILE: predictions of the same windows
    if exact; then
        same "$@"
        return
    fi
    paste -d, "$2" "$3" | awk -F, -v limit="1e-5" -v spread="$spread" '
        { d = $6 - $13; if (d < 0) d = -d
          if ($1 != $8 || d > limit * spread) bad = 1 }
        END { exit bad || NR == 0 }'
    tap_result $? "$1"
}

# ---- scores ------------------------------------------------------------
# Population deviation of the log return over the training part.
spread=$(awk -F, 'NR > 1 && NR <= 421 { if (c) { r = log($5 / c); n++
        s[n] = r; m += r } c = $5 }
    END { m /= n; for (i = 1; i <= n; i++) v += (s[i] - m) ^ 2
        printf "%.17g", sqrt(v / n) }' bars.csv)
runs "the test part is predicted by default" 0 "$M2RUN" predict @last
cp "$out" test.csv
equal "it has a line per window" "$(wc -l <test.csv)" 91
equal "what happened is the price in the file, to the bit" \
    "$(awk -F, 'NR == FNR { close_[$1] = $5; next }
        FNR > 1 && $9 + 0 != close_[$3] + 0 { n++ }
        END { print n + 0, FNR }' bars.csv test.csv)" "0 91"
tail -n 20 bars.csv >headless.csv
sh -c '"$M2RUN" predict @last --stream' <headless.csv >"$out" 2>"$err"
equal "rows without a header are refused" $? 5
contains "with what would help" "$err" "tail -n +1 -f FILE"
score test.csv "$spread" >computed
recorded test test | grep -v -e loss -e skill >written
agree "scores of test in run.json are those of the predictions" \
    computed written
runs "val, of the last checkpoint" 0 "$M2RUN" predict @last --split val \
    --checkpoint last -o val.csv
equal "with -o nothing is printed" "$(cat "$out")" ""
score val.csv "$spread" >computed
recorded final val | grep -v -e loss -e skill >written
agree "scores of val in run.json are those of the predictions" \
    computed written

# ---- no look-ahead ------------------------------------------------------
columns=1,2,3,4,5,6,8 # all but what happened
predictions() { # FILE UNTIL: lines up to a moment
    sed 1d "$1" | awk -F, -v until="$2" '$1 <= until' | cut -d, -f$columns
}
until=2024-01-02T06:40:00Z
mkdir other short # series are named after their files
awk -F, -v OFS=, -v until=$until 'NR > 1 && $1 > until {
    for (i = 2; i <= 6; i++) $i *= 1.5 + NR % 7 } { print }' bars.csv >other/bars.csv
runs "other data are predicted as a whole" 0 "$M2RUN" predict "$run" \
    data.path=bars.csv
cp "$out" all.csv
runs "bars after t are changed" 0 "$M2RUN" predict "$run" data.path=other/bars.csv
cp "$out" changed.csv
predictions all.csv $until >before
predictions changed.csv $until >after
equal "there are predictions up to t" "$(wc -l <before)" 386
same "no prediction up to t changes" before after
predictions all.csv 9 >before
predictions changed.csv 9 >after
check "later predictions do" sh -c '! cmp -s before after'
awk -F, -v until=$until 'NR == 1 || $1 <= until' bars.csv >short/bars.csv
runs "the newest window is easy to get" 0 "$M2RUN" predict "$run" --live \
    data.path=short/bars.csv
predictions all.csv $until | tail -n 1 >before
predictions "$out" 9 >after
near "and says what it says later" before after
equal "its truth is not known yet" "$(sed 1d "$out" | cut -d, -f7,9)" ,

# ---- streams --------------------------------------------------------------
mv bars.csv rows.csv # what it was trained on need not be there
stream() { "$M2RUN" predict "$run" --stream "$@" <rows.csv; }
runs "rows are answered as they arrive" 0 stream --latency
contains "the latency of a step is reported" "$err" "p50"
cp "$out" stream.csv
equal "every row has its answer" "$(wc -l <stream.csv)" 601
sed 1d all.csv | cut -d, -f$columns >before
sed 1d stream.csv | awk -F, '$6 != ""' >after
near "with the predictions of the batch" before after
runs "the state may reach back without bound" 0 stream --unbounded --json
contains "as JSON" "$out" '"step": 1, "pred": '
runs "not with windows that are normalised" 3 stream --unbounded \
    window_norm=last
contains "which is said" "$err" "data.window_norm normalises each one"
runs "a bad row is an error" 5 sh -c \
    'sed "3s/,/x,/" rows.csv | "$M2RUN" predict "$0" --stream' "$run"
contains "with its line" "$err" "stdin:3: '2024-01-02T00:01:00Zx' is no time"

# ---- messages -------------------------------------------------------------
runs "an unknown part" 2 "$M2RUN" predict @last --split validation
runs "an unknown run" 2 "$M2RUN" predict nonsense
runs "a choice without its mode" 2 "$M2RUN" predict @last --unbounded
finish
