/* What the files of the CPU backend share.
 *
 * One source, several variants.  Every file of ops is compiled once per real
 * type (f32, f64) and instruction set (base, avx2, avx512); real.h gives the
 * names their suffix.  A handle takes the best variant that the processor
 * has.  avx2 and avx512 do the same operations in the same order, so they give
 * the same bits; base has no fused multiply-add and differs by rounding.
 *
 * Bits.  Where a sum could be cut in several ways, the cut depends on the
 * shapes alone: fixed blocks, fixed lanes, partial sums added in order.  The
 * compiler neither fuses nor reassociates (-ffp-contract=off, no fast-math);
 * fused multiply-adds are written out.  So neither the number of threads nor
 * the position of an element in a vector can change a result.
 *
 * Memory.  Ops never allocate.  WORKSPACE tells the scratch of a call: a part
 * shared by all its tasks, and a part per thread. */
#ifndef M2_CPU_H
#define M2_CPU_H

#include <stdbool.h>

#include "backends/m2_backend.h"

struct m2_buffer {
    struct m2_buffer_head head; /* first: the runner's checks read it */
    char *data;                 /* aligned to 64 bytes or more */
};

struct handle;

/* An op and its scratch, in bytes for h->threads threads (NULL: none). */
typedef int (*op_fn)(struct handle *h, const void *args, struct m2_error *err);
typedef size_t (*workspace_fn)(const struct handle *h, const void *args);

struct variant {
    const char *isa; /* "avx512" */
    bool openblas;   /* large products go to OpenBLAS */
    struct {
        op_fn run;
        workspace_fn workspace;
    } ops[M2_N_OPS];
    /* self_test.c: above 1 the arithmetic is wrong, below 0 no memory. */
    double (*self_test)(struct handle *h);
};

/* The tasks of one thread that nobody has taken yet: on a cache line of its
 * own, and of the line that the hardware fetches with it. */
struct task_range {
    _Alignas(128) _Atomic int64_t next;
    int64_t end;
};

struct handle {
    int threads;
    struct task_range *ranges; /* one per thread */
    const struct variant *variant;
    size_t buffers; /* not yet freed */
    char *scratch;
    size_t scratch_bytes;
};

/* ---- parallel.c: a fixed list of independent tasks --------------------- */

/* Embedded as the first member of an op's own job.  Tasks are numbered and
 * independent; which thread runs one, and whether any second thread takes
 * part, changes nothing.
 *
 * Each thread begins with its own part of the list, the same part in every op,
 * and then helps the others.  Ops number their tasks by rows of the batch, so
 * that a thread finds in its caches what it wrote there in the op before: two
 * cores may share no cache at all. */
struct job {
    int64_t tasks;
    double work; /* rough cost in elementary operations: is it worth threads? */
    void (*run)(const struct job *job, int64_t task, char *scratch);
    char *scratch;       /* per-thread scratch: thread i gets scratch + */
    size_t scratch_each; /* i * scratch_each */
};

void parallel_run(const struct handle *h, const struct job *job);

/* The OpenMP build of OpenBLAS takes its number of threads, and with it the
 * bits of its results, from the calling thread's OpenMP setting, whatever was
 * set at open.  Sets that, and returns
 * what it was. */
int openmp_threads(int threads);

/* ---- facts.c: what this machine is ------------------------------------ */

/* The best variant that the processor has, for a real type.  The environment
 * variable M2_CPU_ISA (base, avx2, avx512) asks for another one: for tests,
 * and to repeat a result of an older processor. */
int variant_choose(enum m2_dtype real, const struct variant **out,
                   struct m2_error *err);
int cpu_devices(void *handle, void *args, struct m2_error *err);
extern const char cpu_build[]; /* compiler and libraries, one line */

/* Refuses a build of OpenBLAS that is not safe to call from several threads,
 * and sets any other to one thread per call. */
int openblas_prepare(int threads, struct m2_error *err);

/* ---- handle.c --------------------------------------------------------- */

int cpu_open(void *handle, void *args, struct m2_error *err);
int cpu_close(void *handle, void *args, struct m2_error *err);
int cpu_alloc(void *handle, void *args, struct m2_error *err);
int cpu_free(void *handle, void *args, struct m2_error *err);
int cpu_upload(void *handle, void *args, struct m2_error *err);
int cpu_download(void *handle, void *args, struct m2_error *err);
int cpu_sync(void *handle, void *args, struct m2_error *err);
int cpu_supports(void *handle, void *args, struct m2_error *err);
int cpu_workspace(void *handle, void *args, struct m2_error *err);
int cpu_reserve(void *handle, void *args, struct m2_error *err);

/* ---- small helpers ------------------------------------------------------ */

static inline int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}
static inline int64_t round_up(int64_t a, int64_t b)
{
    return ceil_div(a, b) * b;
}
static inline int64_t min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
