/* handle.c: an open device, its memory and its scratch. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/cpu/cpu.h"

/* From this size on memory is asked for in huge pages: a matrix product walks
 * over hundreds of pages at once. */
#define HUGE_FROM ((size_t)2 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

static char *memory_take(size_t bytes)
{
    size_t align = bytes >= HUGE_FROM ? HUGE_PAGE : 128;
    void *memory;

    if (posix_memalign(&memory, align, bytes > 0 ? bytes : 1) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_FROM)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

static int self_test(struct handle *h, struct m2_error *err)
{
    double error = h->variant->self_test(h);

    if (error < 0)
        return m2_fail(err, M2_E_MEMORY, "cpu: no memory for the self-test");
    if (!(error <= 1))
        return m2_fail(err, M2_E_DEVICE,
                       "cpu: a matrix product of the %s variant is wrong on "
                       "this machine: its error is %.3g times what rounding "
                       "may cause; nothing was run",
                       h->variant->isa, error);
    return M2_OK;
}

static int check_open(const struct m2_open *wanted, struct m2_error *err)
{
    if (wanted->index != 0)
        return m2_fail(err, M2_E_DEVICE,
                       "cpu: device %d does not exist, there is only 0",
                       wanted->index);
    if (wanted->real != M2_F32 && wanted->real != M2_F64)
        return m2_fail(err, M2_E_UNSUPPORTED,
                       "cpu: real type %d is not supported, only f32 and f64",
                       (int)wanted->real);
    if (wanted->threads < 1)
        return m2_fail(err, M2_E_ARGUMENT, "cpu: opened with %d threads",
                       wanted->threads);
    return M2_OK;
}

static void handle_free(struct handle *h)
{
    free(h->ranges);
    free(h->scratch);
    free(h);
}

int cpu_open(void *handle, void *args, struct m2_error *err)
{
    struct m2_open *wanted = args;
    struct handle *h;
    int code = check_open(wanted, err);

    (void)handle;
    if (code != M2_OK)
        return code;
    h = calloc(1, sizeof *h);
    if (h == NULL)
        return m2_fail(err, M2_E_MEMORY, "cpu: no memory for a handle");
    h->threads = wanted->threads;
    h->ranges = (void *)memory_take((size_t)h->threads * sizeof *h->ranges);
    if (h->ranges == NULL) {
        free(h);
        return m2_fail(err, M2_E_MEMORY, "cpu: no memory for a handle");
    }
    code = variant_choose(wanted->real, &h->variant, err);
    if (code == M2_OK && h->variant->openblas)
        code = openblas_prepare(h->threads, err);
    if (code == M2_OK)
        code = self_test(h, err);
    if (code != M2_OK) {
        handle_free(h);
        return code;
    }
    wanted->handle_out = h;
    return M2_OK;
}

int cpu_close(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = handle;

    (void)args;
    if (h->buffers > 0)
        return m2_fail(err, M2_E_INTERNAL,
                       "cpu: close with %zu buffers still allocated",
                       h->buffers);
    handle_free(h);
    return M2_OK;
}

int cpu_alloc(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = handle;
    struct m2_alloc *alloc = args;
    struct m2_buffer *buffer = malloc(sizeof *buffer);
    char *data = buffer == NULL ? NULL : memory_take(alloc->bytes);

    if (data == NULL) {
        free(buffer);
        return m2_fail(err, M2_E_MEMORY, "cpu: no memory for %zu bytes",
                       alloc->bytes);
    }
    buffer->head.handle = h;
    buffer->head.bytes = alloc->bytes;
    buffer->data = data;
    h->buffers++;
    alloc->buffer_out = buffer;
    return M2_OK;
}

int cpu_free(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = handle;
    struct m2_buffer *buffer = ((struct m2_free *)args)->buffer;

    if (buffer == NULL)
        return M2_OK;
    if (buffer->head.handle != h)
        return m2_fail(err, M2_E_ARGUMENT,
                       "cpu: free of a buffer of another handle");
    free(buffer->data);
    free(buffer);
    h->buffers--;
    return M2_OK;
}

static int check_transfer(const char *what, const struct handle *h,
                          const struct m2_transfer *transfer,
                          struct m2_error *err)
{
    const struct m2_buffer_head *head = &transfer->buffer->head;

    if (head->handle != h)
        return m2_fail(err, M2_E_ARGUMENT,
                       "cpu: %s with a buffer of another handle", what);
    if (transfer->offset > head->bytes ||
        transfer->bytes > head->bytes - transfer->offset)
        return m2_fail(err, M2_E_ARGUMENT,
                       "cpu: %s of %zu bytes at %zu, but the buffer has %zu",
                       what, transfer->bytes, transfer->offset, head->bytes);
    return M2_OK;
}

int cpu_upload(void *handle, void *args, struct m2_error *err)
{
    const struct m2_transfer *transfer = args;
    int code = check_transfer("upload", handle, transfer, err);

    if (code == M2_OK && transfer->bytes > 0)
        memcpy(transfer->buffer->data + transfer->offset, transfer->host,
               transfer->bytes);
    return code;
}

int cpu_download(void *handle, void *args, struct m2_error *err)
{
    const struct m2_transfer *transfer = args;
    int code = check_transfer("download", handle, transfer, err);

    if (code == M2_OK && transfer->bytes > 0)
        memcpy(transfer->host, transfer->buffer->data + transfer->offset,
               transfer->bytes);
    return code;
}

/* Every op has finished when its call returns. */
int cpu_sync(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)args;
    (void)err;
    return M2_OK;
}

int cpu_supports(void *handle, void *args, struct m2_error *err)
{
    const struct m2_query *query = args;

    (void)handle;
    if (query->op < 0 || query->op >= M2_N_OPS)
        return m2_fail(err, M2_E_UNSUPPORTED, "cpu: op %d is not known",
                       query->op);
    return M2_OK;
}

int cpu_workspace(void *handle, void *args, struct m2_error *err)
{
    const struct handle *h = handle;
    struct m2_query *query = args;
    workspace_fn workspace;
    int code = cpu_supports(handle, args, err);

    if (code != M2_OK)
        return code;
    workspace = h->variant->ops[query->op].workspace;
    query->bytes_out = workspace == NULL ? 0 : workspace(h, query->args);
    return M2_OK;
}

int cpu_reserve(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = handle;
    const struct m2_reserve *reserve = args;
    char *scratch;

    if (reserve->bytes <= h->scratch_bytes)
        return M2_OK;
    scratch = memory_take(reserve->bytes);
    if (scratch == NULL)
        return m2_fail(err, M2_E_MEMORY, "cpu: no memory for %zu scratch bytes",
                       reserve->bytes);
    free(h->scratch);
    h->scratch = scratch;
    h->scratch_bytes = reserve->bytes;
    return M2_OK;
}
