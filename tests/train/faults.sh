# tests/train/faults.sh: a command in which one call goes wrong; sourced after
# example.sh. tests/faults/faults.c says what can.
faults=$top_builddir/tests/faults/.libs/m2_faults.so
calls=$work/.calls

clock=0 # seconds that the wall clock goes back at every look

# faulty WHAT AT PROCESS COMMAND...: below $work/there; the calls are listed in
# $calls
faulty() {
    faulty_what=$1 faulty_at=$2 faulty_process=$3
    shift 3
    rm -f "$calls"
    env LD_PRELOAD="$faults" M2_FAULTS_UNDER="$work/there" \
        M2_FAULTS_WHAT="$faulty_what" M2_FAULTS_AT="$faulty_at" \
        M2_FAULTS_PROCESS="$faulty_process" M2_FAULTS_LOG="$calls" \
        M2_FAULTS_CLOCK="$clock" \
        ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0" "$@"
}
faults_work() {
    faulty none 0 run "$M2RUN" --version >"$out" 2>"$err" &&
        ! grep -q 'cannot be preloaded' "$err"
}
