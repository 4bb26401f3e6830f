/* What the files of the reference backend share: memory, element access and
 * scratch.  Private to backends/ref. */
#ifndef M2_BACKENDS_REF_INTERNAL_H
#define M2_BACKENDS_REF_INTERNAL_H

#include "m2_backend.h"

struct m2_buffer {
    struct m2_buffer_head head;
    _Alignas(16) unsigned char bytes[];
};

struct ref_handle {
    enum m2_dtype real;
    size_t buffers; /* allocated and not yet freed */
    double *scratch;
    size_t scratch_bytes;
};

static inline int ref_present(const struct m2_view *view)
{
    return view->buffer != NULL;
}

/* Address of element (i, j). */
static inline void *ref_at(const struct m2_view *view, int64_t i, int64_t j)
{
    int64_t element = view->offset + i * view->ld + j;
    return view->buffer->bytes + (size_t)element * m2_dtype_size(view->dtype);
}

/* Element (i, j) of a real or f64 view, as double; and its store, which
 * rounds to the view's type. */
static inline double ref_get(const struct m2_view *view, int64_t i, int64_t j)
{
    const void *at = ref_at(view, i, j);
    return view->dtype == M2_F32 ? *(const float *)at : *(const double *)at;
}

static inline void ref_set(const struct m2_view *view, int64_t i, int64_t j,
                           double value)
{
    void *at = ref_at(view, i, j);
    if (view->dtype == M2_F32)
        *(float *)at = (float)value;
    else
        *(double *)at = value;
}

static inline int32_t ref_get_int(const struct m2_view *view, int64_t j)
{
    return *(const int32_t *)ref_at(view, 0, j);
}

/* sigmoid without overflow on either side, silu and its derivative. */
double ref_sigmoid(double x);
double ref_silu_value(double x);
double ref_silu_slope(double x);

/* Rows of views as doubles: columns [first, first + count) of row i. */
void ref_load(const struct m2_view *view, int64_t i, int64_t first,
              int64_t count, double *out);
void ref_store(const struct m2_view *view, int64_t i, int64_t first,
               int64_t count, const double *values);
/* <x, row i>, from the first column to the last. */
double ref_dot(const double *x, const struct m2_view *view, int64_t i);
/* y += factor * row i. */
void ref_axpy(double *y, double factor, const struct m2_view *view, int64_t i);
/* values += or = (by accumulate) into row i. */
void ref_store_or_add(const struct m2_view *view, int64_t i, int accumulate,
                      const double *values);

/* Doubles of scratch that a call needs: the one formula behind WORKSPACE and
 * ref_scratch.  SIZE_MAX / 8 or more when it does not fit. */
size_t ref_workspace(int op, const void *args);
/* The scratch for this call; an error when less was reserved. */
int ref_scratch(struct ref_handle *handle, int op, const void *args,
                double **out, struct m2_error *err);

/* Control slots, in device.c. */
int ref_devices(void *handle, void *args, struct m2_error *err);
int ref_open(void *handle, void *args, struct m2_error *err);
int ref_close(void *handle, void *args, struct m2_error *err);
int ref_alloc(void *handle, void *args, struct m2_error *err);
int ref_free(void *handle, void *args, struct m2_error *err);
int ref_upload(void *handle, void *args, struct m2_error *err);
int ref_download(void *handle, void *args, struct m2_error *err);
int ref_sync(void *handle, void *args, struct m2_error *err);
int ref_supports(void *handle, void *args, struct m2_error *err);
int ref_workspace_query(void *handle, void *args, struct m2_error *err);
int ref_reserve(void *handle, void *args, struct m2_error *err);

/* One function per op: ref_add, ref_scale, ... */
#define REF_DECLARE_OP(name, type)                                             \
    int ref_##name(void *handle, void *args, struct m2_error *err);
M2_OPS(REF_DECLARE_OP)
#undef REF_DECLARE_OP

#endif
