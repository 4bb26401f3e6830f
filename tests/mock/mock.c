/* The mock backend: slots and descriptor. */
#include "tests/mock/mock.h"

#include <stdlib.h>
#include <string.h>

#include "backends/ref/ref.h"

static int mock_devices(void *handle, void *args, struct m2_error *err)
{
    struct m2_devices *devices = args;
    struct mock_settings settings;
    int rc = mock_settings_read(&settings, err);

    (void)handle;
    if (rc != M2_OK)
        return rc;
    devices->count_out = settings.devices;
    if (settings.devices == 0)
        return m2_fail(err, M2_E_DEVICE, "mock: no device, as ordered");
    if (devices->index == -1)
        return M2_OK;
    memset(&devices->facts_out, 0, sizeof devices->facts_out);
    snprintf(devices->facts_out.name, sizeof devices->facts_out.name,
             "mock device %d", devices->index);
    devices->facts_out.memory_bytes = (uint64_t)settings.mem;
    devices->facts_out.memory_free_bytes = (uint64_t)settings.mem;
    if (devices->index < 0 || devices->index >= settings.devices)
        return m2_fail(err, M2_E_DEVICE, "mock: device %d does not exist",
                       devices->index);
    return M2_OK;
}

static int mock_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_open *open_args = args;
    struct m2_open ref_args = *open_args;
    struct mock_handle *self;
    struct mock_settings settings;
    int rc = mock_settings_read(&settings, err);

    if (rc != M2_OK)
        return rc;
    if (settings.fail_open)
        return m2_fail(err, M2_E_DEVICE, "mock: fault at open");
    if (ref_args.index < 0 || ref_args.index >= settings.devices)
        return m2_fail(err, M2_E_DEVICE, "mock: device %d does not exist",
                       ref_args.index);
    ref_args.index = 0;
    rc = ref_open(handle, &ref_args, err);
    if (rc != M2_OK)
        return rc;
    self = realloc(ref_args.handle_out, sizeof *self);
    if (self == NULL) {
        free(ref_args.handle_out);
        return m2_fail(err, M2_E_MEMORY, "mock: out of memory");
    }
    memset((char *)self + sizeof self->ref, 0, sizeof *self - sizeof self->ref);
    self->settings = settings;
    self->end = &self->first;
    open_args->handle_out = self;
    return M2_OK;
}

static int mock_close(void *handle, void *args, struct m2_error *err)
{
    mock_flush(handle, NULL);
    return ref_close(handle, args, err);
}

/* A call that no recording of a step can hold. */
static int refuse_in_step(const struct mock_handle *self, const char *call,
                          struct m2_error *err)
{
    if (self->lost)
        return m2_fail(err, M2_E_DEVICE, "mock: %s: the device is lost", call);
    if (self->settings.strict && self->in_step)
        return m2_fail(err, M2_E_FAILED, "mock: %s within a step", call);
    return M2_OK;
}

static int mock_step_begin(void *handle, void *args, struct m2_error *err)
{
    struct mock_handle *self = handle;
    int rc = refuse_in_step(self, "STEP_BEGIN", err);

    (void)args;
    self->in_step = 1;
    return rc;
}

static int mock_step_end(void *handle, void *args, struct m2_error *err)
{
    struct mock_handle *self = handle;

    (void)args;
    self->in_step = 0;
    return refuse_in_step(self, "STEP_END", err);
}

static int mock_alloc(void *handle, void *args, struct m2_error *err)
{
    struct mock_handle *self = handle;
    int rc = refuse_in_step(self, "ALLOC", err);

    if (rc != M2_OK)
        return rc;
    if (++self->allocs == self->settings.fail_alloc)
        return m2_fail(err, M2_E_MEMORY, "mock: out of memory at alloc %d",
                       self->allocs);
    return ref_alloc(handle, args, err);
}

/* A deferred op may still use the buffer. */
static int mock_free(void *handle, void *args, struct m2_error *err)
{
    struct mock_handle *self = handle;

    if (self->first == NULL)
        return ref_free(handle, args, err);
    if (mock_defer(self, ref_free, args, sizeof(struct m2_free), 0) == NULL)
        return m2_fail(err, M2_E_MEMORY, "mock: out of memory");
    return M2_OK;
}

/* A deferred upload keeps the bytes behind its arguments. */
static int defer_upload(struct mock_handle *self,
                        const struct m2_transfer *upload, struct m2_error *err)
{
    struct mock_call *call =
        mock_defer(self, ref_upload, upload, sizeof *upload, upload->bytes);
    void *bytes;

    if (call == NULL)
        return m2_fail(err, M2_E_MEMORY, "mock: out of memory");
    bytes = call->args + sizeof *upload;
    memcpy(bytes, upload->host, upload->bytes);
    memcpy(call->args + offsetof(struct m2_transfer, host), &bytes,
           sizeof bytes);
    return M2_OK;
}

