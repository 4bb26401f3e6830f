/* One training step as one launch.
 *
 * Within a step, ops and uploads go into a list of records: the op's number
 * and its arguments, free of padding, or an upload with the place of its bytes
 * in a pinned page.  At STEP_END the list is looked up among those of earlier
 * steps.  New: its records run one by one.  Seen once: they run into a stream
 * capture, which becomes a graph.  With a graph: one launch, for which only
 * the bytes in the pinned page are new.
 *
 * A full batch, the smaller last one of an epoch, and few others come back; so
 * a handful of lists is kept, and the one used longest ago makes room. */
#include "backends/cuda/members.cuh"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_LISTS = 4,
    UPLOAD_PAGE = 1 << 20, /* bytes that one step may upload */
    UPLOAD = -1,           /* a record's op */
};

/* Records, one after the other: struct record, then its arguments. */
struct list {
    char *bytes;
    size_t used, room;
};

struct record {
    int64_t op;   /* enum m2_op, or UPLOAD with a struct upload */
    size_t bytes; /* of the arguments, a multiple of 8 */
};

struct upload {
    char *to = nullptr;
    size_t page_offset, bytes;
};

struct known {
    struct list list;
    cudaGraphExec_t graph; /* NULL: seen once */
    uint64_t last_used;
};

struct steps {
    bool recording;
    struct list now;
    struct known known[MAX_LISTS];
    uint64_t clock;
    char *page; /* pinned: what the uploads of this step bring */
    size_t page_used;
    cudaEvent_t page_free;
};

int steps_create(struct handle *h, struct m2_error *err)
{
    struct steps *steps = (struct steps *)calloc(1, sizeof *steps);
    int code;

    if (steps == NULL)
        return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": no memory");
    h->steps = steps;
    code = cuda_check(cudaMallocHost(&steps->page, UPLOAD_PAGE),
                      "pinned memory", err);
    return code != M2_OK
               ? code
               : cuda_check(cudaEventCreateWithFlags(&steps->page_free,
                                                     cudaEventDisableTiming),
                            "event", err);
}

static void forget(struct known *known)
{
    if (known->graph != NULL)
        (void)cudaGraphExecDestroy(known->graph);
    free(known->list.bytes);
    memset(known, 0, sizeof *known);
}

void steps_free(struct handle *h)
{
    struct steps *steps = h->steps;

    if (steps == NULL)
        return;
    for (int i = 0; i < MAX_LISTS; i++)
        forget(&steps->known[i]);
    if (steps->page_free != NULL)
        (void)cudaEventDestroy(steps->page_free);
    (void)cudaFreeHost(steps->page);
    free(steps->now.bytes);
    free(steps);
}

/* ---- recording ---------------------------------------------------------- */

/* Room for one more record; its arguments are to be written at *out. */
static int append(struct list *list, int op, size_t bytes, char **out,
                  struct m2_error *err)
{
    size_t padded = (bytes + 7) / 8 * 8;
    size_t need = list->used + sizeof(struct record) + padded;
    struct record *record;

    if (need > list->room) {
        size_t room = 2 * need;
        char *bigger = (char *)realloc(list->bytes, room);

        if (bigger == NULL)
            return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": no memory");
        list->bytes = bigger;
        list->room = room;
    }
    record = (struct record *)(list->bytes + list->used);
    record->op = op;
    record->bytes = padded;
    *out = (char *)(record + 1);
    list->used = need;
    return M2_OK;
}

static void copy_arguments(int op, char *to, const void *args)
{
    switch (op) {
#define COPY(name, type)                                                       \
    case M2_OP_##name:                                                         \
        copy_members(to, *(const struct type *)args);                          \
        break;
        M2_OPS(COPY)
#undef COPY
    default:
        break;
    }
}

int cuda_op(void *handle, int op, const void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    char *to = nullptr;
    int code;

    if (!h->steps->recording) {
        code = cuda_check(cudaSetDevice(h->index), "select device", err);
        return code != M2_OK ? code : op_run(h, op, args, err);
    }
    code = append(&h->steps->now, op, op_args_size(op), &to, err);
    if (code == M2_OK)
        copy_arguments(op, to, args);
    return code;
}

int steps_upload(struct handle *h, const struct m2_transfer *t, bool *taken,
                 struct m2_error *err)
{
    struct steps *steps = h->steps;
    struct upload upload = {t->buffer->data + t->offset, steps->page_used,
                            t->bytes};
    char *to = nullptr;
    int code;

    *taken = false;
    if (!steps->recording)
        return M2_OK;
    if (t->bytes > UPLOAD_PAGE - steps->page_used)
        return steps_flush(h, err);
    code = append(&steps->now, UPLOAD, sizeof upload, &to, err);
    if (code != M2_OK)
        return code;
    memcpy(to, &upload, sizeof upload);
    memcpy(steps->page + steps->page_used, t->host, t->bytes);
    steps->page_used += (t->bytes + 255) / 256 * 256;
    if (steps->page_used > UPLOAD_PAGE)
        steps->page_used = UPLOAD_PAGE;
    *taken = true;
    return M2_OK;
}

/* ---- running --------------------------------------------------------------
 */

