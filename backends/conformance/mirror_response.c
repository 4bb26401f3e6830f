/* How sensitive the result of an op is to its inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/mirror_private.h"

static const double share_f32 = 0x1p-12, share_f64 = 0x1p-30;

static const struct m2_view *twin_view(const struct mirror *mirror,
                                       const struct op_argument *argument)
{
    return op_argument_view(argument, mirror->args);
}

/* Inputs that are no more what they were cannot be used again. */
static bool has_lost_inputs(const struct mirror *mirror, enum m2_op op)
{
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);

    for (size_t i = 0; i < n; i++) {
        const struct m2_view *out = twin_view(mirror, &arguments[i]);

        if (arguments[i].role == OP_IN_OUT)
            return true;
        for (size_t j = 0; arguments[i].may_be != NULL && j < n; j++) {
            const struct m2_view *in = twin_view(mirror, &arguments[j]);

            if (j != i && in->buffer == out->buffer &&
                in->offset == out->offset)
                return true;
        }
    }
    return false;
}

static int zero_outputs(struct mirror *mirror, enum m2_op op,
                        struct m2_error *err)
{
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);
    int rc = M2_OK;

    for (size_t i = 0; rc == M2_OK && i < n; i++) {
        const struct m2_view *view = twin_view(mirror, &arguments[i]);

        if (arguments[i].role == OP_INPUT || view->buffer == NULL)
            continue;
        rc = mirror_reserve_staging(mirror, view, err);
        if (rc != M2_OK)
            return rc;
        memset(mirror->staging.bytes, 0,
               (size_t)(view->rows * view->cols) * sizeof(double));
        rc = view_upload_bytes(mirror->request.twin, view,
                               mirror->staging.bytes, err);
    }
    return rc;
}

/* Changes every element by its share; the signs are drawn from *state. */
static int change_view(struct mirror *mirror, const struct m2_view *view,
                       double share, uint64_t *state, struct m2_error *err)
{
    int64_t n = view->rows * view->cols;
    double *values;
    int rc = mirror_reserve_staging(mirror, view, err);

    if (rc != M2_OK)
        return rc;
    values = mirror->staging.values[ON_TWIN];
    rc = view_download(mirror->request.twin, view, values, err);
    for (int64_t i = 0; rc == M2_OK && i < n; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        values[i] *= *state >> 63 != 0 ? 1 + share : 1 - share;
    }
    return rc == M2_OK ? view_upload(mirror->request.twin, view, values, err)
                       : rc;
}

static int change_inputs(struct mirror *mirror, enum m2_op op, double share,
                         struct m2_error *err)
{
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);
    uint64_t state = 1;
    int rc = M2_OK;

    for (size_t i = 0; rc == M2_OK && i < n; i++) {
        const struct m2_view *view = twin_view(mirror, &arguments[i]);

        if (arguments[i].role == OP_INPUT && arguments[i].kind == 'r' &&
            view->buffer != NULL)
            rc = change_view(mirror, view, share, &state, err);
    }
    return rc;
}

/* Runs the op from cleared outputs, and stages one of them. */
static int run_again(struct mirror *mirror, enum m2_op op,
                     const struct m2_view *output, struct m2_error *err)
{
    int rc = zero_outputs(mirror, op, err);

    if (rc == M2_OK)
        rc = op_call(mirror->request.twin, op, mirror->args, err);
    return rc == M2_OK ? view_download(mirror->request.twin, output,
                                       mirror->staging.values[ON_TWIN], err)
                       : rc;
}

static double largest_change(const double *a, const double *b, size_t n)
{
    double largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

/* `first` has room for the output. */
static int respond(struct mirror *mirror, enum m2_op op,
                   const struct m2_view *output, double *first, double *out,
                   struct m2_error *err)
{
    bool is_f32 = device_real(mirror->request.twin) == M2_F32;
    double share = is_f32 ? share_f32 : share_f64;
    size_t n = (size_t)(output->rows * output->cols);
    int rc = run_again(mirror, op, output, err);

    if (rc != M2_OK)
        return rc;
    memcpy(first, mirror->staging.values[ON_TWIN], n * sizeof *first);
    rc = change_inputs(mirror, op, share, err);
    if (rc == M2_OK)
        rc = run_again(mirror, op, output, err);
    if (rc == M2_OK)
        *out =
            largest_change(first, mirror->staging.values[ON_TWIN], n) / share;
    return rc;
}

int mirror_response(struct mirror *mirror, enum m2_op op, size_t output,
                    double *out, struct m2_error *err)
{
    const struct op_argument *arguments;
    const struct m2_view *view;
    double *first;
    int rc;

    op_arguments(op, &arguments);
    view = twin_view(mirror, &arguments[output]);
    *out = 0;
    if (view->dtype == M2_I32 || has_lost_inputs(mirror, op))
        return M2_OK;
    first = calloc((size_t)(view->rows * view->cols), sizeof *first);
    if (first == NULL)
        return m2_fail(err, M2_E_MEMORY, "mirror: out of memory");
    rc = respond(mirror, op, view, first, out, err);
    free(first);
    return rc;
}
