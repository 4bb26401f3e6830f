#!/bin/sh
# Wrong command lines: exit code 2, one message on stderr, nothing on stdout.
. "$top_srcdir/tests/tap.sh"

wrong() { # NAME TEXT ARGUMENT...
    wrong_name=$1 wrong_text=$2
    shift 2
    runs "$wrong_name is a usage error" 2 "$M2RUN" "$@"
    contains "$wrong_name: the message says so" "$err" "$wrong_text"
    equal "$wrong_name: one line" "$(wc -l <"$err" | tr -d ' ')" 1
    equal "$wrong_name: nothing on stdout" "$(cat "$out")" ""
}

wrong "no command" "no command"
wrong "an unknown command" "unknown command 'chekc'; did you mean 'check'?" \
    chekc
wrong "help of an unknown command" "did you mean 'best'?" help bets
wrong "an unknown option of the program" "did you mean '--version'?" --versoin
wrong "an option of the program without its value" "needs a value: DIR" \
    --plugin-dir
wrong "a plugin directory that is not there" "/nowhere: No such file" \
    --plugin-dir /nowhere devices
wrong "a directory that is not there" "/nowhere: No such file" -C /nowhere ls

for command in $("$M2RUN" --help | sed -n '/^Commands:/,/^$/p' |
    sed '1d;$d' | awk '{print $1}'); do
    wrong "$command with an unknown option" \
        "$command: unknown option '--frobnicate'" "$command" --frobnicate
    runs "$command --help ends with 0" 0 "$M2RUN" "$command" --help
    contains "$command --help shows how it is used" "$out" \
        "Usage: m2run $command "
    cp "$out" help
    runs "help $command ends with 0" 0 "$M2RUN" help "$command"
    same "help $command is $command --help" "$out" help
    equal "help $command is one screen" \
        "$(awk 'length > 100' "$out")" ""
done

wrong "an option that is nearly right" "did you mean '--print'?" check --prnt
wrong "an integer that is none" "--limit needs an integer, not 'many'" \
    ls --limit many
wrong "a flag with a value" "--json takes no value" devices --json=yes
wrong "an option without its value" "--op needs a value" selftest ref --op
wrong "check without a file" "which experiment file?" check
wrong "data without a file" "which experiment file?" data
wrong "show without a run" "show: which run?" show
wrong "an option of the program behind the command" \
    "stands before the command" data exp.yaml --plugin-dir .
wrong "a key with dashes" "has no dashes: window=60" check x.yaml --window=60
wrong "show of two runs" "one run, not 2" show a b
wrong "show as JSON that follows" "not both" show --json -f a
wrong "a run that is not there" "no run 'nope'" show nope
wrong "an experiment that is not there" "no experiment 'nope'" ls nope
wrong "two experiments" "one experiment at most" ls one two
wrong "a negative limit" "cannot be negative" ls -n -1
wrong "a backend and another one" "one backend, not 2" selftest ref cpu
wrong "a part as a key" "chosen with --split" predict @last split=train
wrong "no backend" "which backend?" selftest
wrong "no threads" "--threads must be 1 to 1024" selftest ref --threads 0
wrong "no experiment to compare on" "which experiment file?" compare-backends
wrong "one backend to compare" "two devices must follow" \
    compare-backends x.yaml cpu
wrong "a key in place of a backend" "two devices must follow" \
    compare-backends x.yaml cpu dtype=f64
wrong "a device beside the two" "those that follow the file" \
    compare-backends x.yaml cpu ref device=cuda
wrong "no steps to compare" "--steps is 1 to 1000000" \
    compare-backends x.yaml cpu ref --steps 0
wrong "a format that is not there" "json, markdown, man or keys" \
    schema --format html
wrong "two arguments of devices" "one argument at most: 'ref'" devices cpu ref
wrong "stop of one and all" "one experiment or run, or --all" stop --all tiny

runs "an option may follow the arguments" 3 "$M2RUN" check nope.yaml --print
runs "-- ends the options" 3 "$M2RUN" check -- --print
contains "so that a file may begin with a dash" "$err" "--print"
runs "short options stand together" 0 "$M2RUN" schema -fkeys
runs "the version is printed" 0 "$M2RUN" -V
contains "with facts about the build" "$out" "compiler "
runs "help is help" 0 "$M2RUN" help
contains "with the commands" "$out" "selftest"
runs "output that cannot be written is an error" 1 \
    sh -c "'$M2RUN' schema --format keys >/dev/full"
contains "which is said" "$err" "writing the output: No space left"
runs "a reader that has seen enough is none" 0 \
    sh -c "'$M2RUN' schema | head -n 1"
equal "not a word about it" "$(cat "$err")" ""
finish
