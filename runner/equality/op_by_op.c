/* Training steps in front of a mirror. */
#include "equality/op_by_op.h"

static void describe(void *context, const struct m2_view *view,
                     struct mirror_name *out)
{
    const struct model *model = context;

    out->layer = model_view_name(model, view, out->text, sizeof out->text);
}

static int train(struct side *side, struct mirror *mirror, struct op_by_op *out,
                 struct m2_error *err)
{
    int64_t steps = out->steps;
    int code = 0;

    out->steps = 0;
    while (code == 0 && out->steps < steps) {
        struct update update = {0};

        mirror_set_step(mirror, ++out->steps);
        code = side_step(side, &update, err);
        if (out->steps == 1)
            out->batch = update.n;
    }
    out->report = *mirror_report(mirror);
    return code;
}

/* The twin has a device alone; data and model are the first side's. */
static int compare_sides(const struct equality_request *request,
                         struct side *first, struct side *twin,
                         struct op_by_op *out, struct m2_error *err)
{
    const struct mirror_request mirrored = {
        .device = first->session.device,
        .twin = twin->session.device,
        .exact = side_is_same(first, twin),
        .describe = describe,
        .context = first->session.model,
    };
    struct mirror *mirror;
    int code;

    *out = (struct op_by_op){
        .steps = side_steps(first, request),
        .exact = mirrored.exact,
    };
    side_describe(first, &out->devices[0]);
    side_describe(twin, &out->devices[1]);
    code = mirror_open(&mirrored, &mirror, err);
    if (code != 0)
        return code;
    code = train(first, mirror, out, err);
    mirror_close(mirror);
    return code;
}

int op_by_op_run(const struct equality_request *request, struct op_by_op *out,
                 struct m2_error *err)
{
    struct side first, twin;
    int code = side_open_device(request, 1, &twin, err);

    if (code != 0)
        return code;
    code = side_open(request, 0, &first, err);
    if (code == 0) {
        code = compare_sides(request, &first, &twin, out, err);
        side_close(&first);
    }
    side_close(&twin);
    return code;
}
