/* Running a trial on a device.
 *
 * All arguments of a trial lie in one buffer, each between guards.  The host
 * keeps an image of the buffer before the run; afterwards every byte that is
 * not an element of an output must equal it. */
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/trial.h"

/* Bytes between two arguments, also the unit of their placement. */
enum { GUARD = 64 };

void bench_init(struct bench *bench, struct m2_device *device)
{
    memset(bench, 0, sizeof *bench);
    bench->device = device;
}

void bench_free(struct bench *bench)
{
    if (bench->device)
        buffer_free(bench->device, bench->buffer);
    free(bench->image);
    free(bench->after);
    memset(bench, 0, sizeof *bench);
}

static struct m2_view *view_at(struct trial *trial, size_t i)
{
    char *args = (char *)&trial->args;
    return (struct m2_view *)(void *)(args + trial->arguments[i].offset);
}

static enum m2_dtype argument_dtype(const struct trial *trial, size_t i,
                                    enum m2_dtype real)
{
    if (trial->views[i].dtype != 0)
        return trial->views[i].dtype;
    switch (trial->arguments[i].kind) {
    case 'd':
        return M2_F64;
    case 'i':
        return M2_I32;
    default:
        return real;
    }
}

/* Lays the arguments out; returns the bytes needed. */
static size_t place(struct trial *trial, const struct trial_layout *layout,
                    enum m2_dtype real)
{
    size_t cursor = GUARD;
    for (size_t i = 0; i < trial->n; i++) {
        const struct trial_view *view = &trial->views[i];
        struct m2_view *out = view_at(trial, i);
        memset(out, 0, sizeof *out);
        if (!view->present)
            continue;
        enum m2_dtype dtype = argument_dtype(trial, i, real);
        size_t size = m2_dtype_size(dtype);
        int64_t ld = view->cols + layout->pad;
        *out = view_matrix(NULL, (int64_t)(cursor / size) + layout->lead,
                           view->rows, view->cols, ld, dtype);
        size_t elements = (size_t)(layout->lead + view->rows * ld);
        cursor += (elements * size + 2 * GUARD - 1) / GUARD * GUARD;
    }
    /* Shared memory: the output takes the place of its input. */
    for (size_t i = 0; i < trial->n; i++)
        if (trial->views[i].present && trial->views[i].shares >= 0)
            *view_at(trial, i) =
                *view_at(trial, (size_t)trial->views[i].shares);
    return cursor + GUARD;
}

static int make_room(struct bench *bench, size_t bytes, struct m2_error *err)
{
    if (bytes > bench->capacity) {
        buffer_free(bench->device, bench->buffer);
        bench->buffer = NULL;
        bench->capacity = 0;
        int code = buffer_alloc(bench->device, bytes, &bench->buffer, err);
        if (code)
            return code;
        bench->capacity = bytes;
    }
    if (bytes <= bench->image_capacity)
        return M2_OK;
    free(bench->image);
    free(bench->after);
    bench->image = malloc(bytes);
    bench->after = malloc(bytes);
    bench->image_capacity = bytes;
    if (bench->image && bench->after)
        return M2_OK;
    bench->image_capacity = 0;
    return m2_fail(err, M2_E_MEMORY, "no memory for a test of %zu bytes",
                   bytes);
}

static unsigned char *element(unsigned char *image, const struct m2_view *view,
                              int64_t row, int64_t col)
{
    int64_t at = view->offset + row * view->ld + col;
    return image + (size_t)at * m2_dtype_size(view->dtype);
}

static void put(unsigned char *to, enum m2_dtype dtype, double value)
{
    float real32 = (float)value;
    int32_t integer = dtype == M2_I32 ? (int32_t)value : 0;
    if (dtype == M2_F32)
        memcpy(to, &real32, sizeof real32);
    else if (dtype == M2_I32)
        memcpy(to, &integer, sizeof integer);
    else
        memcpy(to, &value, sizeof value);
}

static double get(const unsigned char *from, enum m2_dtype dtype)
{
    float real32;
    int32_t integer;
    double value;
    if (dtype == M2_F32) {
        memcpy(&real32, from, sizeof real32);
        return real32;
    }
    if (dtype == M2_I32) {
        memcpy(&integer, from, sizeof integer);
        return integer;
    }
    memcpy(&value, from, sizeof value);
    return value;
}

/* The buffer before the run: NaN, and the values where there are any. */
static void fill_image(struct bench *bench, struct trial *trial, size_t bytes,
                       bool poison)
{
    memset(bench->image, 0xff, bytes);
    for (size_t i = 0; i < trial->n; i++) {
        const struct trial_view *view = &trial->views[i];
        const struct m2_view *at = view_at(trial, i);
        if (!view->present || view->values == NULL || view->shares >= 0)
            continue;
        if (poison && at->dtype != M2_I32)
            continue;
        for (int64_t j = 0; j < view->rows * view->cols; j++)
            put(element(bench->image, at, j / view->cols, j % view->cols),
                at->dtype, view->values[j]);
    }
}

