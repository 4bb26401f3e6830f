/* The same op on two devices, with equal inputs. */
#include "backends/conformance/mirror.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/compare.h"
#include "backends/ops_contract.h"

enum { MAX_ARGS_BYTES = 1024, MAX_TWINS = 256 };

/* A buffer of the device, and the twin's of the same size. */
struct twin_buffer {
    const struct m2_buffer *of;
    struct m2_buffer *twin;
};

/* One view on the host, once per side. */
enum { ON_DEVICE, ON_TWIN, N_SIDES };
struct staging {
    size_t elements; /* room for so many */
    unsigned char *bytes;
    double *values[N_SIDES];
};

struct mirror {
    struct mirror_request request;
    struct device_observer observer;
    struct twin_buffer buffers[MAX_TWINS];
    size_t n_buffers;
    struct staging staging;
    int64_t step;
    struct mirror_report report;
    /* The arguments of the op that is running, with the twin's buffers. */
    _Alignas(16) unsigned char args[MAX_ARGS_BYTES];
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
    if (mirror->n_buffers == MAX_TWINS)
        return m2_fail(err, M2_E_INTERNAL, "mirror: more than %d buffers",
                       MAX_TWINS);
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

static int reserve_staging(struct mirror *mirror, const struct m2_view *view,
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
    int rc = reserve_staging(mirror, view, err);

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

/* Compares one output; *worst becomes that of the call. */
static int compare_output(struct mirror *mirror,
                          const struct op_argument *argument, const void *args,
                          struct mirror_place *worst, struct m2_error *err)
{
    const struct m2_view *view = view_at(argument, args);
    struct difference found;
    int rc = reserve_staging(mirror, view, err);

    if (rc == M2_OK)
        rc = take_values(mirror, ON_DEVICE, view, err);
    if (rc == M2_OK)
        rc = take_values(mirror, ON_TWIN, view_at(argument, mirror->args), err);
    if (rc != M2_OK)
        return rc;
    found = compare(mirror->staging.values[ON_TWIN],
                    mirror->staging.values[ON_DEVICE], view->rows * view->cols);
    if (worst->argument != NULL && !(found.error > worst->error))
        return M2_OK;
    worst->argument = argument->name;
    worst->error = found.error;
    worst->row = found.index / view->cols;
    worst->column = found.index % view->cols;
    worst->device = found.want;
    worst->twin = found.got;
    return M2_OK;
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
    const struct op_argument *arguments;
    size_t n = op_arguments(op, &arguments);
    int rc = op_call(mirror->request.twin, op, mirror->args, err);

    for (size_t i = 0; rc == M2_OK && i < n; i++) {
        if (arguments[i].role != OP_INPUT &&
            view_at(&arguments[i], args)->buffer != NULL)
            rc = compare_output(mirror, &arguments[i], args, &place, err);
    }
    if (rc == M2_OK && place.argument != NULL)
        note(mirror, args, &place);
    return rc;
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
