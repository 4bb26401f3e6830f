#!/bin/sh
# The program says which version it is.
. "$top_srcdir/tests/tap.sh"

runs "--version ends with 0" 0 "$M2RUN" --version
contains "--version prints name and version" "$out" "m2run 0."
equal "--version prints nothing on stderr" "$(cat "$err")" ""
runs "an unknown subcommand is a usage error" 2 "$M2RUN" nonsense
equal "a usage error prints nothing on stdout" "$(cat "$out")" ""
finish
