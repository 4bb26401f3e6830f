/* Device memory, and the way of bytes to and from it.
 *
 * Transfers go through two pinned pages: only from pinned memory is a copy
 * asynchronous, and an upload has to take the caller's bytes before it
 * returns.  While one page is on its way, the other is filled. */
#include "backends/cuda/cuda.cuh"

#include <stdlib.h>
#include <string.h>

enum { STAGE_PAGE = 1 << 20, STAGE_PAGES = 2 };

struct stage {
    char *page[STAGE_PAGES];          /* pinned */
    cudaEvent_t free_at[STAGE_PAGES]; /* its last copy is done */
    int next;
};

int stage_create(struct handle *h, struct m2_error *err)
{
    struct stage *stage = (struct stage *)calloc(1, sizeof *stage);
    int code = M2_OK;

    if (stage == NULL)
        return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": no memory");
    h->stage = stage;
    for (int i = 0; code == M2_OK && i < STAGE_PAGES; i++) {
        code = cuda_check(cudaMallocHost(&stage->page[i], STAGE_PAGE),
                          "pinned memory", err);
        if (code == M2_OK)
            code = cuda_check(cudaEventCreateWithFlags(&stage->free_at[i],
                                                       cudaEventDisableTiming),
                              "event", err);
    }
    return code;
}

void stage_free(struct handle *h)
{
    struct stage *stage = h->stage;

    if (stage == NULL)
        return;
    for (int i = 0; i < STAGE_PAGES; i++) {
        if (stage->free_at[i] != NULL)
            (void)cudaEventDestroy(stage->free_at[i]);
        (void)cudaFreeHost(stage->page[i]);
    }
    free(stage);
}

static int take_page(struct handle *h, int *out, struct m2_error *err)
{
    struct stage *stage = h->stage;

    *out = stage->next;
    stage->next = (stage->next + 1) % STAGE_PAGES;
    return cuda_check(cudaEventSynchronize(stage->free_at[*out]), "upload",
                      err);
}

/* Enqueues one page's worth of an upload. */
static int send(struct handle *h, char *to, const char *from, size_t bytes,
                struct m2_error *err)
{
    struct stage *stage = h->stage;
    int page, code = take_page(h, &page, err);

    if (code != M2_OK)
        return code;
    memcpy(stage->page[page], from, bytes);
    code = cuda_check(cudaMemcpyAsync(to, stage->page[page], bytes,
                                      cudaMemcpyHostToDevice, h->stream),
                      "upload", err);
    return code != M2_OK
               ? code
               : cuda_check(cudaEventRecord(stage->free_at[page], h->stream),
                            "upload", err);
}

static int check_transfer(const struct handle *h, const char *what,
                          const struct m2_transfer *t, struct m2_error *err)
{
    const struct m2_buffer_head *head = &t->buffer->head;

    if (head->handle != h)
        return m2_fail(err, M2_E_ARGUMENT,
                       M2_CUDA_NAME ": %s with a buffer of another handle",
                       what);
    if (t->offset > head->bytes || t->bytes > head->bytes - t->offset)
        return m2_fail(err, M2_E_ARGUMENT,
                       M2_CUDA_NAME ": %s of %zu bytes at %zu, the buffer has "
                                    "%zu",
                       what, t->bytes, t->offset, head->bytes);
    return M2_OK;
}

int cuda_upload(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    const struct m2_transfer *t = (const struct m2_transfer *)args;
    bool taken = false;
    int code = check_transfer(h, "upload", t, err);

    if (code == M2_OK)
        code = cuda_check(cudaSetDevice(h->index), "select device", err);
    if (code == M2_OK)
        code = steps_upload(h, t, &taken, err);
    if (code != M2_OK || taken)
        return code;
    for (size_t done = 0; code == M2_OK && done < t->bytes;
         done += STAGE_PAGE) {
        size_t left = t->bytes - done;

        code = send(h, t->buffer->data + t->offset + done,
                    (const char *)t->host + done,
                    left < STAGE_PAGE ? left : (size_t)STAGE_PAGE, err);
    }
    return code;
}

/* Fetches a page's worth and waits for it. */
static int fetch(struct handle *h, char *to, const char *from, size_t bytes,
                 struct m2_error *err)
{
    struct stage *stage = h->stage;
    int page, code = take_page(h, &page, err);

    if (code == M2_OK)
        code = cuda_check(cudaMemcpyAsync(stage->page[page], from, bytes,
                                          cudaMemcpyDeviceToHost, h->stream),
                          "download", err);
    if (code == M2_OK)
        code = cuda_check(cudaStreamSynchronize(h->stream), "download", err);
    if (code == M2_OK)
        memcpy(to, stage->page[page], bytes);
    return code;
}

