/* The one device of the reference backend, its memory and its queries. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/ref/internal.h"

int ref_devices(void *handle, void *args, struct m2_error *err)
{
    struct m2_devices *devices = args;
    (void)handle;
    devices->count_out = 1;
    if (devices->index == -1)
        return M2_OK;
    if (devices->index != 0)
        return m2_fail(err, M2_E_DEVICE,
                       "ref: device %d does not exist, there is only 0",
                       devices->index);
    long page = sysconf(_SC_PAGESIZE);
    long pages = sysconf(_SC_PHYS_PAGES);
    long available = sysconf(_SC_AVPHYS_PAGES);
    struct m2_device_facts *facts = &devices->facts_out;
    memset(facts, 0, sizeof *facts);
    snprintf(facts->name, sizeof facts->name, "host CPU, one core");
    snprintf(facts->facts, sizeof facts->facts,
             "plain C, sums in f64, recurrent scan");
    facts->memory_bytes = (uint64_t)pages * (uint64_t)page;
    facts->memory_free_bytes = (uint64_t)available * (uint64_t)page;
    return M2_OK;
}

int ref_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_open *open_args = args;
    (void)handle;
    if (open_args->index != 0)
        return m2_fail(err, M2_E_DEVICE,
                       "ref: device %d does not exist, there is only 0",
                       open_args->index);
    if (open_args->real != M2_F32 && open_args->real != M2_F64)
        return m2_fail(err, M2_E_UNSUPPORTED,
                       "ref: real type %d is not supported, only f32 and f64",
                       (int)open_args->real);
    struct ref_handle *opened = calloc(1, sizeof *opened);
    if (opened == NULL)
        return m2_fail(err, M2_E_MEMORY, "ref: no memory for a handle");
    opened->real = open_args->real;
    open_args->handle_out = opened;
    return M2_OK;
}

int ref_close(void *handle, void *args, struct m2_error *err)
{
    struct ref_handle *self = handle;
    (void)args;
    if (self->buffers > 0)
        return m2_fail(err, M2_E_INTERNAL,
                       "ref: close with %zu buffers still allocated",
                       self->buffers);
    free(self->scratch);
    free(self);
    return M2_OK;
}

int ref_alloc(void *handle, void *args, struct m2_error *err)
{
    struct ref_handle *self = handle;
    struct m2_alloc *alloc = args;
    struct m2_buffer *buffer = NULL;

    if (alloc->bytes <= SIZE_MAX - sizeof *buffer)
        buffer = malloc(sizeof *buffer + alloc->bytes);
    if (buffer == NULL)
        return m2_fail(err, M2_E_MEMORY, "ref: no memory for %zu bytes",
                       alloc->bytes);
    buffer->head.handle = self;
    buffer->head.bytes = alloc->bytes;
    /* All bits set is a NaN in both real types. */
    memset(buffer->bytes, 0xff, alloc->bytes);
    self->buffers++;
    alloc->buffer_out = buffer;
    return M2_OK;
}

int ref_free(void *handle, void *args, struct m2_error *err)
{
    struct ref_handle *self = handle;
    struct m2_free *free_args = args;
    if (free_args->buffer == NULL)
        return M2_OK;
    if (free_args->buffer->head.handle != handle)
        return m2_fail(err, M2_E_ARGUMENT,
                       "ref: free of a buffer of another handle");
    self->buffers--;
    free(free_args->buffer);
    return M2_OK;
}

static int check_transfer(const char *what, void *handle,
                          const struct m2_transfer *transfer,
                          struct m2_error *err)
{
    const struct m2_buffer_head *head = &transfer->buffer->head;
    if (head->handle != handle)
        return m2_fail(err, M2_E_ARGUMENT,
                       "ref: %s with a buffer of another handle", what);
    if (transfer->offset > head->bytes ||
        transfer->bytes > head->bytes - transfer->offset)
        return m2_fail(err, M2_E_ARGUMENT,
                       "ref: %s of %zu bytes at %zu, but the buffer has %zu",
                       what, transfer->bytes, transfer->offset, head->bytes);
    return M2_OK;
}

int ref_upload(void *handle, void *args, struct m2_error *err)
{
    const struct m2_transfer *transfer = args;
    int code = check_transfer("upload", handle, transfer, err);
    if (code == M2_OK && transfer->bytes > 0)
        memcpy(transfer->buffer->bytes + transfer->offset, transfer->host,
               transfer->bytes);
    return code;
}

int ref_download(void *handle, void *args, struct m2_error *err)
{
    const struct m2_transfer *transfer = args;
    int code = check_transfer("download", handle, transfer, err);
    if (code == M2_OK && transfer->bytes > 0)
        memcpy(transfer->host, transfer->buffer->bytes + transfer->offset,
               transfer->bytes);
    return code;
}

int ref_sync(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)args;
    (void)err;
    return M2_OK; /* every op has finished when it returns */
}

int ref_supports(void *handle, void *args, struct m2_error *err)
{
    const struct m2_query *query = args;
    (void)handle;
    if (query->op < 0 || query->op >= M2_N_OPS)
        return m2_fail(err, M2_E_UNSUPPORTED, "ref: op %d is not known",
                       query->op);
    return M2_OK;
}

int ref_workspace_query(void *handle, void *args, struct m2_error *err)
{
    struct m2_query *query = args;
    (void)handle;
    size_t doubles = ref_workspace(query->op, query->args);
    if (doubles > SIZE_MAX / sizeof(double))
        return m2_fail(err, M2_E_MEMORY,
                       "ref: the scratch of op %d is beyond the address space",
                       query->op);
    query->bytes_out = doubles * sizeof(double);
    return M2_OK;
}

int ref_reserve(void *handle, void *args, struct m2_error *err)
{
    struct ref_handle *self = handle;
    const struct m2_reserve *reserve = args;

    if (reserve->bytes <= self->scratch_bytes)
        return M2_OK;
    double *scratch = realloc(self->scratch, reserve->bytes);
    if (scratch == NULL)
        return m2_fail(err, M2_E_MEMORY, "ref: no memory for %zu scratch bytes",
                       reserve->bytes);
    self->scratch = scratch;
    self->scratch_bytes = reserve->bytes;
    return M2_OK;
}
