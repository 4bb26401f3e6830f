/* The same op on two devices, with equal inputs. */
#include "backends/conformance/mirror_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/compare.h"

enum { MAX_ARGUMENTS = 24 };

/* What was found in the outputs of a call, by their place among the
 * arguments. */
struct found {
    struct difference outputs[MAX_ARGUMENTS];
    bool there[MAX_ARGUMENTS];
};

/* ---- memory ------------------------------------------------------------ */

/* The twin's buffer is made when an op first names the device's. */
static int find_twin(struct mirror *mirror, const struct m2_buffer *of,
                     struct m2_buffer **out, struct m2_error *err)
{
    size_t bytes = ((const struct m2_buffer_head *)(const void *)of)->bytes;
    struct twin_buffer *at;
    int rc;

    for (size_t i = 0; i < mirror->n_buffers; i++) {
        if (mirror->buffers[i].of == of) {
            *out = mirror->buffers[i].twin;
            return M2_OK;
        }
    }
    if (mirror->n_buffers == MIRROR_MAX_BUFFERS)
        return m2_fail(err, M2_E_INTERNAL, "mirror: more than %d buffers",
                       MIRROR_MAX_BUFFERS);
    at = &mirror->buffers[mirror->n_buffers];
    rc = buffer_alloc(mirror->request.twin, bytes, &at->twin, err);
    if (rc != M2_OK)
        return rc;
    at->of = of;
    mirror->n_buffers++;
    *out = at->twin;
    return M2_OK;
}

/* Another buffer may get the address of one that has gone. */
static void on_freed(void *context, const struct m2_buffer *buffer)
{
    struct mirror *mirror = context;

    for (size_t i = 0; i < mirror->n_buffers; i++) {
        if (mirror->buffers[i].of == buffer) {
            buffer_free(mirror->request.twin, mirror->buffers[i].twin);
            mirror->buffers[i] = mirror->buffers[--mirror->n_buffers];
            return;
        }
    }
}

static void free_staging(struct staging *staging)
{
    free(staging->bytes);
    free(staging->values[ON_DEVICE]);
    free(staging->values[ON_TWIN]);
    *staging = (struct staging){0};
}

int mirror_reserve_staging(struct mirror *mirror, const struct m2_view *view,
                           struct m2_error *err)
{
    struct staging *staging = &mirror->staging;
    size_t n = (size_t)view->rows * (size_t)view->cols;

    if (n <= staging->elements)
        return M2_OK;
    free_staging(staging);
    staging->bytes = calloc(n, sizeof(double));
    for (int side = 0; side < N_SIDES; side++)
        staging->values[side] = calloc(n, sizeof(double));
    if (staging->bytes == NULL || staging->values[ON_DEVICE] == NULL ||
        staging->values[ON_TWIN] == NULL) {
        free_staging(staging);
        return m2_fail(err, M2_E_MEMORY, "mirror: out of memory");
    }
    staging->elements = n;
    return M2_OK;
}

/* ---- before ------------------------------------------------------------ */

static const struct m2_view *view_at(const struct op_argument *argument,
                                     const void *args)
{
    return op_argument_view(argument, args);
}

/* Whether the contract's accumulate member makes outputs inputs, too. */
static bool accumulates(enum m2_op op, const void *args)
{
    const struct op_contract *contract = op_contract(op);

    for (size_t i = 0; i < contract->n_members; i++)
        if (strcmp(contract->members[i].name, "accumulate") == 0)
            return op_member_value(&contract->members[i], args) != 0;
    return false;
}

/* The call as the twin will get it. */
static int translate(struct mirror *mirror, enum m2_op op, const void *args,
                     struct m2_error *err)
{
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);

    assert(op_args_size(op) <= sizeof mirror->args);
    memcpy(mirror->args, args, op_args_size(op));
    for (size_t i = 0; i < n; i++) {
        struct m2_view view = *view_at(&arguments[i], args);
        int rc;

        if (view.buffer == NULL)
            continue;
        rc = find_twin(mirror, view.buffer, &view.buffer, err);
        if (rc != M2_OK)
            return rc;
        memcpy(mirror->args + arguments[i].offset, &view, sizeof view);
    }
    return M2_OK;
}

