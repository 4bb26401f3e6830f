#!/bin/sh
# The reference of the experiment file in docs/ is what the tables say.
. "$top_srcdir/tests/tap.sh"

same() { # NAME FORMAT FILE
    "$M2RUN" schema --format "$2" >"$out" 2>"$err" &&
        cmp "$out" "$top_srcdir/docs/$3" >"$work/.check" 2>&1
    tap_status=$?
    [ "$tap_status" -eq 0 ] ||
        echo "# docs/$3 is older than the tables: make update-docs"
    [ "$tap_status" -eq 0 ]
    tap_result $? "$1" "$work/.check" "$err"
}

same "docs/config-reference.md is current" markdown config-reference.md
same "docs/m2run-config.5 is current" man m2run-config.5
runs "the JSON Schema is written" 0 "$M2RUN" schema --format json
contains "it is one for editors" "$out" "https://json-schema.org/draft/2020-12"
finish
