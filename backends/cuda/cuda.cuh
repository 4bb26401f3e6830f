/* What the files of the CUDA backend share.
 *
 * A handle is one stream on one device, with one cuBLAS handle.  Everything is
 * enqueued on that stream, so ops run in the order of their calls.
 *
 * Steps.  Between STEP_BEGIN and STEP_END ops and uploads are only recorded.
 * A list of calls that comes back is captured as a graph and then replayed by
 * one launch (step.cu).  Outside of a step an op runs when it is called.
 *
 * Bits.  Every sum has an order that depends on shapes alone: no atomics on
 * numbers, fixed block sizes, partial sums added in order, cuBLAS with its own
 * workspace and pedantic math.  So the same build on the same device gives the
 * same bits, captured or not.
 *
 * An op is three functions, named after it (OP_DECLARE below):
 *   op_NAME<R>        enqueues its kernels for the real type R
 *   scratch_NAME      bytes of h->scratch that it needs (0 mostly)
 * and takes its arguments as they passed the runner's checks: shapes fit,
 * buffers are this handle's, and no dimension exceeds INT32_MAX (query.cu). */
#ifndef M2_CUDA_CUDA_CUH
#define M2_CUDA_CUDA_CUH

#include "backends/cuda/launch.cuh"
#include "backends/cuda/slots.h"

struct m2_buffer {
    struct m2_buffer_head head; /* first: the runner's checks read it */
    char *data;                 /* device memory, aligned to 256 bytes */
};

struct stage; /* memory.cu: pinned memory that transfers go through */
struct steps; /* step.cu: what is recorded, and the graphs */

struct handle {
    int index;
    enum m2_dtype real;
    cudaStream_t stream;
    cublasHandle_t blas;
    char *blas_workspace; /* device memory */
    size_t buffers;       /* not yet freed */
    char *scratch;        /* device memory, aligned to 256 bytes */
    size_t scratch_bytes;
    struct stage *stage;
    struct steps *steps;
};

/* ---- error.cu: CUDA's own words ---------------------------------------- */

/* M2_OK, or the failure of `what` ("download", "op ssd"): out of memory is
 * M2_E_MEMORY, everything else M2_E_DEVICE. */
int cuda_check(cudaError_t result, const char *what, struct m2_error *err);
int blas_check(cublasStatus_t result, const char *what, struct m2_error *err);

/* ---- memory.cu ----------------------------------------------------------- */

int stage_create(struct handle *h, struct m2_error *err);
void stage_free(struct handle *h);

/* *out for cudaFree.  M2_E_MEMORY tells how much was free. */
int device_memory(size_t bytes, char **out, struct m2_error *err);

/* ---- step.cu ------------------------------------------------------------- */

int steps_create(struct handle *h, struct m2_error *err);
void steps_free(struct handle *h);
/* Runs what is recorded: before anything that cannot be part of a graph. */
int steps_flush(struct handle *h, struct m2_error *err);
/* Also forgets all graphs: their addresses are about to become invalid. */
int steps_forget(struct handle *h, struct m2_error *err);
/* Records an upload within a step; *taken is false where the caller has to do
 * it (no step, or too large). */
int steps_upload(struct handle *h, const struct m2_transfer *upload,
                 bool *taken, struct m2_error *err);

/* ---- table.cu: the ops ----------------------------------------------------
 */

#define OP_DECLARE(name, type)                                                 \
    template <class R>                                                         \
    int op_##name(struct handle *h, const struct type *a,                      \
                  struct m2_error *err);                                       \
    size_t scratch_##name(const struct handle *h, const struct type *a);
M2_OPS(OP_DECLARE)
#undef OP_DECLARE

/* At the end of an op's file: both real types, and no scratch. */
#define OP_INSTANTIATE(name, type)                                             \
    template int op_##name<float>(struct handle *, const struct type *,        \
                                  struct m2_error *);                          \
    template int op_##name<double>(struct handle *, const struct type *,       \
                                   struct m2_error *);
#define OP_NO_SCRATCH(name, type)                                              \
    size_t scratch_##name(const struct handle *, const struct type *)          \
    {                                                                          \
        return 0;                                                              \
    }

const char *op_name(int op);
int op_run(struct handle *h, int op, const void *args, struct m2_error *err);
size_t op_scratch(const struct handle *h, int op, const void *args);
size_t op_args_size(int op);

/* ---- views ------------------------------------------------------------------
 */

/* A view as kernels see it: element (i, j) is data[i*ld + j]; data is NULL for
 * an absent one. */
template <class T> struct matrix {
    T *data;
    int64_t rows, cols, ld;

    __host__ __device__ T &at(int64_t i, int64_t j) const
    {
        return data[i * ld + j];
    }
};

template <class T> static inline matrix<T> matrix_of(const struct m2_view &view)
{
    matrix<T> m = {NULL, view.rows, view.cols, view.ld};

    if (view.buffer != NULL)
        m.data = (T *)view.buffer->data + view.offset;
    return m;
}

/* ---- small helpers
 * ------------------------------------------------------------ */

static __host__ __device__ inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* The next `bytes` of scratch, at a multiple of 256; *at counts them.  A
 * scratch_ function calls it with a NULL base to find the sum. */
static inline char *scratch_take(char *base, size_t *at, size_t bytes)
{
    size_t begin = *at;

    *at += (bytes + 255) / 256 * 256;
    return base == NULL ? NULL : base + begin;
}

/* Launch shape of kernels that walk a matrix: x over columns in blocks of 256,
 * y over rows, which strides by gridDim.y. */
enum { MAP_BLOCK = 256 };

static inline dim3 map_grid(int64_t rows, int64_t cols)
{
    return dim3((unsigned)ceil_div(cols, MAP_BLOCK),
                (unsigned)(rows < MAX_GRID_Y ? rows : MAX_GRID_Y));
}

#endif
