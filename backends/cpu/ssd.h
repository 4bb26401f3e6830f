/* The scan in its chunked form (specification section 4.8): what forward and
 * backward share.
 *
 * A task is a block of at most HEADS heads of one group of one sequence.  It
 * walks the chunks in order and carries the states of its heads.  Everything
 * the products touch is copied to scratch first, with rows padded to whole
 * vectors of avx512, so that the layout, and with it the lanes of a sum, is
 * the same in every variant: x and dy (q, Pp), b and c (q, Np), squares
 * (q, qp).  States are kept transposed, (N, Pp), so that P fills the vectors.
 *
 * f32: the cumulative decay s and its differences are f64; a difference is
 * rounded, then exp.  s is summed in order and dt A is never positive, so no
 * difference is: rounded addition keeps order.  (A parallel prefix sum would
 * have to cut differences at 0.) */
#ifndef M2_CPU_SSD_H
#define M2_CPU_SSD_H

#include "backends/cpu/gemm.h"
#include "backends/cpu/vector_math.h"

enum {
    HEADS = 4, /* per task: shapes decide, never threads */
    PAD = 64 / (int)sizeof(real),
    TRIANGLE = 8, /* rows of a block of a triangular product */
};

struct ssd_shape {
    int64_t B, L, H, P, G, N, Q;
    int last_only;
    int64_t chunks, blocks; /* blocks of heads per group */
    int64_t q;              /* rows of the longest chunk */
    int64_t qp, Pp, Np;     /* padded */
};

/* The heads of one task. */
struct ssd_heads {
    int64_t b, group, first, count;
};

/* One chunk: rows [from, from + q) of the sequence; outputs are wanted for
 * rows [out, q) of it. */
struct ssd_chunk {
    int64_t index, from, q, out;
};

/* Per chunk and head: dt, and the decays from the start of the chunk to each
 * row (in), from each row to the end (tail), over the whole chunk (all).  s and
 * dt are padded to whole vectors, so that rows of pairs need no remainder. */
struct ssd_decay {
    double rate; /* A = -exp(a_log) */
    double *s;
    real *dt, *in, *tail;
    real all;
};

struct ssd_shape ssd_shape_of(const struct m2_ssd *op);
struct ssd_heads ssd_heads_of(const struct ssd_shape *s, int64_t task);
struct ssd_chunk ssd_chunk_of(const struct ssd_shape *s, int64_t index);

size_t ssd_decay_bytes(const struct ssd_shape *s);
struct ssd_decay ssd_decay_take(const struct ssd_shape *s, char **scratch);
void ssd_decay_fill(struct ssd_decay *d, const struct ssd_chunk *chunk,
                    const real *dt, int64_t ld, real a_log);

/* out (rows, padded) = in (rows, cols), zeros beyond. */
void ssd_copy(real *out, int64_t padded, const real *in, int64_t ld,
              int64_t rows, int64_t cols);
/* out (cols, padded) = in (rows, cols) transposed, zeros beyond. */
void ssd_transpose(real *out, int64_t padded, const real *in, int64_t ld,
                   int64_t rows, int64_t cols);

/* Asks for the piece of a row of a view that the next head reads, or this one
 * writes: pieces of long rows, where the hardware does not look ahead. */
ALWAYS_INLINE void ssd_prefetch(const struct m2_view *view, int64_t row,
                                int64_t col, int64_t cols)
{
    const real *first = view_real(view) + row * view->ld + col;

    for (int64_t j = 0; j < cols; j += 64 / (int)sizeof(real))
        __builtin_prefetch(first + j);
}

/* Rows [first, q) of a lower triangular C = A B: blocks of TRIANGLE rows get
 * the columns up to their last row. */
void ssd_lower(struct tile t, int64_t first, int64_t q);
/* C = A B where row i of A is 0 beyond column i. */
void ssd_lower_times(struct tile t, int64_t first, int64_t q, int64_t cols);
/* C = A^T B for the same A, of which only rows [first, q) count. */
void ssd_upper_times(struct tile t, int64_t first, int64_t q, int64_t cols);

#endif
