/* Reading the checkpoints of both runs, as far as they can be read. */
#include <string.h>

#include "reproduce/difference_private.h"
#include "util/file.h"
#include "util/number.h"

const char *const checkpoint_names[N_CHECKPOINTS] = {
    [CHECKPOINT_OF_LAST] = "last.safetensors",
    [CHECKPOINT_OF_BEST] = "best.safetensors",
};

static void take_metadata(struct run_checkpoint *out)
{
    const char *step = st_metadata(&out->file, "m2run.step");
    const char *bytes = st_metadata(&out->file, "m2run.metrics_bytes");
    const char *trace = st_metadata(&out->file, "m2run.trace");

    if (step != NULL)
        number_parse_int(step, &out->step);
    if (bytes != NULL)
        number_parse_int(bytes, &out->rows_bytes);
    if (trace != NULL && strlen(trace) < TRACE_TEXT)
        snprintf(out->trace, sizeof out->trace, "%s", trace);
}

/* Reads a file as a whole one, or else as far as it can be read. */
static int read_file(struct run_checkpoint *out, const char *path,
                     struct m2_error *cause)
{
    struct train_state state;
    struct m2_error ignored;
    int code = checkpoint_read(path, NULL, &out->file, &state, cause);

    out->sealed = out->readable = code == 0;
    if (code == M2_E_RESULTS)
        out->readable = st_read(path, &out->file, &ignored) == 0;
    if (out->readable)
        take_metadata(out);
    return code;
}

static int check_owner(struct comparison *comparison,
                       const struct run_checkpoint *recorded, const char *name,
                       struct m2_error *err)
{
    const char *wanted = comparison->request->identity;
    const char *found = st_metadata(&recorded->file, "m2run.identity");

    if (wanted == NULL || found == NULL || strcmp(wanted, found) == 0)
        return 0;
    return finding_add(comparison,
                       (struct finding_place){FINDING_ALTERED, name, -1}, err,
                       "belongs to another run: identity %.12s, this one is "
                       "%.12s",
                       found, wanted);
}

static int read_side(struct comparison *comparison, int which, int side,
                     struct m2_error *err)
{
    struct run_checkpoint *out = &comparison->checkpoints[which][side];
    const char *dir = side == SIDE_RECORDED ? comparison->request->recorded
                                            : comparison->request->again;
    struct m2_error cause;
    struct text path = {0};
    int code;

    out->step = out->rows_bytes = -1;
    text_addf(&path, "%s/checkpoints/%s", dir, checkpoint_names[which]);
    code = text_check(&path, err);
    out->there = code == 0 && file_exists(text_string(&path));
    if (out->there) {
        code = read_file(out, text_string(&path), &cause);
        if (code == M2_E_RESULTS && side == SIDE_RECORDED)
            code =
                out->readable
                    ? 0
                    : finding_add(
                          comparison,
                          (struct finding_place){FINDING_ALTERED,
                                                 checkpoint_names[which], -1},
                          err, "%s", finding_cause(&cause, text_string(&path)));
        else if (code != 0)
            code = m2_fail(err, code, "%s", cause.text);
        else if (side == SIDE_RECORDED)
            code = check_owner(comparison, out, checkpoint_names[which], err);
    }
    text_free(&path);
    return code;
}

int checkpoints_read(struct comparison *comparison, struct m2_error *err)
{
    int code = 0;

    for (int which = 0; code == 0 && which < N_CHECKPOINTS; which++)
        for (int side = 0; code == 0 && side < N_SIDES; side++)
            code = read_side(comparison, which, side, err);
    return code;
}

void checkpoints_free(struct comparison *comparison)
{
    for (int which = 0; which < N_CHECKPOINTS; which++)
        for (int side = 0; side < N_SIDES; side++)
            if (comparison->checkpoints[which][side].readable)
                st_free(&comparison->checkpoints[which][side].file);
}