/* Copies the outputs out of the buffer after the run, and into the image, so
 * that what differs then was written outside of them. */
static int collect(struct bench *bench, struct trial *trial,
                   struct m2_error *err)
{
    for (size_t i = 0; i < trial->n; i++) {
        struct trial_view *view = &trial->views[i];
        const struct m2_view *at = view_at(trial, i);
        int64_t count = view->rows * view->cols;
        if (!trial_writes(trial, i))
            continue;
        if (view->result == NULL)
            view->result = malloc(((size_t)count + 1) * sizeof(double));
        if (view->result == NULL)
            return m2_fail(err, M2_E_MEMORY, "no memory for %lld results",
                           (long long)count);
        size_t row_bytes = (size_t)view->cols * m2_dtype_size(at->dtype);
        for (int64_t row = 0; row < view->rows; row++)
            memcpy(element(bench->image, at, row, 0),
                   element(bench->after, at, row, 0), row_bytes);
        for (int64_t j = 0; j < count; j++)
            view->result[j] =
                get(element(bench->after, at, j / view->cols, j % view->cols),
                    at->dtype);
    }
    return M2_OK;
}

/* Names the argument next to byte `at`, the first one that changed. */
static int report_change(const struct trial *trial,
                         const union trial_args *args, size_t at,
                         struct m2_error *err)
{
    const char *name = "the first argument";
    long long row = 0, column = -1;
    for (size_t i = 0; i < trial->n; i++) {
        struct m2_view view;
        memcpy(&view, (const char *)args + trial->arguments[i].offset,
               sizeof view);
        size_t size = m2_dtype_size(view.dtype);
        if (!trial->views[i].present ||
            at / size < (size_t)view.offset - GUARD / size)
            continue;
        long long distance = (long long)(at / size) - view.offset;
        name = trial->arguments[i].name;
        row = distance < 0 ? 0 : distance / view.ld;
        column = distance - row * view.ld;
    }
    return m2_fail(err, M2_E_DIFFERS,
                   "%s: memory that is no output was written, at row %lld, "
                   "column %lld of %s",
                   op_name(trial->op), row, column, name);
}

/* The host's bytes and the arguments are scribbled over as soon as the call
 * that takes them returns: a backend must have copied them. */
static int upload_and_run(struct bench *bench, struct trial *trial,
                          size_t bytes, struct m2_error *err)
{
    union trial_args args = trial->args;
    int code;
    memcpy(bench->after, bench->image, bytes);
    code = buffer_upload(bench->device, bench->buffer, 0, bench->after, bytes,
                         err);
    memset(bench->after, 0x55, bytes);
    if (code == M2_OK)
        code = op_run(bench->device, trial->op, &args, err);
    memset(&args, 0xff, sizeof args);
    return code;
}

/* The upload belongs to the step: a backend that replays it has to bring the
 * new bytes. */
static int run_steps(struct bench *bench, struct trial *trial, size_t bytes,
                     int steps, struct m2_error *err)
{
    int code = M2_OK;
    for (int i = 0; code == M2_OK && i < steps; i++) {
        code = device_step_begin(bench->device, err);
        if (code == M2_OK)
            code = upload_and_run(bench, trial, bytes, err);
        if (code == M2_OK)
            code = device_step_end(bench->device, err);
    }
    return code;
}

static int run_prepared(struct bench *bench, struct trial *trial, size_t bytes,
                        int steps, struct m2_error *err)
{
    int code = device_reserve(bench->device, err);
    if (code == M2_OK)
        code = steps > 0 ? run_steps(bench, trial, bytes, steps, err)
                         : upload_and_run(bench, trial, bytes, err);
    if (code == M2_OK)
        code = buffer_download(bench->device, bench->buffer, 0, bench->after,
                               bytes, err);
    if (code == M2_E_UNSUPPORTED) /* SUPPORTS said yes */
        code = M2_E_FAILED;
    return code;
}

int trial_run(struct bench *bench, struct trial *trial,
              const struct trial_layout *layout, struct m2_error *err)
{
    if (trial->failed)
        return m2_fail(err, M2_E_MEMORY, "%s: no memory for the test",
                       op_name(trial->op));
    size_t bytes = place(trial, layout, device_real(bench->device));
    int code = make_room(bench, bytes, err);
    if (code)
        return code;
    for (size_t i = 0; i < trial->n; i++)
        if (trial->views[i].present)
            view_at(trial, i)->buffer = bench->buffer;
    code = op_prepare(bench->device, trial->op, &trial->args, err);
    if (code)
        return code;
    fill_image(bench, trial, bytes, layout->poison);
    code = run_prepared(bench, trial, bytes, layout->steps, err);
    if (code == M2_OK)
        code = collect(bench, trial, err);
    if (code || memcmp(bench->image, bench->after, bytes) == 0)
        return code;
    size_t at = 0;
    while (bench->image[at] == bench->after[at])
        at++;
    return report_change(trial, &trial->args, at, err);
}
