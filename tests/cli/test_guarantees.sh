#!/bin/sh
# docs/guarantees.md: every test it names is there.
. "$top_srcdir/tests/tap.sh"

table=$top_srcdir/docs/guarantees.md
grep -o '| `[^`]*: [^`]*` |$' "$table" | sed 's/^| `//; s/` |$//' >cases
equal "rows without a proof" \
    "$(grep '^| [a-zA-Z`0]' "$table" | grep -v '^| what happened' |
        grep -cv '`[^`]*: [^`]*` |$')" 0
check "there are more than twenty" test "$(wc -l <cases)" -gt 20
while IFS= read -r line; do
    file=${line%%: *} words=${line#*: }
    check "$line" grep -qF -- "$words" "$top_srcdir/$file"
done <cases
finish