static int make_equal(struct mirror *mirror, const struct m2_view *view,
                      const struct m2_view *twin, struct m2_error *err)
{
    unsigned char *bytes;
    int rc = mirror_reserve_staging(mirror, view, err);

    if (rc != M2_OK)
        return rc;
    bytes = mirror->staging.bytes;
    rc = view_download_bytes(mirror->request.device, view, bytes, err);
    return rc != M2_OK
               ? rc
               : view_upload_bytes(mirror->request.twin, twin, bytes, err);
}

static int before(void *context, enum m2_op op, const void *args,
                  struct m2_error *err)
{
    struct mirror *mirror = context;
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);
    bool adds = accumulates(op, args);
    int rc = translate(mirror, op, args, err);

    for (size_t i = 0; rc == M2_OK && i < n; i++) {
        const struct m2_view *view = view_at(&arguments[i], args);

        if (view->buffer != NULL && (adds || arguments[i].role != OP_OUTPUT))
            rc = make_equal(mirror, view, view_at(&arguments[i], mirror->args),
                            err);
    }
    return rc;
}

/* ---- after ------------------------------------------------------------- */

static int take_values(struct mirror *mirror, int side,
                       const struct m2_view *view, struct m2_error *err)
{
    struct m2_device *device =
        side == ON_TWIN ? mirror->request.twin : mirror->request.device;
    const unsigned char *bytes = mirror->staging.bytes;
    double *values = mirror->staging.values[side];
    size_t n = (size_t)view->rows * (size_t)view->cols;
    int rc;

    if (view->dtype != M2_I32)
        return view_download(device, view, values, err);
    rc = view_download_bytes(device, view, mirror->staging.bytes, err);
    for (size_t i = 0; rc == M2_OK && i < n; i++) {
        int32_t value;

        memcpy(&value, bytes + i * sizeof value, sizeof value);
        values[i] = value;
    }
    return rc;
}

/* The name of the output, and the first layer that a view of the call names:
 * gradients within a layer share memory with those of the others. */
static void name_place(const struct mirror *mirror, const void *args,
                       const struct m2_view *view, struct mirror_place *place)
{
    const struct mirror_request *request = &mirror->request;
    const struct op_argument *arguments;
    size_t n = op_arguments(place->op, &arguments);

    place->name = (struct mirror_name){.layer = -1};
    if (request->describe == NULL)
        return;
    request->describe(request->context, view, &place->name);
    for (size_t i = 0; place->name.layer < 0 && i < n; i++) {
        const struct m2_view *other = view_at(&arguments[i], args);
        struct mirror_name name = {.layer = -1};

        if (other->buffer != NULL)
            request->describe(request->context, other, &name);
        place->name.layer = name.layer;
    }
}

static int compare_output(struct mirror *mirror,
                          const struct op_argument *argument, const void *args,
                          struct difference *out, struct m2_error *err)
{
    const struct m2_view *view = view_at(argument, args);
    int rc = mirror_reserve_staging(mirror, view, err);

    if (rc == M2_OK)
        rc = take_values(mirror, ON_DEVICE, view, err);
    if (rc == M2_OK)
        rc = take_values(mirror, ON_TWIN, view_at(argument, mirror->args), err);
    if (rc == M2_OK)
        *out =
            compare(mirror->staging.values[ON_TWIN],
                    mirror->staging.values[ON_DEVICE], view->rows * view->cols);
    return rc;
}

/* A finite error over its limit is measured again, by what the result reacts
 * to: all outputs must have been compared, for they are overwritten. */
static int measure_again(struct mirror *mirror, enum m2_op op, size_t output,
                         struct difference *found, struct m2_error *err)
{
    double distance = fabs(found->got - found->want), response = 0;
    int rc;

    if (mirror->request.exact || isinf(found->error) ||
        found->error <= mirror->report.ops[op].limit)
        return M2_OK;
    rc = mirror_response(mirror, op, output, &response, err);
    if (rc == M2_OK && response > distance / found->error)
        found->error = distance / response;
    return rc;
}

