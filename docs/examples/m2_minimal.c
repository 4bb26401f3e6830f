/* A backend with two ops, fill and add: the frame every backend needs, and one
 * op to copy from. It cannot train; it says so, op by op, through SUPPORTS.
 *
 *     cc -shared -fPIC -Wl,-z,defs $(pkg-config --cflags m2run-plugin) \
 *         -o m2_minimal.so m2_minimal.c
 *     m2run --plugin-dir . devices
 *     m2run selftest ./m2_minimal.so        # other ops: "not supported" */
#include <stdlib.h>
#include <string.h>

#include <m2_backend.h>

struct device {
    enum m2_dtype real;
};

/* The head comes first: the runner's checks read it. */
struct m2_buffer {
    struct m2_buffer_head head;
    double bytes[]; /* double: for the alignment */
};

static int device_facts(void *handle, void *args, struct m2_error *err)
{
    struct m2_devices *devices = args;

    (void)handle;
    (void)err;
    devices->count_out = 1;
    if (devices->index == 0) {
        devices->facts_out = (struct m2_device_facts){
            .name = "example device",
            .facts = "plain C, one thread",
        };
    }
    return M2_OK;
}

static int device_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_open *open = args;
    struct device *device = calloc(1, sizeof *device);

    (void)handle;
    if (device == NULL)
        return m2_fail(err, M2_E_MEMORY, "minimal: out of memory");
    device->real = open->real;
    open->handle_out = device;
    return M2_OK;
}

static int device_close(void *handle, void *args, struct m2_error *err)
{
    (void)args;
    (void)err;
    free(handle);
    return M2_OK;
}

static int buffer_alloc(void *handle, void *args, struct m2_error *err)
{
    struct m2_alloc *alloc = args;
    struct m2_buffer *buffer = NULL;

    if (alloc->bytes <= SIZE_MAX - sizeof *buffer)
        buffer = malloc(sizeof *buffer + alloc->bytes);
    if (buffer == NULL)
        return m2_fail(err, M2_E_MEMORY, "minimal: no room for %zu bytes",
                       alloc->bytes);
    buffer->head = (struct m2_buffer_head){handle, alloc->bytes};
    alloc->buffer_out = buffer;
    return M2_OK;
}

static int buffer_free(void *handle, void *args, struct m2_error *err)
{
    struct m2_free *release = args;

    (void)handle;
    (void)err;
    free(release->buffer);
    return M2_OK;
}

static int buffer_upload(void *handle, void *args, struct m2_error *err)
{
    struct m2_transfer *transfer = args;
    char *bytes = (char *)transfer->buffer->bytes;

    (void)handle;
    (void)err;
    memcpy(bytes + transfer->offset, transfer->host, transfer->bytes);
    return M2_OK;
}

static int buffer_download(void *handle, void *args, struct m2_error *err)
{
    struct m2_transfer *transfer = args;
    const char *bytes = (const char *)transfer->buffer->bytes;

    (void)handle;
    (void)err;
    memcpy(transfer->host, bytes + transfer->offset, transfer->bytes);
    return M2_OK;
}

static int device_sync(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)args;
    (void)err;
    return M2_OK; /* every op has run when its call returns */
}

static int op_supports(void *handle, void *args, struct m2_error *err)
{
    const struct m2_query *query = args;

    (void)handle;
    if (query->op == M2_OP_fill || query->op == M2_OP_add)
        return M2_OK;
    return m2_fail(err, M2_E_UNSUPPORTED, "minimal: fill and add only");
}

static int op_workspace(void *handle, void *args, struct m2_error *err)
{
    struct m2_query *query = args;

    (void)handle;
    (void)err;
    query->bytes_out = 0;
    return M2_OK;
}

static int op_reserve(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)args;
    (void)err;
    return M2_OK;
}

static double get(const struct m2_view *view, int64_t row, int64_t column)
{
    int64_t at = view->offset + row * view->ld + column;

    if (view->dtype == M2_F32)
        return ((const float *)view->buffer->bytes)[at];
    return view->buffer->bytes[at];
}

static void set(const struct m2_view *view, int64_t row, int64_t column,
                double value)
{
    int64_t at = view->offset + row * view->ld + column;

    if (view->dtype == M2_F32)
        ((float *)view->buffer->bytes)[at] = (float)value;
    else
        view->buffer->bytes[at] = value;
}

static int op_fill(void *handle, void *args, struct m2_error *err)
{
    const struct m2_fill *fill = args;

    (void)handle;
    (void)err;
    for (int64_t i = 0; i < fill->y.rows; i++) {
        for (int64_t j = 0; j < fill->y.cols; j++)
            set(&fill->y, i, j, fill->value);
    }
    return M2_OK;
}

static int op_add(void *handle, void *args, struct m2_error *err)
{
    const struct m2_add *add = args;

    (void)handle;
    (void)err;
    for (int64_t i = 0; i < add->y.rows; i++) {
        for (int64_t j = 0; j < add->y.cols; j++)
            set(&add->y, i, j, get(&add->a, i, j) + get(&add->b, i, j));
    }
    return M2_OK;
}

static const struct m2_slot slots[M2_BACKEND_N_SLOTS] = {
    [M2_SLOT_DEVICES] = {device_facts, sizeof(struct m2_devices)},
    [M2_SLOT_OPEN] = {device_open, sizeof(struct m2_open)},
    [M2_SLOT_CLOSE] = {device_close, 0},
    [M2_SLOT_ALLOC] = {buffer_alloc, sizeof(struct m2_alloc)},
    [M2_SLOT_FREE] = {buffer_free, sizeof(struct m2_free)},
    [M2_SLOT_UPLOAD] = {buffer_upload, sizeof(struct m2_transfer)},
    [M2_SLOT_DOWNLOAD] = {buffer_download, sizeof(struct m2_transfer)},
    [M2_SLOT_SYNC] = {device_sync, 0},
    [M2_SLOT_SUPPORTS] = {op_supports, sizeof(struct m2_query)},
    [M2_SLOT_WORKSPACE] = {op_workspace, sizeof(struct m2_query)},
    [M2_SLOT_RESERVE] = {op_reserve, sizeof(struct m2_reserve)},
    [M2_SLOT_FIRST_OP + M2_OP_fill] = {op_fill, sizeof(struct m2_fill)},
    [M2_SLOT_FIRST_OP + M2_OP_add] = {op_add, sizeof(struct m2_add)},
};

static const struct m2_plugin plugin = {
    .size = sizeof(struct m2_plugin),
    .abi = M2_PLUGIN_ABI,
    .kind = M2_PLUGIN_BACKEND,
    .name = "minimal",
    .build = "example 1",
    .numerics = 1,
    .n_slots = M2_BACKEND_N_SLOTS,
    .slots = slots,
    .help = "Two ops: a template for backends.",
};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return &plugin;
}