int cuda_download(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    const struct m2_transfer *t = (const struct m2_transfer *)args;
    int code = check_transfer(h, "download", t, err);

    if (code == M2_OK)
        code = cuda_check(cudaSetDevice(h->index), "select device", err);
    if (code == M2_OK)
        code = steps_flush(h, err);
    /* also for no bytes: a download waits for everything before it */
    if (code == M2_OK && t->bytes == 0)
        code = cuda_check(cudaStreamSynchronize(h->stream), "download", err);
    for (size_t done = 0; code == M2_OK && done < t->bytes;
         done += STAGE_PAGE) {
        size_t left = t->bytes - done;

        code =
            fetch(h, (char *)t->host + done, t->buffer->data + t->offset + done,
                  left < STAGE_PAGE ? left : (size_t)STAGE_PAGE, err);
    }
    return code;
}

int cuda_sync(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    int code = cuda_check(cudaSetDevice(h->index), "select device", err);

    (void)args;
    if (code == M2_OK)
        code = steps_flush(h, err);
    return code != M2_OK
               ? code
               : cuda_check(cudaStreamSynchronize(h->stream), "wait", err);
}

/* Out of memory with the numbers that tell why. */
static int no_memory(size_t bytes, struct m2_error *err)
{
    size_t free_bytes = 0, total = 0;

    (void)cudaGetLastError();
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess)
        return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": %zu bytes: %s", bytes,
                       cudaGetErrorString(cudaErrorMemoryAllocation));
    return m2_fail(err, M2_E_MEMORY,
                   M2_CUDA_NAME ": %zu bytes: %s; %zu of %zu bytes are free",
                   bytes, cudaGetErrorString(cudaErrorMemoryAllocation),
                   free_bytes, total);
}

int device_memory(size_t bytes, char **out, struct m2_error *err)
{
    cudaError_t result = cudaMalloc(out, bytes > 0 ? bytes : 1);

    if (result == cudaErrorMemoryAllocation)
        return no_memory(bytes, err);
    return cuda_check(result, "allocation", err);
}

int cuda_alloc(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    struct m2_alloc *alloc = (struct m2_alloc *)args;
    struct m2_buffer *buffer;
    int code = cuda_check(cudaSetDevice(h->index), "select device", err);

    if (code == M2_OK)
        code = steps_flush(h, err);
    if (code != M2_OK)
        return code;
    buffer = (struct m2_buffer *)calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": no memory");
    code = device_memory(alloc->bytes, &buffer->data, err);
    if (code != M2_OK) {
        free(buffer);
        return code;
    }
    buffer->head.handle = h;
    buffer->head.bytes = alloc->bytes;
    h->buffers++;
    alloc->buffer_out = buffer;
    return M2_OK;
}

/* The host's record goes even where the device is lost. */
int cuda_free(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    struct m2_buffer *buffer = ((struct m2_free *)args)->buffer;
    int code;

    if (buffer == NULL)
        return M2_OK;
    if (buffer->head.handle != h)
        return m2_fail(err, M2_E_ARGUMENT,
                       M2_CUDA_NAME ": free of a buffer of another handle");
    code = cuda_check(cudaSetDevice(h->index), "select device", err);
    if (code == M2_OK)
        code = steps_forget(h, err);
    if (code == M2_OK)
        code = cuda_check(cudaStreamSynchronize(h->stream), "free", err);
    if (code == M2_OK)
        code = cuda_check(cudaFree(buffer->data), "free", err);
    else
        (void)cudaFree(buffer->data);
    h->buffers--;
    free(buffer);
    return code;
}

int cuda_reserve(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    size_t bytes = ((struct m2_reserve *)args)->bytes;
    char *scratch = NULL;
    int code;

    if (bytes <= h->scratch_bytes)
        return M2_OK;
    code = cuda_check(cudaSetDevice(h->index), "select device", err);
    if (code == M2_OK)
        code = steps_forget(h, err);
    if (code == M2_OK)
        code = cuda_check(cudaStreamSynchronize(h->stream), "reserve", err);
    if (code != M2_OK)
        return code;
    /* first the old one goes: both together may not fit */
    code = cuda_check(cudaFree(h->scratch), "reserve", err);
    h->scratch = NULL;
    h->scratch_bytes = 0;
    if (code == M2_OK)
        code = device_memory(bytes, &scratch, err);
    if (code != M2_OK)
        return code;
    h->scratch = scratch;
    h->scratch_bytes = bytes;
    return M2_OK;
}
