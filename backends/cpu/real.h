/* The real type and the names of one variant of the ops.
 *
 * The build gives M2_REAL (32 or 64), M2_ISA (0 base, 1 avx2, 2 avx512) and
 * M2_VARIANT (as f32_avx2).  Everything that the files of ops share gets
 * the variant's name as its suffix, here. */
#ifndef M2_CPU_REAL_H
#define M2_CPU_REAL_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"

/* A header read alone, by an editor or a check, is that of one variant. */
#ifndef M2_REAL
#define M2_REAL    64
#define M2_ISA     0
#define M2_VARIANT f64_base
#endif

#if M2_REAL == 32
typedef float real;
#define R(literal) literal##f
#define SQRT       sqrtf
#else
typedef double real;
#define R(literal) literal
#define SQRT       sqrt
#endif

#define NAME_PASTE(name, variant)  name##_##variant
#define NAME_EXPAND(name, variant) NAME_PASTE(name, variant)
#define NAME(name)                 NAME_EXPAND(name, M2_VARIANT)
#define OP(name)                   NAME(op_##name)
#define WORKSPACE(name)            NAME(workspace_##name)

/* Functions that the files of a variant share. */
#define blas_tile         NAME(blas_tile)
#define conv_block        NAME(conv_block)
#define conv_block_bytes  NAME(conv_block_bytes)
#define conv_place        NAME(conv_place)
#define convolve          NAME(convolve)
#define gemm_run          NAME(gemm_run)
#define gemm_scratch      NAME(gemm_scratch)
#define gemm_self_test    NAME(gemm_self_test)
#define ssd_chunk_of      NAME(ssd_chunk_of)
#define ssd_copy          NAME(ssd_copy)
#define ssd_decay_bytes   NAME(ssd_decay_bytes)
#define ssd_decay_fill    NAME(ssd_decay_fill)
#define ssd_decay_take    NAME(ssd_decay_take)
#define ssd_head_backward NAME(ssd_head_backward)
#define ssd_heads_of      NAME(ssd_heads_of)
#define ssd_lower         NAME(ssd_lower)
#define ssd_lower_times   NAME(ssd_lower_times)
#define ssd_shape_of      NAME(ssd_shape_of)
#define ssd_transpose     NAME(ssd_transpose)
#define ssd_upper_times   NAME(ssd_upper_times)
#define tile_multiply     NAME(tile_multiply)
#define transpose         NAME(transpose)

#define M2_OP_DECLARE(name, type)                                              \
    int OP(name)(struct handle * h, const void *args, struct m2_error *err);
M2_OPS(M2_OP_DECLARE)
#undef M2_OP_DECLARE

/* The ops that need scratch; `loss` is shared by mse, mae and huber. */
#define M2_WORKSPACES(X)                                                       \
    X(mean_time)                                                               \
    X(linear)                                                                  \
    X(linear_backward)                                                         \
    X(rmsnorm_backward)                                                        \
    X(layernorm_backward)                                                      \
    X(conv1d_silu)                                                             \
    X(conv1d_silu_backward)                                                    \
    X(dt_backward)                                                             \
    X(ssd)                                                                     \
    X(ssd_backward)                                                            \
    X(loss)                                                                    \
    X(xent)                                                                    \
    X(sumsq)
#define M2_WORKSPACE_DECLARE(name)                                             \
    size_t WORKSPACE(name)(const struct handle *h, const void *args);
M2_WORKSPACES(M2_WORKSPACE_DECLARE)
#undef M2_WORKSPACE_DECLARE

/* First element of a view; NULL for an absent one. */
static inline real *view_real(const struct m2_view *view)
{
    if (view->buffer == NULL)
        return NULL;
    return (real *)(void *)view->buffer->data + view->offset;
}
static inline double *view_f64(const struct m2_view *view)
{
    if (view->buffer == NULL)
        return NULL;
    return (double *)(void *)view->buffer->data + view->offset;
}
static inline int32_t *view_i32(const struct m2_view *view)
{
    if (view->buffer == NULL)
        return NULL;
    return (int32_t *)(void *)view->buffer->data + view->offset;
}

/* Scratch is handed out in pieces of whole cache lines. */
static inline size_t scratch_size(int64_t count, size_t element)
{
    return (size_t)round_up((int64_t)((size_t)count * element), 64);
}
static inline void *scratch_take(char **scratch, int64_t count, size_t element)
{
    char *piece = *scratch;

    *scratch += scratch_size(count, element);
    return piece;
}
static inline real *scratch_real(char **scratch, int64_t count)
{
    return scratch_take(scratch, count, sizeof(real));
}
static inline double *scratch_f64(char **scratch, int64_t count)
{
    return scratch_take(scratch, count, sizeof(double));
}

#include "backends/cpu/simd.h"

#endif
