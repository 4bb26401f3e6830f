/* Two trainings side by side. */
#include "equality/free_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static double relative_gap(double a, double b)
{
    return a == b ? 0.0 : fabs(a - b) / fmax(fabs(a), fabs(b));
}

/* Which of the two it was; a backend says its own name first. */
static int name_side(const struct side *side, int code,
                     const struct m2_error *cause, struct m2_error *err)
{
    const char *name = device_label(side->session.device);
    size_t length = strlen(name);

    if (strncmp(cause->text, name, length) == 0 && cause->text[length] == ':')
        return m2_fail(err, code, "%.1900s", cause->text);
    return m2_fail(err, code, "%s: %.1900s", name, cause->text);
}

static int make_step(struct side sides[2], struct free_run_step *out,
                     struct m2_error *err)
{
    for (int i = 0; i < 2; i++) {
        struct m2_error cause;
        int code = side_step(&sides[i], &out->updates[i], &cause);

        if (code != 0)
            return name_side(&sides[i], code, &cause, err);
        memcpy(out->traces[i], sides[i].trace, TRACE_BYTES);
    }
    out->gap = relative_gap(out->updates[0].loss, out->updates[1].loss);
    return 0;
}

static void note(struct free_run *run, int64_t step)
{
    const struct free_run_step *made = &run->steps[step - 1];

    if (run->worst == 0 || made->gap > run->steps[run->worst - 1].gap)
        run->worst = step;
    if (run->first_over == 0 && made->gap > run->limit)
        run->first_over = step;
    if (run->first_apart == 0 &&
        memcmp(made->traces[0], made->traces[1], TRACE_BYTES) != 0)
        run->first_apart = step;
}

static double limit_of(const struct side sides[2])
{
    if (side_is_same(&sides[0], &sides[1]))
        return 0;
    return sides[0].config.dtype == M2_F64 ? FREE_RUN_LIMIT_F64
                                           : FREE_RUN_LIMIT_F32;
}

static int train(const struct equality_request *request, struct side sides[2],
                 struct free_run *out, struct m2_error *err)
{
    int64_t n = side_steps(&sides[0], request);
    int code = 0;

    out->limit = limit_of(sides);
    for (int i = 0; i < 2; i++)
        side_describe(&sides[i], &out->devices[i]);
    out->steps = memory_zeroed((size_t)n, sizeof *out->steps, err);
    if (out->steps == NULL)
        return M2_E_MEMORY;
    for (int64_t i = 0; code == 0 && i < n; i++) {
        code = make_step(sides, &out->steps[i], err);
        if (code == 0)
            note(out, ++out->n);
    }
    return code;
}

int free_run_make(const struct equality_request *request, struct free_run *out,
                  struct m2_error *err)
{
    struct side sides[2];
    int code;

    *out = (struct free_run){0};
    code = side_open(request, 0, &sides[0], err);
    if (code != 0)
        return code;
    code = side_open(request, 1, &sides[1], err);
    if (code == 0) {
        code = train(request, sides, out, err);
        side_close(&sides[1]);
    }
    side_close(&sides[0]);
    if (code != 0)
        free_run_free(out);
    return code;
}

void free_run_free(struct free_run *run)
{
    free(run->steps);
    *run = (struct free_run){0};
}
