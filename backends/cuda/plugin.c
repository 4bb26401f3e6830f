/* plugin.c: the descriptor of the CUDA backend, and its slots.  C, because
 * the table is written with designated initialisers. */
#include "backends/cuda/slots.h"

/* Raised whenever results may change in any bit. */
#define NUMERICS 1

#define SLOT_FUNCTION(name, type)                                              \
    static int slot_##name(void *handle, void *args, struct m2_error *err)     \
    {                                                                          \
        return cuda_op(handle, M2_OP_##name, args, err);                       \
    }
M2_OPS(SLOT_FUNCTION)

#define SLOT_ENTRY(name, type)                                                 \
    [M2_SLOT_FIRST_OP + M2_OP_##name] = {slot_##name, sizeof(struct type)},

static const struct m2_slot slots[M2_BACKEND_N_SLOTS] = {
    [M2_SLOT_DEVICES] = {cuda_devices, sizeof(struct m2_devices)},
    [M2_SLOT_OPEN] = {cuda_open, sizeof(struct m2_open)},
    [M2_SLOT_CLOSE] = {cuda_close, 0},
    [M2_SLOT_ALLOC] = {cuda_alloc, sizeof(struct m2_alloc)},
    [M2_SLOT_FREE] = {cuda_free, sizeof(struct m2_free)},
    [M2_SLOT_UPLOAD] = {cuda_upload, sizeof(struct m2_transfer)},
    [M2_SLOT_DOWNLOAD] = {cuda_download, sizeof(struct m2_transfer)},
    [M2_SLOT_SYNC] = {cuda_sync, 0},
    [M2_SLOT_SUPPORTS] = {cuda_supports, sizeof(struct m2_query)},
    [M2_SLOT_WORKSPACE] = {cuda_workspace, sizeof(struct m2_query)},
    [M2_SLOT_RESERVE] = {cuda_reserve, sizeof(struct m2_reserve)},
    [M2_SLOT_STEP_BEGIN] = {cuda_step_begin, 0},
    [M2_SLOT_STEP_END] = {cuda_step_end, 0},
    M2_OPS(SLOT_ENTRY)};

static const struct m2_plugin plugin = {
    .size = sizeof(struct m2_plugin),
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_BACKEND,
    .name = M2_CUDA_NAME,
    .build = cuda_build,
    .numerics = NUMERICS,
    .n_slots = M2_BACKEND_N_SLOTS,
    .slots = slots,
    .help = "Computes on an NVIDIA GPU, with cuBLAS and kernels of its own.  "
            "A training step that comes back is replayed as one graph.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
