/* The ops: names, preparation, and the calls themselves. */
#include "ops.h"

#include <assert.h>
#include <string.h>

#include "device_internal.h"
#include "ops_contract.h"
#include "plugins/loader.h"

const char *op_name(enum m2_op op)
{
    return op_contract(op)->name;
}

size_t op_args_size(enum m2_op op)
{
    return op_contract(op)->args_size;
}

int op_by_name(const char *name)
{
    for (int op = 0; op < M2_N_OPS; op++) {
        if (strcmp(op_contract(op)->name, name) == 0)
            return op;
    }
    return -1;
}

size_t op_arguments(enum m2_op op, const struct op_argument **out)
{
    *out = op_contract(op)->arguments;
    return op_contract(op)->n_arguments;
}

static int check_provided(const struct m2_device *device, enum m2_op op,
                          struct m2_error *err)
{
    if (device->slots[M2_SLOT_FIRST_OP + op] != NULL)
        return M2_OK;
    return m2_fail(err, M2_E_UNSUPPORTED,
                   "%s: backend %s does not have this op", op_name(op),
                   device->plugin->descriptor->name);
}

int op_workspace(struct m2_device *device, enum m2_op op, const void *args,
                 size_t *bytes, struct m2_error *err)
{
    struct m2_query query = {.op = op, .args = args};
    int rc = check_provided(device, op, err);

    if (rc == M2_OK)
        rc = device_slot(device, M2_SLOT_SUPPORTS, &query, err);
    if (rc == M2_OK)
        rc = device_slot(device, M2_SLOT_WORKSPACE, &query, err);
    if (rc == M2_OK)
        *bytes = query.bytes_out;
    return rc;
}

int op_prepare(struct m2_device *device, enum m2_op op, const void *args,
               struct m2_error *err)
{
    size_t bytes = 0;
    int rc = check_provided(device, op, err);

    if (rc == M2_OK)
        rc = op_check(device, op, args, err);
    if (rc == M2_OK)
        rc = op_workspace(device, op, args, &bytes, err);
    if (rc == M2_OK && bytes > device->scratch_needed)
        device->scratch_needed = bytes;
    return rc;
}

int device_reserve(struct m2_device *device, struct m2_error *err)
{
    struct m2_reserve reserve = {device->scratch_needed};
    int rc;

    if (device->scratch_needed <= device->scratch_reserved)
        return M2_OK;
    rc = device_slot(device, M2_SLOT_RESERVE, &reserve, err);
    if (rc == M2_OK)
        device->scratch_reserved = device->scratch_needed;
    return rc;
}

int op_run(struct m2_device *device, enum m2_op op, void *args,
           struct m2_error *err)
{
    const struct device_observer *observer = device->observer;
    int rc = check_provided(device, op, err);

    assert(device->scratch_needed <= device->scratch_reserved);
    if (rc == M2_OK && observer != NULL)
        rc = observer->before(observer->context, op, args, err);
    if (rc == M2_OK)
        rc = device_slot(device, M2_SLOT_FIRST_OP + op, args, err);
    if (rc == M2_OK && observer != NULL)
        rc = observer->after(observer->context, op, args, err);
    return rc;
}

int op_call(struct m2_device *device, enum m2_op op, void *args,
            struct m2_error *err)
{
    int rc = op_prepare(device, op, args, err);

    if (rc == M2_OK)
        rc = device_reserve(device, err);
    return rc == M2_OK ? op_run(device, op, args, err) : rc;
}
