/* What the files of the scan's backward pass share.  Names are those of the
 * specification's section 4.8: W = dY X^T, G = C B^T, M = G o L, S the state
 * that enters a tile, R the gradient of the one that leaves it.
 *
 *   ssd_pairs.cu       products of all pairs of steps: M, dG, and what they
 *                      give to the gradient of the log decays
 *   ssd_gradients.cu   dX, and dB and dC of each head
 *   ssd_backward.cu    the rest, which is sums, and the order of it all
 *
 * With last_only, dY is one row: rows of M, dG and dY are counted from the
 * first step of the tile whose output was wanted, and tiles before the last
 * have none. */
#ifndef M2_CUDA_SSD_BACKWARD_CUH
#define M2_CUDA_SSD_BACKWARD_CUH

#include "backends/cuda/ssd.cuh"

template <class R> struct ssd_back {
    ssd_shape s;
    matrix<R> dy, x, dt, a_log, b, c, d;
    matrix<R> entry; /* S */
    matrix<R> leave; /* R; absent: zeros */
    matrix<R> dx, ddt, da_log, db, dc, dd;
    matrix<R> head_db, head_dc; /* (B*L, H*N) */
    int64_t has_final;          /* R of the last tile is not 0 */
    int64_t width;              /* columns of a part of N */
    int64_t p_parts, n_parts;
    R *mix, *dgram;              /* (B, tiles with outputs, H, q, q): M, dG */
    R *vectors;                  /* (B, tiles, H, slots, TILE): see below */
    double *rate_sum, *skip_sum; /* (B, tiles, H): of dA and dD */
};

/* Vectors over the steps of a tile of one head; those of parts of P or N are
 * added up by the reader. */
enum ssd_slot {
    SLOT_PAIRS,      /* sums of Z over i >= k > j */
    SLOT_CARRIED,    /* r0: only element 0; n_parts */
    SLOT_FROM_STATE, /* o; n_parts */
    SLOT_TO_STATE,   /* v; n_parts */
    SLOT_DIRECT,     /* <x, dU>; p_parts */
    SLOT_SKIP,       /* <x, dY>; p_parts */
};

template <class R>
static __host__ __device__ inline int64_t slot_count(const ssd_back<R> &a)
{
    return 1 + 3 * a.n_parts + 2 * a.p_parts;
}

template <class R>
static __device__ inline R *vector_of(const ssd_back<R> &a, const ssd_tile &t,
                                      enum ssd_slot slot, int64_t part)
{
    int64_t tile = (t.b * a.s.tiles + t.index) * a.s.H + t.head;
    int64_t at = slot == SLOT_PAIRS ? 0
                 : slot < SLOT_DIRECT
                     ? 1 + (slot - SLOT_CARRIED) * a.n_parts
                     : 1 + 3 * a.n_parts + (slot - SLOT_DIRECT) * a.p_parts;

    return a.vectors + (tile * slot_count(a) + at + part) * TILE;
}

/* Tiles that have outputs; of a sequence. */
static __host__ __device__ inline int64_t output_tiles(const ssd_shape &s)
{
    return s.last_only ? 1 : s.tiles;
}

/* M or dG of a tile that has outputs. */
template <class R>
static __device__ inline R *square_of(R *squares, const ssd_shape &s,
                                      const ssd_tile &t)
{
    int64_t tile = s.last_only ? 0 : t.index;

    return squares +
           ((t.b * output_tiles(s) + tile) * s.H + t.head) * s.q * s.q;
}

/* dY of the tile, from the first row that it has. */
template <class R>
static __device__ inline const R *dy_of(const ssd_back<R> &a, const ssd_tile &t,
                                        int64_t p)
{
    return &a.dy.at(a.s.last_only ? t.b : t.row, t.head * a.s.P + p);
}

template <class R>
static __device__ inline bool has_leave(const ssd_back<R> &a, const ssd_tile &t)
{
    return a.leave.data != NULL && (t.index + 1 < a.s.tiles || a.has_final);
}

template <class R>
int ssd_pairs_run(struct handle *h, const ssd_back<R> &a, struct m2_error *err);

template <class R>
int ssd_gradients_run(struct handle *h, const ssd_back<R> &a,
                      struct m2_error *err);

#endif