static int run_upload(struct handle *h, const struct upload *upload,
                      struct m2_error *err)
{
    return cuda_check(
        cudaMemcpyAsync(upload->to, h->steps->page + upload->page_offset,
                        upload->bytes, cudaMemcpyHostToDevice, h->stream),
        "upload", err);
}

static int run_list(struct handle *h, const struct list *list,
                    struct m2_error *err)
{
    int code = M2_OK;

    for (size_t at = 0; code == M2_OK && at < list->used;) {
        const struct record *record = (const struct record *)(list->bytes + at);

        if (record->op == UPLOAD)
            code = run_upload(h, (const struct upload *)(record + 1), err);
        else
            code = op_run(h, (int)record->op, record + 1, err);
        at += sizeof *record + record->bytes;
    }
    return code;
}

/* The pinned page must not change before its copies are done. */
static int mark_page(struct handle *h, struct m2_error *err)
{
    return cuda_check(cudaEventRecord(h->steps->page_free, h->stream), "step",
                      err);
}

int steps_flush(struct handle *h, struct m2_error *err)
{
    struct steps *steps = h->steps;
    int code;

    if (!steps->recording)
        return M2_OK;
    steps->recording = false;
    code = run_list(h, &steps->now, err);
    return code != M2_OK ? code : mark_page(h, err);
}

int steps_forget(struct handle *h, struct m2_error *err)
{
    int code = steps_flush(h, err);

    /* a graph that still runs may not be destroyed */
    if (code == M2_OK)
        code = cuda_check(cudaStreamSynchronize(h->stream), "step", err);
    for (int i = 0; i < MAX_LISTS; i++)
        forget(&h->steps->known[i]);
    return code;
}

/* ---- graphs -----------------------------------------------------------------
 */

/* Runs the list into a graph instead of the device. */
static int capture(struct handle *h, const struct list *list,
                   cudaGraphExec_t *out, struct m2_error *err)
{
    cudaGraph_t graph = NULL;
    int code = cuda_check(
        cudaStreamBeginCapture(h->stream, cudaStreamCaptureModeThreadLocal),
        "capture", err);
    cudaError_t end;

    if (code != M2_OK)
        return code;
    code = run_list(h, list, err);
    end = cudaStreamEndCapture(h->stream, &graph); /* also after an error */
    if (code == M2_OK)
        code = cuda_check(end, "capture", err);
    if (code == M2_OK)
        code = cuda_check(cudaGraphInstantiate(out, graph, 0),
                          "graph of the step", err);
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
    return code;
}

static bool same(const struct list *a, const struct list *b)
{
    return a->used == b->used && memcmp(a->bytes, b->bytes, a->used) == 0;
}

static struct known *find(struct steps *steps)
{
    for (int i = 0; i < MAX_LISTS; i++)
        if (steps->known[i].list.used > 0 &&
            same(&steps->known[i].list, &steps->now))
            return &steps->known[i];
    return NULL;
}

/* Keeps the list of this step in the place used longest ago. */
static int keep(struct steps *steps, struct m2_error *err)
{
    struct known *oldest = &steps->known[0];
    char *bytes = (char *)malloc(steps->now.used);

    if (bytes == NULL)
        return m2_fail(err, M2_E_MEMORY, M2_CUDA_NAME ": no memory");
    for (int i = 1; i < MAX_LISTS; i++)
        if (steps->known[i].last_used < oldest->last_used)
            oldest = &steps->known[i];
    forget(oldest);
    memcpy(bytes, steps->now.bytes, steps->now.used);
    oldest->list.bytes = bytes;
    oldest->list.used = oldest->list.room = steps->now.used;
    oldest->last_used = ++steps->clock;
    return M2_OK;
}

static int replay(struct handle *h, struct known *known, struct m2_error *err)
{
    int code = M2_OK;

    if (known->graph == NULL)
        code = capture(h, &known->list, &known->graph, err);
    known->last_used = ++h->steps->clock;
    return code != M2_OK ? code
                         : cuda_check(cudaGraphLaunch(known->graph, h->stream),
                                      "step", err);
}

int cuda_step_begin(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    struct steps *steps = h->steps;
    int code = cuda_check(cudaSetDevice(h->index), "select device", err);

    (void)args;
    if (code == M2_OK)
        code = steps_flush(h, err);
    if (code == M2_OK)
        code = cuda_check(cudaEventSynchronize(steps->page_free), "step", err);
    if (code != M2_OK)
        return code;
    steps->now.used = 0;
    steps->page_used = 0;
    steps->recording = true;
    return M2_OK;
}

int cuda_step_end(void *handle, void *args, struct m2_error *err)
{
    struct handle *h = (struct handle *)handle;
    struct steps *steps = h->steps;
    struct known *known;
    int code;

    (void)args;
    if (!steps->recording || steps->now.used == 0) {
        steps->recording = false;
        return M2_OK;
    }
    code = cuda_check(cudaSetDevice(h->index), "select device", err);
    if (code != M2_OK)
        return code;
    known = find(steps);
    if (known == NULL) {
        code = keep(steps, err);
        return code != M2_OK ? code : steps_flush(h, err);
    }
    steps->recording = false;
    code = replay(h, known, err);
    return code != M2_OK ? code : mark_page(h, err);
}