static int mock_upload(void *handle, void *args, struct m2_error *err)
{
    struct mock_handle *self = handle;

    if (++self->uploads == self->settings.fail_upload)
        return m2_fail(err, M2_E_FAILED, "mock: fault at upload %d",
                       self->uploads);
    return self->settings.defer ? defer_upload(self, args, err)
                                : ref_upload(handle, args, err);
}

static int mock_download(void *handle, void *args, struct m2_error *err)
{
    struct mock_handle *self = handle;
    int rc = refuse_in_step(self, "DOWNLOAD", err);

    if (rc == M2_OK)
        rc = mock_flush(self, err);

    if (rc != M2_OK)
        return rc;
    if (++self->downloads == self->settings.fail_download)
        return m2_fail(err, M2_E_FAILED, "mock: fault at download %d",
                       self->downloads);
    return ref_download(handle, args, err);
}

static int mock_sync(void *handle, void *args, struct m2_error *err)
{
    int rc = refuse_in_step(handle, "SYNC", err);

    (void)args;
    return rc != M2_OK ? rc : mock_flush(handle, err);
}

static int mock_supports(void *handle, void *args, struct m2_error *err)
{
    const struct mock_handle *self = handle;
    const struct m2_query *query = args;

    if (query->op == self->settings.refuse)
        return m2_fail(err, M2_E_UNSUPPORTED,
                       "mock: op %d is refused, as "
                       "ordered",
                       query->op);
    return ref_supports(handle, args, err);
}

static int mock_reserve(void *handle, void *args, struct m2_error *err)
{
    const struct mock_handle *self = handle;
    int rc = refuse_in_step(self, "RESERVE", err);

    if (rc != M2_OK)
        return rc;
    if (self->settings.fail_reserve)
        return m2_fail(err, M2_E_MEMORY, "mock: out of memory at reserve");
    return ref_reserve(handle, args, err);
}

#define MOCK_OP(name, type)                                                    \
    static int mock_##name(void *handle, void *args, struct m2_error *err)     \
    {                                                                          \
        return mock_op(handle, M2_OP_##name, ref_##name, sizeof(struct type),  \
                       args, err);                                             \
    }
M2_OPS(MOCK_OP)
#undef MOCK_OP

#define MOCK_SLOT(name, type)                                                  \
    [M2_SLOT_FIRST_OP + M2_OP_##name] = {mock_##name, sizeof(struct type)},

static const struct m2_slot slots[M2_BACKEND_N_SLOTS] = {
    [M2_SLOT_DEVICES] = {mock_devices, sizeof(struct m2_devices)},
    [M2_SLOT_OPEN] = {mock_open, sizeof(struct m2_open)},
    [M2_SLOT_CLOSE] = {mock_close, 0},
    [M2_SLOT_ALLOC] = {mock_alloc, sizeof(struct m2_alloc)},
    [M2_SLOT_FREE] = {mock_free, sizeof(struct m2_free)},
    [M2_SLOT_UPLOAD] = {mock_upload, sizeof(struct m2_transfer)},
    [M2_SLOT_DOWNLOAD] = {mock_download, sizeof(struct m2_transfer)},
    [M2_SLOT_SYNC] = {mock_sync, 0},
    [M2_SLOT_SUPPORTS] = {mock_supports, sizeof(struct m2_query)},
    [M2_SLOT_WORKSPACE] = {ref_workspace_query, sizeof(struct m2_query)},
    [M2_SLOT_RESERVE] = {mock_reserve, sizeof(struct m2_reserve)},
    [M2_SLOT_STEP_BEGIN] = {mock_step_begin, 0},
    [M2_SLOT_STEP_END] = {mock_step_end, 0},
    M2_OPS(MOCK_SLOT)};

#define MOCK_DESCRIPTOR(number)                                                \
    {                                                                          \
        .size = sizeof(struct m2_plugin), .abi = M2_PLUGIN_ABI,                \
        .kind = M2_PLUGIN_BACKEND, .name = "mock",                             \
        .build = "mock of the reference backend", .numerics = (number),        \
        .n_slots = M2_BACKEND_N_SLOTS, .slots = slots,                         \
        .help = "Defers calls and fails on order; for tests.",                 \
    }

/* As it is, and as a later build whose bits differ would be. */
static const struct m2_plugin descriptors[] = {MOCK_DESCRIPTOR(1),
                                               MOCK_DESCRIPTOR(2)};

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    struct mock_settings settings;

    (void)host;
    mock_settings_read(&settings, NULL);
    return &descriptors[settings.numerics == 2];
}
