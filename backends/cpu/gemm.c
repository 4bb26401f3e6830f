/* gemm.c: large matrix products, cut in tiles over the output. */
#include "backends/cpu/gemm.h"

enum {
    PANEL = 2 * VEC,  /* columns of a packed panel of B */
    GEMM_DEPTH = 320, /* most products summed before an addition to C */
    ROW_TILE = 112 / TILE_ROWS * TILE_ROWS,
    COL_TILE = 256,             /* a power of two times PANEL */
    SINGLE_ROWS = 3 * ROW_TILE, /* so many rows can be one tile */
    /* rows of a copied block of A: no power of two apart */
    BLOCK_LD = GEMM_DEPTH + 64 / (int)sizeof(real),
    BLAS_ROWS = 240,
};

/* How a product is cut.  Tall ones pack all of B first; their rows fall into
 * one group per thread, a group into tiles of rows, and C into columns.  Short
 * ones are cut into columns only, and each task packs its part of B just
 * before use.  An element of C is the same whatever the cut. */
struct gemm_job {
    struct job job;
    const struct gemm *g;
    real *packed;   /* panels of B: [panel][k][PANEL]; NULL in a short one */
    int64_t groups; /* of rows */
    int64_t tiles;  /* of rows, in a group */
    int64_t col_tile, col_tiles;
};

/* Where a task works: groups one after the other; within one, a tile of
 * columns, whose part of B stays in the cache, meets all rows. */
struct place {
    int64_t row, rows, col;
};

static struct place place_of(const struct gemm_job *job, int64_t task)
{
    int64_t group = task / (job->tiles * job->col_tiles);
    int64_t local = task % (job->tiles * job->col_tiles);
    int64_t tile = local % job->tiles, m = job->g->m, first, count, end;
    struct place p = {.col = local / job->tiles * job->col_tile};

    if (M2_ISA == 0) { /* OpenBLAS: the cut is part of the definition */
        p.row = tile * BLAS_ROWS;
        p.rows = min_i64(BLAS_ROWS, m - p.row);
        return p;
    }
    count = ceil_div(m, TILE_ROWS);
    first = group * count / job->groups;
    count = (group + 1) * count / job->groups - first;
    p.row = (first + tile * count / job->tiles) * TILE_ROWS;
    end = (first + (tile + 1) * count / job->tiles) * TILE_ROWS;
    p.rows = min_i64(end, m) - p.row;
    return p;
}

static size_t packed_bytes(int64_t n, int64_t k)
{
    return scratch_size(round_up(n, PANEL) * k, sizeof(real));
}

/* Per thread: a block of A, and one of B. */
static size_t block_bytes(void)
{
    return scratch_size(SINGLE_ROWS * BLOCK_LD, sizeof(real)) +
           scratch_size(PANEL * GEMM_DEPTH, sizeof(real));
}

size_t gemm_scratch(const struct handle *h, int64_t n, int64_t k)
{
    if (M2_ISA == 0)
        return 0;
    return packed_bytes(n, k) + (size_t)h->threads * block_bytes();
}

/* Starts a tile of C: what the product is added to. */
static void tile_start(const struct gemm *g)
{
    for (int64_t i = 0; i < g->m; i++) {
        real *c = g->c + i * g->ldc;
        const real *residual =
            g->residual == NULL ? NULL : g->residual + i * g->residual_ld;

        if (residual != NULL && g->bias != NULL) {
#pragma omp simd
            for (int64_t j = 0; j < g->n; j++)
                c[j] = residual[j] + g->bias[j];
        } else if (g->bias != NULL) {
            memcpy(c, g->bias, (size_t)g->n * sizeof *c);
        } else if (residual != c) {
            memcpy(c, residual, (size_t)g->n * sizeof *c);
        }
    }
}

/* The tile of `g` that task number `task` computes. */
static struct gemm tile_of(const struct gemm_job *job, int64_t task)
{
    struct gemm g = *job->g;
    struct place p = place_of(job, task);
    int64_t i = p.row, j = p.col;

    g.m = p.rows;
    g.n = min_i64(job->col_tile, g.n - j);
    g.a += i * g.a_row;
    g.b += j * g.b_col;
    g.c += i * g.ldc + j;
    if (g.bias != NULL)
        g.bias += j;
    if (g.residual != NULL)
        g.residual += i * g.residual_ld + j;
    if (g.bias != NULL || g.residual != NULL) {
        tile_start(&g);
        g.accumulate = 1;
    }
    return g;
}

#if M2_ISA == 0
static void tile_run(const struct job *base, int64_t task, char *scratch)
{
    struct gemm g = tile_of((const struct gemm_job *)(const void *)base, task);

    (void)scratch;
    blas_tile(&g);
}
#else
/* Copies columns [first, first + PANEL) of rows [k, k + depth) of B, zeros
 * beyond the last column. */
static void panel_pack(const struct gemm *g, int64_t first, int64_t k,
                       int64_t depth, real *out)
{
    int64_t width = min_i64(PANEL, g->n - first);
    const real *b = g->b + first * g->b_col + k * g->b_k;

    if (width < PANEL)
        memset(out, 0, (size_t)(depth * PANEL) * sizeof *out);
    if (g->b_k == 1) {
        struct extent extent = {.rows = width, .cols = depth};

        transpose(out, PANEL, b, g->b_col, extent);
    } else if (width == PANEL) {
        for (int64_t i = 0; i < depth; i++)
            memcpy(out + i * PANEL, b + i * g->b_k, PANEL * sizeof *out);
    } else {
        for (int64_t i = 0; i < depth; i++)
            memcpy(out + i * PANEL, b + i * g->b_k,
                   (size_t)width * sizeof *out);
    }
}

