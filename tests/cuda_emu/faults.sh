# tests/cuda_emu/faults.sh: one CUDA call of a program fails, each in turn; test
# scripts source it after tap.sh, with `emu` as the emulator's folder.
export OMP_NUM_THREADS=1

# one NAME of the program's counts, summed over its processes
count() {
    sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" stats | awk '{s += $1} END {print s + 0}'
}

left() {
    for each in live_allocations pinned streams events graphs blas; do
        [ "$(count $each)" = 0 ] || printf '%s %s ' "$(count $each)" $each
    done
}

# the program, with M2_EMU=$1; what it says goes to said, its code to $code
once() { # SETTINGS COMMAND...
    once_settings=$1
    shift
    rm -rf stats results
    M2_EMU=$once_settings M2_EMU_STATS=$work/stats timeout 120 "$@" \
        >said 2>&1 </dev/null
    code=$?
}

# What is wrong with the program in which a call failed; nothing: all is well.
complaint() { # WORDS RIGHT ANSWER
    case $code in
    # what failed gave something back, or was listed: it changes no result
    0) [ "$($3)" = "$2" ] || echo "code 0, but other results" ;;
    # 4: the device cannot be opened; 1: it failed later
    1 | 4) grep -q "$1" said || echo "without CUDA's words" ;;
    *) echo "code $code" ;;
    esac
    [ -s stats ] || echo "no counts: it crashed?"
    [ -z "$(left)" ] || echo "leaves $(left)"
}

# sweep NAME WORDS ERROR ANSWER COMMAND...: the calls fail with ERROR in turn.
# The program must say WORDS, or end well, and then the command ANSWER prints
# what it does where no call fails. About twenty calls; M2_TEST_STRIDE=1: all.
sweep() {
    name=$1 words=$2 error=$3 answer=$4
    shift 4
    once "" "$@"
    equal "$name: well without failures" "$code $(left)" "0 "
    right=$($answer)
    calls=$(count calls)
    : >bad
    tried=0 unharmed=0
    k=1
    while [ "$k" -le "$calls" ]; do
        once "fail=any:$k:$error" "$@"
        complaint "$words" "$right" "$answer" >complaints
        [ -s complaints ] && {
            echo "call $k: $(tr '\n' ';' <complaints)"
            sed 's/^/    /' said | tail -n 3
        } >>bad
        tried=$((tried + 1))
        [ $code -ne 0 ] || unharmed=$((unharmed + 1))
        k=$((k + ${M2_TEST_STRIDE:-$((calls / 20 + 1))}))
    done
    echo "# $name: $tried of $calls calls failed in turn," \
        "$unharmed times without harm"
    check "$name: calls were tried" [ "$tried" -gt 0 ]
    check "$name: every failure is told and cleaned up" test ! -s bad
    sed 's/^/# /' bad | head -n 60
}
