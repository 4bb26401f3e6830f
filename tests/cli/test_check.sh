#!/bin/sh
# m2run check: a valid file, a broken one, the resolved configuration.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/example.sh"

runs "a valid file ends with 0" 0 "$M2RUN" check tiny.yaml
equal "it is counted" "$(cat "$out")" "tiny: ok, 1 run"
runs "a sweep is expanded" 0 "$M2RUN" check tiny.yaml lr=1e-3,1e-4 d_state=4,8
equal "its runs are counted" "$(cat "$out")" \
    "tiny: ok, 4 runs (4 configurations, 1 seed)"
runs "the configuration can be printed" 0 "$M2RUN" check tiny.yaml window=20 -p
contains "with overrides" "$out" "window: 20"
contains "with defaults" "$out" "d_conv: 4"
cp "$out" resolved.yaml
runs "what is printed is a valid file" 0 "$M2RUN" check resolved.yaml --print
same "that means the same" "$out" resolved.yaml

printf 'name: broken\ntrain: {stpes: 3, epochs: -1}\nnonsense: 1\n' >broken.yaml
runs "a broken file ends with 3" 3 "$M2RUN" check broken.yaml
equal "nothing is printed on stdout" "$(cat "$out")" ""
contains "every error is shown: the first" "$err" "did you mean 'steps'?"
contains "the second" "$err" "broken.yaml:2:"
contains "the third" "$err" "broken.yaml:3:1: error: unknown key 'nonsense'"
runs "a file that is not there ends with 3" 3 "$M2RUN" check nope.yaml
runs "a wrong override ends with 3" 3 "$M2RUN" check tiny.yaml windwo=3
contains "with a suggestion" "$err" "did you mean 'data.window'?"
runs "a source that is not there ends with 4" 4 \
    "$M2RUN" check tiny.yaml data.source=nope
runs "a function with a typo is a warning" 0 \
    "$M2RUN" check tiny.yaml 'features=[close, log_retrun(close)]'
contains "with its place" "$err" "1:18: warning: data.features: 'log_retrun"
contains "and a suggestion" "$err" "did you mean log_return?"
runs "a directory to work in" 0 "$M2RUN" -C "$work" check tiny.yaml
runs "--quiet keeps the result" 0 "$M2RUN" --quiet check tiny.yaml
contains "on stdout" "$out" "ok, 1 run"
finish
