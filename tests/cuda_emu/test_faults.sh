#!/bin/sh
# CUDA calls of a training fail, and of a listing of devices: each time the
# program says so in CUDA's words, ends with the right code, and leaves nothing
# behind. M2_TEST_STRIDE=1 tries every call, in some minutes.
. "$top_srcdir/tests/tap.sh"

emu=$top_builddir/tests/cuda_emu
if [ ! -e "$emu/m2_cuda_emu.so" ]; then
    skip "calls that fail" "the emulator is not built here"
    finish
    exit
fi
export M2RUN_PLUGIN_PATH="$emu${M2RUN_PLUGIN_PATH:+:$M2RUN_PLUGIN_PATH}"
. "$top_srcdir/tests/cuda_emu/faults.sh"
. "$top_srcdir/tests/cli/example.sh"

trained() {
    cat results/*/*/metrics.csv results/*/*/checkpoints/last.safetensors |
        sha256sum
}
listed() {
    cat said
}

sweep "training" 'unknown error\|CUBLAS_STATUS_' 999 trained "$M2RUN" run tiny.yaml \
    device=cuda_emu data.options.rows=200
sweep "training, device lost" "illegal memory access" 700 trained \
    "$M2RUN" run tiny.yaml device=cuda_emu data.options.rows=200
sweep "listing of a device" "unknown error" 999 listed "$M2RUN" devices \
    cuda_emu

# ---- no driver, no device, no memory -----------------------------------------

once driver=none "$M2RUN" run tiny.yaml device=cuda_emu
equal "no driver: exit code" "$code" 4
contains "no driver: CUDA's words" said \
    "CUDA driver version is insufficient for CUDA runtime version"
once driver=none "$M2RUN" devices
equal "no driver, list: exit code" "$code" 4
contains "no driver, list: CUDA's words" said \
    "CUDA driver version is insufficient for CUDA runtime version"
once driver=old "$M2RUN" devices
equal "driver too old, list: exit code" "$code" 4
contains "driver too old: m2run devices says it" said \
    "CUDA driver version is insufficient for CUDA runtime version"
once devices=0 "$M2RUN" run tiny.yaml device=cuda_emu
equal "no device: exit code" "$code" 4
contains "no device: CUDA's words" said "no CUDA-capable device is detected"
once mem=40000000 "$M2RUN" run tiny.yaml device=cuda_emu model.d_model=256 \
    train.batch_size=64
equal "no memory: exit code" "$code" 1
contains "no memory: the plan's number" said "MiB on cuda_emu (plan)"
contains "no memory: what is free" said "MiB are free"
equal "no memory: nothing left" "$(left)" ""
once fail=cudaGraphInstantiate:1:2 "$M2RUN" run tiny.yaml device=cuda_emu
equal "no memory in the midst: exit code" "$code" 1
contains "no memory in the midst: the plan's number" said \
    " on cuda_emu (plan), "
contains "no memory in the midst: what was free" said "GiB were free"
once mem=1000000 "$M2RUN" run tiny.yaml device=cuda_emu
equal "no memory to open: exit code" "$code" 1
contains "no memory to open: the plan's number" said "KiB on cuda_emu (plan)"
contains "no memory to open: what is free" said "KiB were free"
equal "no memory to open: nothing left" "$(left)" ""
once fail=cudaMalloc:3:2 "$M2RUN" run tiny.yaml device=cuda_emu
contains "an allocation fails: CUDA's words" said "out of memory"
equal "an allocation fails: nothing left" "$(left)" ""

# ---- a wrong setting is not the default ----------------------------------------

for bad in bogus=1 devices=x devices=-1 mem=4G cc= cc=9x order=foo order=rand: \
    order=asc:1 async=x replay=2 fail=cudaMalloc fail=cudaMalloc:0 fail=:1 \
    fail=cudaMalloc:1:x devices=1,; do
    runs "M2_EMU=$bad is refused" 86 env M2_EMU=$bad "$M2RUN" devices cuda_emu
done
finish
