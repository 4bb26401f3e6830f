/* Calls happen as if one after the other: ops that follow each other without
 * a wait, uploads after ops that read what they replace, parts of a buffer. */
#include <string.h>

#include "backends/conformance/suite.h"

enum { COLS = 37 };

/* Two rows of one buffer, y and z. */
struct sequence {
    struct m2_device *device;
    struct m2_buffer *buffer;
    struct m2_view y, z;
};

static int fill(const struct sequence *s, double value, struct m2_error *err)
{
    struct m2_fill args = {s->y, value};
    return op_call(s->device, M2_OP_fill, &args, err);
}

static int scale(const struct sequence *s, double factor, struct m2_error *err)
{
    struct m2_scale args = {s->y, factor};
    return op_call(s->device, M2_OP_scale, &args, err);
}

static int copy(const struct sequence *s, struct m2_error *err)
{
    struct m2_copy args = {s->y, s->z};
    return op_call(s->device, M2_OP_copy, &args, err);
}

/* y = 1, 3, then z = y, then y = 5; all before anything is waited for. */
static int run_ops(const struct sequence *s, struct m2_error *err)
{
    int code = fill(s, 1.0, err);
    if (code == M2_OK)
        code = scale(s, 3.0, err);
    if (code == M2_OK)
        code = copy(s, err);
    if (code == M2_OK)
        code = fill(s, 5.0, err);
    return code;
}

/* Replaces the first half of y while z = y may still be waiting. */
static int run_upload(const struct sequence *s, struct m2_error *err)
{
    double values[COLS / 2];
    struct m2_view half = view_columns(s->y, 0, COLS / 2);
    for (int i = 0; i < COLS / 2; i++)
        values[i] = 7.0;
    int code = fill(s, 2.0, err);
    if (code == M2_OK)
        code = copy(s, err);
    if (code == M2_OK)
        code = view_upload(s->device, &half, values, err);
    memset(values, 0, sizeof values);
    if (code == M2_OK)
        code = scale(s, 2.0, err);
    return code;
}

static int expect(const struct sequence *s, const struct m2_view *view,
                  double first_half, double rest, struct m2_error *err)
{
    double values[COLS];
    int code = view_download(s->device, view, values, err);
    for (int i = 0; code == M2_OK && i < COLS; i++) {
        double want = i < COLS / 2 ? first_half : rest;
        if (values[i] != want)
            code = m2_fail(err, M2_E_DIFFERS, "%s[%d] is %g, expected %g",
                           view == &s->y ? "y" : "z", i, values[i], want);
    }
    return code;
}

static int run_sequence(const struct sequence *s, struct m2_error *err)
{
    int code = run_ops(s, err);
    if (code == M2_OK)
        code = expect(s, &s->z, 3.0, 3.0, err);
    if (code == M2_OK)
        code = expect(s, &s->y, 5.0, 5.0, err);
    if (code == M2_OK)
        code = run_upload(s, err);
    if (code == M2_OK)
        code = expect(s, &s->z, 2.0, 2.0, err);
    if (code == M2_OK)
        code = expect(s, &s->y, 14.0, 4.0, err);
    return code;
}

void suite_order(struct suite *suite)
{
    struct sequence s = {.device = suite->devices[0]};
    struct m2_error err = {0};
    int64_t ld = COLS + 3;
    size_t bytes = 2 * (size_t)ld * m2_dtype_size(suite->real);
    int code = buffer_alloc(s.device, bytes, &s.buffer, &err);
    s.y = view_matrix(s.buffer, 0, 1, COLS, ld, suite->real);
    s.z = view_matrix(s.buffer, ld, 1, COLS, ld, suite->real);
    if (code == M2_OK)
        code = run_sequence(&s, &err);
    if (code == M2_OK)
        suite_report(suite, CONFORMANCE_PASSED, "order %s: calls in order",
                     suite_real(suite));
    else
        suite_report(suite, suite_outcome(code), "order %s: %s",
                     suite_real(suite), err.text);
    buffer_free(s.device, s.buffer);
}
