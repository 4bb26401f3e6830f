/* Descriptor and slot table of the reference backend. */
#include "backends/ref/ref.h"

#include "backends/ref/internal.h"

#define REF_BUILD "m2run " PACKAGE_VERSION ", compiler " __VERSION__

#define REF_OP_SLOT(name, type)                                                \
    [M2_SLOT_FIRST_OP + M2_OP_##name] = {ref_##name, sizeof(struct type)},

static const struct m2_slot slots[M2_BACKEND_N_SLOTS] = {
    [M2_SLOT_DEVICES] = {ref_devices, sizeof(struct m2_devices)},
    [M2_SLOT_OPEN] = {ref_open, sizeof(struct m2_open)},
    [M2_SLOT_CLOSE] = {ref_close, 0},
    [M2_SLOT_ALLOC] = {ref_alloc, sizeof(struct m2_alloc)},
    [M2_SLOT_FREE] = {ref_free, sizeof(struct m2_free)},
    [M2_SLOT_UPLOAD] = {ref_upload, sizeof(struct m2_transfer)},
    [M2_SLOT_DOWNLOAD] = {ref_download, sizeof(struct m2_transfer)},
    [M2_SLOT_SYNC] = {ref_sync, 0},
    [M2_SLOT_SUPPORTS] = {ref_supports, sizeof(struct m2_query)},
    [M2_SLOT_WORKSPACE] = {ref_workspace_query, sizeof(struct m2_query)},
    [M2_SLOT_RESERVE] = {ref_reserve, sizeof(struct m2_reserve)},
    M2_OPS(REF_OP_SLOT)};

static const struct m2_plugin descriptor = {
    .size = sizeof(struct m2_plugin),
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_BACKEND,
    .name = "ref",
    .build = REF_BUILD,
    .numerics = 1,
    .n_slots = M2_BACKEND_N_SLOTS,
    .slots = slots,
    .options = NULL,
    .help = "Plain C on one core: sequential, all sums in f64, the scan in "
            "its recurrent form. Slow; other backends are compared with it.",
};

const struct m2_plugin *m2_ref_descriptor(void)
{
    return &descriptor;
}
