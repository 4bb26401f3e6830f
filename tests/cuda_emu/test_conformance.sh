#!/bin/sh
# The CUDA backend's own kernels keep every contract in every order: threads
# and blocks, streams, graphs; and train as the other backends do.
# M2_TEST_ALL=1 gives every mode the golden vectors and every op.
. "$top_srcdir/tests/tap.sh"

emu=$top_builddir/tests/cuda_emu
if [ ! -e "$emu/m2_cuda_emu.so" ]; then
    skip "conformance on the emulated device" "the emulator is not built here"
    finish
    exit
fi
export M2RUN_PLUGIN_PATH="$emu${M2RUN_PLUGIN_PATH:+:$M2RUN_PLUGIN_PATH}"
golden=$top_srcdir/tests/golden
small="rmsnorm_backward embed_backward xent ssd_step"

# conforms MODE SETTINGS BACKEND [OPTION...]
conforms() {
    mode=$1 settings=$2 backend=$3
    shift 3
    M2_EMU=$settings "$M2RUN" selftest "$backend" "$@" >said 2>&1
    code=$?
    counts=$(tail -n 1 said)
    check "$mode: $counts" [ $code = 0 ]
    [ $code = 0 ] || tail -n 5 said | sed 's/^/# /'
    case $counts in
    "0 passed"* | *" 0 failed, 0 not supported") ;;
    *) check "$mode: nothing is refused" false ;;
    esac
}

# all MODE SETTINGS BACKEND: the whole suite, or a few ops of it
all() {
    if [ -n "${M2_TEST_ALL-}" ]; then
        conforms "$@" --golden "$golden"
        return
    fi
    for op in $small; do
        conforms "$1, $op" "$2" "$3" --op "$op"
    done
}

conforms "ascending, eager" order=asc,async=eager cuda_emu --golden "$golden"
all "descending, lazy" order=desc,async=lazy cuda_emu
all "random" order=rand:7,async=rand:7 cuda_emu
all "each kernel twice" replay=1 cuda_emu
all "every access checked" async=rand:3 cuda_emu_check

# training, op by op on equal inputs, and freely
for experiment in quickstart mackey-glass hft; do
    for dtype in f32 f64; do
        runs "$experiment in $dtype, op by op" 0 "$M2RUN" compare-backends \
            "$top_srcdir/experiments/$experiment.yaml" cpu cuda_emu --steps 2 \
            dtype=$dtype batch_size=4
        contains "within the limits" "$out" "are within their limits"
    done
done
runs "quickstart, freely" 0 "$M2RUN" compare-backends \
    "$top_srcdir/experiments/quickstart.yaml" cpu cuda_emu --free-run \
    --steps 20 dtype=f64 batch_size=4

# a step that is replayed gives the bits of one that is not, in any order: of
# six, the first runs plainly
train() { # SETTINGS FOLDER
    M2_EMU=$1 M2_EMU_STATS=$PWD/$2.stats "$M2RUN" run \
        "$top_srcdir/experiments/quickstart.yaml" '~sweep' steps=6 \
        batch_size=4 log_every=1 device=cuda_emu --results "$2" \
        >"$2.log" 2>&1 </dev/null
}
bits() {
    cat "$1"/*/*/metrics.csv "$1"/*/*/checkpoints/last.safetensors | sha256sum
}
train order=asc,async=eager first
check "a run on the emulated device" [ -n "$(ls first/*/*/metrics.csv)" ]
check "whose steps are replayed" grep -q '"graph_launches": [1-9]' first.stats
train order=rand:5,async=rand:5 second
equal "another order, the same bytes" "$(bits second)" "$(bits first)"
finish
