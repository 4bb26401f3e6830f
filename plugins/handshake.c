/* The handshake: what a plugin's descriptor must say to be accepted. */
#include "handshake.h"

#include <string.h>

#include "backends/m2_backend.h"
#include "m2_data.h"

/* One slot as this build knows it.  An unnamed slot is reserved. */
struct slot_rule {
    const char *name;
    size_t args_size;
    int required;
};

static const struct slot_rule backend_slots[M2_BACKEND_N_SLOTS] = {
    [M2_SLOT_DEVICES] = {"DEVICES", sizeof(struct m2_devices), 1},
    [M2_SLOT_OPEN] = {"OPEN", sizeof(struct m2_open), 1},
    [M2_SLOT_CLOSE] = {"CLOSE", 0, 1},
    [M2_SLOT_ALLOC] = {"ALLOC", sizeof(struct m2_alloc), 1},
    [M2_SLOT_FREE] = {"FREE", sizeof(struct m2_free), 1},
    [M2_SLOT_UPLOAD] = {"UPLOAD", sizeof(struct m2_transfer), 1},
    [M2_SLOT_DOWNLOAD] = {"DOWNLOAD", sizeof(struct m2_transfer), 1},
    [M2_SLOT_SYNC] = {"SYNC", 0, 1},
    [M2_SLOT_SUPPORTS] = {"SUPPORTS", sizeof(struct m2_query), 1},
    [M2_SLOT_WORKSPACE] = {"WORKSPACE", sizeof(struct m2_query), 1},
    [M2_SLOT_RESERVE] = {"RESERVE", sizeof(struct m2_reserve), 1},
    [M2_SLOT_STEP_BEGIN] = {"STEP_BEGIN", 0, 0},
    [M2_SLOT_STEP_END] = {"STEP_END", 0, 0},
#define OP_RULE(name, type)                                                    \
    [M2_SLOT_FIRST_OP + M2_OP_##name] = {#name, sizeof(struct type), 0},
    M2_OPS(OP_RULE)
#undef OP_RULE
};

static const struct slot_rule data_slots[M2_DATA_N_SLOTS] = {
    [M2_DATA_OPEN] = {"OPEN", sizeof(struct m2_data_open), 1},
    [M2_DATA_INFO] = {"INFO", sizeof(struct m2_data_info), 1},
    [M2_DATA_NEXT] = {"NEXT", sizeof(struct m2_data_next), 1},
    [M2_DATA_COUNTS] = {"COUNTS", sizeof(struct m2_data_counts), 1},
    [M2_DATA_CLOSE] = {"CLOSE", 0, 1},
};

static const struct slot_rule *rules_of(uint32_t kind, size_t *n)
{
    switch (kind) {
    case M2_PLUGIN_BACKEND:
        *n = M2_BACKEND_N_SLOTS;
        return backend_slots;
    case M2_PLUGIN_DATA:
        *n = M2_DATA_N_SLOTS;
        return data_slots;
    default:
        return NULL;
    }
}

const char *handshake_kind_name(uint32_t kind)
{
    return kind == M2_PLUGIN_BACKEND ? "backend" : "data plugin";
}

/* The members before `kind` are the same in every ABI: they are looked at
 * first, so that nothing else of a foreign layout is read. */
static int check_layout(const struct m2_plugin *descriptor, const char *path,
                        struct m2_error *err)
{
    if (descriptor == NULL)
        return m2_fail(
            err, M2_E_DEVICE,
            "plugin %s refused: " M2_PLUGIN_SYMBOL " returned nothing", path);
    if (descriptor->abi != M2_PLUGIN_ABI)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: it has plugin ABI %u, this m2run "
                       "has plugin ABI %d",
                       path, (unsigned)descriptor->abi, M2_PLUGIN_ABI);
    if (descriptor->size < sizeof *descriptor)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: its descriptor has %zu bytes, this "
                       "m2run needs %zu",
                       path, descriptor->size, sizeof *descriptor);
    return M2_OK;
}

static int check_identity(const struct m2_plugin *descriptor, const char *path,
                          const char *file_name, struct m2_error *err)
{
    size_t n;

    if (rules_of(descriptor->kind, &n) == NULL)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: unknown kind %u, this m2run knows "
                       "%d (backend) and %d (data plugin)",
                       path, (unsigned)descriptor->kind, M2_PLUGIN_BACKEND,
                       M2_PLUGIN_DATA);
    if (descriptor->name == NULL || strcmp(descriptor->name, file_name) != 0)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: it calls itself %s, its file name "
                       "says %s",
                       path,
                       descriptor->name == NULL ? "nothing" : descriptor->name,
                       file_name);
    if (descriptor->build == NULL)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: it has no build string", path);
    return M2_OK;
}

static int check_slot(const struct m2_plugin *descriptor, size_t slot,
                      const struct slot_rule *rule, const char *path,
                      struct m2_error *err)
{
    const struct m2_slot *given =
        slot < descriptor->n_slots ? &descriptor->slots[slot] : NULL;

    if (rule->name == NULL)
        return M2_OK;
    if (given == NULL || given->fn == NULL) {
        if (!rule->required)
            return M2_OK;
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: slot %s is missing", path,
                       rule->name);
    }
    if (given->args_size != rule->args_size)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: slot %s has arguments of %zu "
                       "bytes, this m2run has %zu",
                       path, rule->name, given->args_size, rule->args_size);
    return M2_OK;
}

int handshake_check(const struct m2_plugin *descriptor, const char *path,
                    const char *file_name, struct m2_error *err)
{
    const struct slot_rule *rules;
    size_t n = 0;
    int rc = check_layout(descriptor, path, err);

    if (rc == M2_OK)
        rc = check_identity(descriptor, path, file_name, err);
    if (rc != M2_OK)
        return rc;
    rules = rules_of(descriptor->kind, &n);
    if (descriptor->slots == NULL && descriptor->n_slots > 0)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s refused: it says %u slots but has no table",
                       path, (unsigned)descriptor->n_slots);
    for (size_t i = 0; i < n && rc == M2_OK; i++)
        rc = check_slot(descriptor, i, &rules[i], path, err);
    return rc;
}