static void pack_run(const struct job *base, int64_t task, char *scratch)
{
    const struct gemm_job *job = (const struct gemm_job *)(const void *)base;
    const struct gemm *g = job->g;

    (void)scratch;
    panel_pack(g, task * PANEL, 0, g->k, job->packed + task * PANEL * g->k);
}

/* A panel that is wider than what is left of C: through a buffer. */
static void panel_edge(struct tile t, int64_t rows, int64_t width)
{
    real buffer[TILE_ROWS * PANEL];
    real *c = t.c;
    int accumulate = t.accumulate;

    t.c = buffer;
    t.accumulate = 0;
    for (int64_t i = 0; i < rows; i += TILE_ROWS) {
        int64_t height = min_i64(TILE_ROWS, rows - i);
        int64_t ldc = t.ldc;

        t.ldc = PANEL;
        tile_multiply(&t, height, round_up(width, VEC));
        t.ldc = ldc;
        for (int64_t r = 0; r < height; r++)
            for (int64_t j = 0; j < width; j++) {
                real *out = c + (i + r) * ldc + j;
                real sum = buffer[r * PANEL + j];

                *out = accumulate ? *out + sum : sum;
            }
        t.a += TILE_ROWS * t.a_row;
    }
}

/* Rows of A that are a multiple of 4 KiB apart share one set of the first
 * cache, which cannot hold the rows of a register tile: such a block of A is
 * copied. */
static const real *block_copy(const struct gemm *g, int64_t first,
                              int64_t depth, int64_t *ld, real *block)
{
    const real *a = g->a + first * g->a_k;

    *ld = g->a_row;
    if (g->a_k != 1 || g->a_row * (int64_t)sizeof(real) % 4096 != 0)
        return a;
    *ld = BLOCK_LD;
    for (int64_t i = 0; i < g->m; i++)
        memcpy(block + i * BLOCK_LD, a + i * g->a_row,
               (size_t)depth * sizeof *a);
    return block;
}

/* The blocks of k are equal but for the last: k alone decides. */
static int64_t depth_of(int64_t k)
{
    return round_up(ceil_div(k, ceil_div(k, GEMM_DEPTH)), 16);
}

/* One panel of a tile: columns [j, j + PANEL), products [k, k + depth). */
static void panel_run(const struct gemm *g, struct tile t, int64_t j)
{
    int64_t width = min_i64(PANEL, g->n - j);

    t.c = g->c + j;
    if (width % VEC == 0)
        tile_multiply(&t, g->m, width);
    else
        panel_edge(t, g->m, width);
}

static void tile_run(const struct job *base, int64_t task, char *scratch)
{
    const struct gemm_job *job = (const struct gemm_job *)(const void *)base;
    struct gemm g = tile_of(job, task);
    const real *packed = job->packed;
    int64_t depth = depth_of(g.k);
    real *a = scratch_real(&scratch, SINGLE_ROWS * BLOCK_LD);
    real *b = scratch_real(&scratch, PANEL * GEMM_DEPTH);

    if (packed != NULL)
        packed += place_of(job, task).col * g.k;
    for (int64_t k = 0; k < g.k; k += depth) {
        struct tile t = {.k = min_i64(depth, g.k - k),
                         .a_k = g.a_k,
                         .b_k = PANEL,
                         .ldc = g.ldc,
                         .accumulate = g.accumulate || k > 0};

        t.a = block_copy(&g, k, t.k, &t.a_row, a);
        for (int64_t j = 0; j < g.n; j += PANEL) {
            if (packed != NULL) {
                t.b = packed + j * g.k + k * PANEL;
            } else {
                panel_pack(&g, j, k, t.k, b);
                t.b = b;
            }
            panel_run(&g, t, j);
        }
    }
}
#endif

static void gemm_cut(struct gemm_job *job, const struct handle *h,
                     const struct gemm *g)
{
    int64_t wanted = 2 * h->threads, rows;

    job->groups = 1;
    job->tiles = 1;
    job->col_tile = COL_TILE;
    if (M2_ISA == 0) {
        job->tiles = ceil_div(g->m, BLAS_ROWS);
    } else if (g->m <= SINGLE_ROWS && ceil_div(g->n, PANEL) >= wanted) {
        job->packed = NULL;
        while (ceil_div(g->n, job->col_tile) < wanted)
            job->col_tile /= 2;
    } else {
        rows = ceil_div(g->m, TILE_ROWS);
        job->groups = min_i64(h->threads, rows);
        job->tiles =
            ceil_div(ceil_div(rows, job->groups) * TILE_ROWS, ROW_TILE);
    }
    job->col_tiles = ceil_div(g->n, job->col_tile);
}

void gemm_run(const struct handle *h, const struct gemm *g, char *scratch)
{
    struct gemm_job job = {.g = g, .packed = (real *)(void *)scratch};

    assert(g->m > 0 && g->n > 0 && g->k > 0);
    gemm_cut(&job, h, g);
#if M2_ISA > 0
    scratch += packed_bytes(g->n, g->k);
    job.job = (struct job){.tasks = ceil_div(g->n, PANEL),
                           .work = (double)g->n * (double)g->k,
                           .run = pack_run};
    if (job.packed != NULL)
        parallel_run(h, &job.job);
#endif
    job.job = (struct job){.tasks = job.groups * job.tiles * job.col_tiles,
                           .work = (double)g->m * (double)g->n * (double)g->k,
                           .run = tile_run,
                           .scratch = scratch,
                           .scratch_each = M2_ISA > 0 ? block_bytes() : 0};
    parallel_run(h, &job.job);
}
