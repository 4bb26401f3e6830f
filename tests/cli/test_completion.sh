#!/bin/sh
# What the bash completion offers.
. "$top_srcdir/tests/tap.sh"

if ! command -v bash >/dev/null 2>&1; then
    skip "bash completion" "there is no bash"
    finish
    exit 0
fi

# complete WORD...: what is offered for the last word, a line each
complete() {
    printf '%s\n' "$@" >words
    bash -c '
        . "$top_srcdir/docs/bash-completion/m2run"
        mapfile -t COMP_WORDS <words
        COMP_WORDS=("$M2RUN" "${COMP_WORDS[@]}")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _m2run
        printf "%s\n" "${COMPREPLY[@]}"' >"$out" 2>"$err"
}

offers() { # NAME TEXT
    grep -qxF -e "$2" "$out"
    tap_result $? "$1" "$out" "$err"
}
offers_not() {
    ! grep -qxF -e "$2" "$out"
    tap_result $? "$1" "$out" "$err"
}

complete ""
offers "commands are offered first" check
offers "help is one of them" help
offers_not "hidden commands are not" worker
complete sh
equal "only those that begin so" "$(cat "$out")" show
complete --
offers "options of the program before the command" --plugin-dir
complete check --
offers "options of the command after it" --print
offers_not "but not those of others" --jobs
complete check -
offers "short options, too" -p

touch one.yaml two.txt
mkdir folder
complete check ""
offers "experiment files" one.yaml
offers "folders to look for them in" folder/
offers_not "no other files" two.txt
complete run one.yaml data.win
offers "full names of keys after the file" data.window=
offers_not "one value is not completed to another key" data.window
complete run one.yaml windo
offers "endings of keys after the file" window=

mkdir -p results/first/lr-1_s0-0123456789ab results/first/.active results/second
complete show ""
offers "runs" lr-1_s0-0123456789ab
offers "and the last one" @last
complete best ""
offers "experiments" first
complete compare lr-1_s0-0123456789ab ""
offers "one run after another" @last
complete ls ""
offers "conditions of ls" state=
mv results elsewhere
complete show --results elsewhere lr
offers "runs of another folder" lr-1_s0-0123456789ab
complete schema --format ""
offers "values of an option" markdown
complete selftest ""
offers "backends" ref
complete compare-backends ""
offers "a file before two backends" one.yaml
complete compare-backends one.yaml ref ""
offers "the second backend" ref
complete compare-backends one.yaml ref ref windo
offers "keys after them" window=
equal "nothing is printed on stderr" "$(cat "$err")" ""
finish