/* The worst output becomes that of the call. */
static void choose_worst(const struct found *found, const void *args,
                         struct mirror_place *out)
{
    const struct op_argument *arguments;
    size_t n = op_arguments(out->op, &arguments);

    for (size_t i = 0; i < n; i++) {
        const struct difference *it = &found->outputs[i];
        int64_t cols = view_at(&arguments[i], args)->cols;

        if (!found->there[i] ||
            (out->argument != NULL && !(it->error > out->error)))
            continue;
        out->argument = arguments[i].name;
        out->error = it->error;
        out->row = it->index / cols;
        out->column = it->index % cols;
        out->device = it->want;
        out->twin = it->got;
    }
}

/* The report keeps the worst call of each op and the first one over. */
static void note(struct mirror *mirror, const void *args,
                 struct mirror_place *place)
{
    struct mirror_report *report = &mirror->report;
    struct mirror_op *op = &report->ops[place->op];
    const struct op_argument *arguments;
    size_t n = op_arguments(place->op, &arguments), i = 0;
    bool over = place->error > op->limit;
    bool worst = op->worst.argument == NULL || place->error > op->worst.error;

    op->calls++;
    op->calls_over += over;
    report->calls_over += over;
    if (!worst && !(over && report->calls_over == 1))
        return;
    while (i + 1 < n && arguments[i].name != place->argument)
        i++;
    name_place(mirror, args, view_at(&arguments[i], args), place);
    if (worst)
        op->worst = *place;
    if (over && report->calls_over == 1)
        report->first = *place;
}

static int after(void *context, enum m2_op op, const void *args,
                 struct m2_error *err)
{
    struct mirror *mirror = context;
    struct mirror_place place = {
        .call = ++mirror->report.calls, .step = mirror->step, .op = op};
    struct found found = {.there = {false}};
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);
    int rc = op_call(mirror->request.twin, op, mirror->args, err);

    assert(n <= MAX_ARGUMENTS);
    for (size_t i = 0; rc == M2_OK && i < n; i++) {
        found.there[i] = arguments[i].role != OP_INPUT &&
                         view_at(&arguments[i], args)->buffer != NULL;
        if (found.there[i])
            rc = compare_output(mirror, &arguments[i], args, &found.outputs[i],
                                err);
    }
    for (size_t i = 0; rc == M2_OK && i < n; i++)
        if (found.there[i])
            rc = measure_again(mirror, op, i, &found.outputs[i], err);
    if (rc != M2_OK)
        return rc;
    choose_worst(&found, args, &place);
    if (place.argument != NULL)
        note(mirror, args, &place);
    return M2_OK;
}

/* ---- the mirror -------------------------------------------------------- */

int mirror_open(const struct mirror_request *request, struct mirror **out,
                struct m2_error *err)
{
    enum m2_dtype real = device_real(request->device);
    struct mirror *mirror;

    if (real != device_real(request->twin))
        return m2_fail(err, M2_E_ARGUMENT,
                       "mirror: %s and %s were opened with two real types",
                       device_label(request->device),
                       device_label(request->twin));
    mirror = calloc(1, sizeof *mirror);
    if (mirror == NULL)
        return m2_fail(err, M2_E_MEMORY, "mirror: out of memory");
    mirror->request = *request;
    mirror->observer = (struct device_observer){
        .before = before, .after = after, .freed = on_freed, .context = mirror};
    for (int op = 0; op < M2_N_OPS; op++)
        mirror->report.ops[op].limit =
            request->exact ? 0 : compare_limit((enum m2_op)op, real);
    device_observe(request->device, &mirror->observer);
    *out = mirror;
    return M2_OK;
}

void mirror_close(struct mirror *mirror)
{
    if (mirror == NULL)
        return;
    device_observe(mirror->request.device, NULL);
    while (mirror->n_buffers > 0)
        on_freed(mirror, mirror->buffers[0].of);
    free_staging(&mirror->staging);
    free(mirror);
}

void mirror_set_step(struct mirror *mirror, int64_t step)
{
    mirror->step = step;
}

const struct mirror_report *mirror_report(const struct mirror *mirror)
{
    return &mirror->report;
}
