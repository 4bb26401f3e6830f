#!/bin/sh
# docs/m2run.1 names the commands and options that --help does.
. "$top_srcdir/tests/tap.sh"
page=$top_srcdir/docs/m2run.1

# the section of a command, dashes as they are read
section() { # COMMAND
    sed -n "/^\.SS $1\( \|\$\)/,/^\.S[SH] /p" "$page" | sed '1d; $d' |
        sed 's/\\-/-/g'
}

long_options() {
    grep -o -e '--[a-z][a-z-]*' | sort -u
}

# Only what the options are, not what their descriptions mention.
page_options() { # COMMAND
    section "$1" | grep -A1 '^\.TP' | grep -v '^\.TP' | long_options
}

help_options() { # COMMAND
    "$M2RUN" "$1" --help | sed -n '/^Options:/,/^$/p' |
        sed 's/^  \(-[a-z], \)\{0,1\} *\(--[a-z-]*\).*/\2/' | long_options
}

"$M2RUN" --help >"$out" 2>"$err"
commands=$(sed -n '/^Commands:/,/^$/p' "$out" | sed '1d;$d' | awk '{print $1}')
check "there are commands" test -n "$commands"
for command in $commands; do
    check "$command has a section" grep -q "^\.SS $command\b" "$page"
    equal "$command: the options of the page are those of --help" \
        "$(page_options "$command")" "$(help_options "$command")"
done
for option in plugin-dir directory quiet version help; do
    contains "--help of the program shows --$option" "$out" "--$option"
    sed 's/\\-/-/g' "$page" >page
    contains "the page has --$option" page "--$option"
done
for code in 0 1 2 3 4 5 6 7 70 75; do
    check "the page has exit code $code" \
        sh -c "sed -n '/^.SH \"EXIT STATUS\"/,/^.SH ENV/p' '$page' |
               grep -q '^\.B $code\$'"
done
finish
