/* A backend of an older build: its slot table ends before the last ops, and
 * one op in the middle is not provided.  The rest is the reference's. */
#include "backends/ref/internal.h"

/* The first ops only, up to and without M2_OP_silu. */
enum { OLD_N_SLOTS = M2_SLOT_FIRST_OP + M2_OP_silu };

static const struct m2_slot slots[OLD_N_SLOTS] = {
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
    [M2_SLOT_FIRST_OP + M2_OP_add] = {ref_add, sizeof(struct m2_add)},
    [M2_SLOT_FIRST_OP + M2_OP_fill] = {ref_fill, sizeof(struct m2_fill)},
};

static const struct m2_plugin descriptor = {
    .size = sizeof(struct m2_plugin),
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_BACKEND,
    .name = "short",
    .build = "an older build",
    .numerics = 1,
    .n_slots = OLD_N_SLOTS,
    .slots = slots,
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &descriptor;
}
