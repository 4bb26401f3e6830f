/* plugin.c: the descriptor of the CPU backend, and its slots. */
#include "backends/cpu/cpu.h"

/* Raised whenever results may change in any bit. */
#define NUMERICS 1

#define SLOT_FUNCTION(name, type)                                              \
    static int slot_##name(void *handle, void *args, struct m2_error *err)     \
    {                                                                          \
        struct handle *h = handle;                                             \
                                                                               \
        return h->variant->ops[M2_OP_##name].run(h, args, err);                \
    }
M2_OPS(SLOT_FUNCTION)

#define SLOT_ENTRY(name, type)                                                 \
    [M2_SLOT_FIRST_OP + M2_OP_##name] = {slot_##name, sizeof(struct type)},

static const struct m2_slot slots[M2_BACKEND_N_SLOTS] = {
    [M2_SLOT_DEVICES] = {cpu_devices, sizeof(struct m2_devices)},
    [M2_SLOT_OPEN] = {cpu_open, sizeof(struct m2_open)},
    [M2_SLOT_CLOSE] = {cpu_close, 0},
    [M2_SLOT_ALLOC] = {cpu_alloc, sizeof(struct m2_alloc)},
    [M2_SLOT_FREE] = {cpu_free, sizeof(struct m2_free)},
    [M2_SLOT_UPLOAD] = {cpu_upload, sizeof(struct m2_transfer)},
    [M2_SLOT_DOWNLOAD] = {cpu_download, sizeof(struct m2_transfer)},
    [M2_SLOT_SYNC] = {cpu_sync, 0},
    [M2_SLOT_SUPPORTS] = {cpu_supports, sizeof(struct m2_query)},
    [M2_SLOT_WORKSPACE] = {cpu_workspace, sizeof(struct m2_query)},
    [M2_SLOT_RESERVE] = {cpu_reserve, sizeof(struct m2_reserve)},
    M2_OPS(SLOT_ENTRY)};

static const struct m2_plugin plugin = {
    .size = sizeof(struct m2_plugin),
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_BACKEND,
    .name = "cpu",
    .build = cpu_build,
    .numerics = NUMERICS,
    .n_slots = M2_BACKEND_N_SLOTS,
    .slots = slots,
    .help = "Computes on the processor's cores with vector instructions.  "
            "Results do not depend on the number of threads.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
