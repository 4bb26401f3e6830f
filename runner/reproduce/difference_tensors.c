/* The checkpoints of both runs, number by number. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "reproduce/difference_private.h"
#include "util/number.h"

/* What two files have in common. */
struct tensor_result {
    size_t n, n_differing;      /* tensors */
    int64_t numbers, differing; /* in them */
    struct text first;          /* "in_proj.weight[17]: 0.1 vs 0.2" */
    struct text shape;          /* a tensor that only one has, or of another
                                   shape */
};

/* ---- tensors ------------------------------------------------------------- */

static bool is_moment(const struct st_tensor *tensor)
{
    return strncmp(tensor->name, "adam_m.", 7) == 0 ||
           strncmp(tensor->name, "adam_v.", 7) == 0;
}

int difference_parameters(const struct st_file *file, char out[SHA256_HEX_SIZE],
                          struct m2_error *err)
{
    uint8_t digest[SHA256_SIZE];
    struct sha256 sha;
    int code = sha256_start(&sha, err);

    if (code != 0)
        return code;
    for (size_t i = 0; code == 0 && i < file->n_tensors; i++)
        if (!is_moment(&file->tensors[i]))
            code = sha256_add(&sha, file->tensors[i].data,
                              file->tensors[i].bytes, err);
    if (code != 0) {
        sha256_abandon(&sha);
        return code;
    }
    code = sha256_finish(&sha, digest, err);
    if (code == 0)
        sha256_hex(digest, out);
    return code;
}

static void add_number(const struct st_tensor *tensor, int64_t i,
                       struct text *out)
{
    char text[NUMBER_TEXT_SIZE];

    if (tensor->dtype == ST_F64)
        text_add(out, number_print_double(st_get(tensor, i), text));
    else
        text_add(out, number_print_float((float)st_get(tensor, i), text));
}

static bool same_shape(const struct st_tensor *a, const struct st_tensor *b)
{
    return a->dtype == b->dtype && a->n_dims == b->n_dims &&
           memcmp(a->shape, b->shape, (size_t)a->n_dims * sizeof a->shape[0]) ==
               0;
}

/* Norm of the difference over the larger norm. */
static double tensor_difference(const struct st_tensor *a,
                                const struct st_tensor *b)
{
    double squares = 0, of_a = 0, of_b = 0;

    for (int64_t i = 0; i < a->n; i++) {
        double x = st_get(a, i), y = st_get(b, i);

        squares += (x - y) * (x - y);
        of_a += x * x;
        of_b += y * y;
    }
    if (squares == 0)
        return 0;
    return isfinite(squares) ? sqrt(squares / fmax(of_a, of_b)) : INFINITY;
}

/* Counts the numbers whose bits differ, and names the first. */
static void count_numbers(const struct st_tensor *a, const struct st_tensor *b,
                          struct tensor_result *out)
{
    size_t size = st_dtype_size(a->dtype);

    for (int64_t i = 0; i < a->n; i++) {
        if (memcmp((const char *)a->data + (size_t)i * size,
                   (const char *)b->data + (size_t)i * size, size) == 0)
            continue;
        if (out->differing++ > 0)
            continue;
        text_addf(&out->first, "%s[%" PRId64 "]: ", a->name, i);
        add_number(a, i, &out->first);
        text_add(&out->first, " vs ");
        add_number(b, i, &out->first);
    }
}

static void compare_tensor(struct comparison *comparison,
                           const struct st_tensor *a, const struct st_tensor *b,
                           struct tensor_result *out)
{
    double tolerance = comparison->request->tolerance, relative;

    out->n++;
    out->numbers += a->n;
    if (memcmp(a->data, b->data, a->bytes) == 0)
        return;
    relative = tensor_difference(a, b);
    if (!is_moment(a))
        difference_note(comparison, relative, "%.100s", a->name);
    if (tolerance > 0 && relative <= tolerance)
        return;
    out->n_differing++;
    count_numbers(a, b, out);
}

static void compare_files(struct comparison *comparison,
                          const struct st_file *a, const struct st_file *b,
                          struct tensor_result *out)
{
    for (size_t i = 0; i < a->n_tensors; i++) {
        const struct st_tensor *x = &a->tensors[i];
        const struct st_tensor *y = st_find(b, x->name);

        if (comparison->request->tolerance > 0 && is_moment(x))
            continue;
        if (y != NULL && same_shape(x, y))
            compare_tensor(comparison, x, y, out);
        else if (out->shape.length == 0)
            text_addf(&out->shape, "%.200s %s", x->name,
                      y == NULL ? "is not written by this build"
                                : "has another shape or type");
    }
    if (out->shape.length == 0 && a->n_tensors < b->n_tensors)
        text_addf(&out->shape, "has %zu tensors, expected %zu", a->n_tensors,
                  b->n_tensors);
}

/* ---- a checkpoint -------------------------------------------------------- */

static void add_share(const struct tensor_result *result, struct text *out)
{
    text_addf(out,
              "%s (%" PRId64 " of %" PRId64 " numbers in %zu of %zu "
              "tensors differ)",
              text_string(&result->first), result->differing, result->numbers,
              result->n_differing, result->n);
}

/* A file whose own SHA-256 does not fit: what of it is known. */
static int tell_broken(struct comparison *comparison, int which,
                       const struct tensor_result *result, struct m2_error *err)
{
    struct text text = {0};
    int code;

    text_add(&text, "its own SHA-256 does not fit any more: altered or damaged "
                    "after it was written");
    if (result == NULL)
        text_add(&text, "; it cannot be compared, being of another step");
    else if (result->shape.length > 0)
        text_addf(&text, "; %s", text_string(&result->shape));
    else if (result->differing > 0) {
        text_add(&text, "; ");
        add_share(result, &text);
    } else
        text_add(&text, "; its numbers are those computed again, so it is its "
                        "metadata that were");
    code = finding_add(
        comparison,
        (struct finding_place){FINDING_ALTERED, checkpoint_names[which], -1},
        err, "%s", text_string(&text));
    text_free(&text);
    return code;
}

/* Different numbers in a whole file.  Its trace proves the losses up to its
 * step, not the update after the last of them. */
static int tell_tensors(struct comparison *comparison, int which,
                        const struct tensor_result *result,
                        struct m2_error *err)
{
    const struct run_checkpoint *recorded =
        &comparison->checkpoints[which][SIDE_RECORDED];
    struct text text = {0};
    int code;

    if (result->shape.length > 0)
        text_add(&text, text_string(&result->shape));
    else
        add_share(result, &text);
    if (comparison->request->tolerance == 0 &&
        recorded->step <= comparison->agreed)
        text_addf(&text,
                  "; every loss up to step %" PRId64
                  " agrees: the last update was computed differently",
                  recorded->step);
    code = finding_add(comparison,
                       (struct finding_place){FINDING_COMPUTED,
                                              checkpoint_names[which],
                                              recorded->step},
                       err, "%s", text_string(&text));
    text_free(&text);
    return code;
}

/* Both are there, of the same step. */
static int compare_checkpoint(struct comparison *comparison, int which,
                              struct m2_error *err)
{
    const struct run_checkpoint *pair = comparison->checkpoints[which];
    struct tensor_result result = {0};
    int code;

    compare_files(comparison, &pair[SIDE_RECORDED].file, &pair[SIDE_AGAIN].file,
                  &result);
    comparison->out->n_tensors += result.n;
    code = result.first.failed || result.shape.failed
               ? m2_fail(err, M2_E_MEMORY, "out of memory")
               : 0;
    if (code == 0 && !pair[SIDE_RECORDED].sealed)
        code = tell_broken(comparison, which, &result, err);
    else if (code == 0 && (result.n_differing > 0 || result.shape.length > 0))
        code = tell_tensors(comparison, which, &result, err);
    if (code == 0 && which == CHECKPOINT_OF_LAST)
        code = difference_parameters(&pair[SIDE_AGAIN].file,
                                     comparison->out->parameters, err);
    text_free(&result.first);
    text_free(&result.shape);
    return code;
}

/* A whole checkpoint and the row of its step come from one computation. */
static int check_trace(struct comparison *comparison, int which,
                       struct m2_error *err)
{
    const struct run_checkpoint *pair = comparison->checkpoints[which];
    const struct run_checkpoint *recorded = &pair[SIDE_RECORDED];

    if (!recorded->sealed || comparison->request->tolerance > 0 ||
        recorded->step > comparison->agreed || recorded->step < 1 ||
        pair[SIDE_AGAIN].step != recorded->step ||
        strcmp(recorded->trace, pair[SIDE_AGAIN].trace) == 0)
        return 0;
    return finding_add(comparison,
                       (struct finding_place){FINDING_ALTERED,
                                              checkpoint_names[which],
                                              recorded->step},
                       err,
                       "its trace %s is not that of metrics.csv: it comes from "
                       "another training",
                       recorded->trace);
}

/* Only one is there, or they are of different steps. */
static int tell_uncompared(struct comparison *comparison, int which,
                           struct m2_error *err)
{
    const struct run_checkpoint *recorded =
        &comparison->checkpoints[which][SIDE_RECORDED];
    const struct run_checkpoint *again =
        &comparison->checkpoints[which][SIDE_AGAIN];
    bool is_whole = comparison->request->last_step == 0 &&
                    comparison->request->tolerance == 0;
    struct finding_place place = {FINDING_NOTE, checkpoint_names[which],
                                  recorded->step};

    if (!recorded->there)
        return finding_add(comparison, place, err,
                           "is not there: it could not be compared");
    if (recorded->readable && !recorded->sealed)
        return tell_broken(comparison, which, NULL, err);
    if (!recorded->readable)
        return 0;
    if (is_whole)
        place.kind = FINDING_COMPUTED;
    if (!again->there)
        return finding_add(comparison, place, err,
                           "is of step %" PRId64 "; the new run wrote none%s",
                           recorded->step,
                           is_whole ? "" : ": it could not be compared");
    return finding_add(comparison, place, err,
                       "is of step %" PRId64 ", the new one of step %" PRId64
                       "%s",
                       recorded->step, again->step,
                       is_whole ? "" : ": they could not be compared");
}

int checkpoints_compare(struct comparison *comparison, struct m2_error *err)
{
    int code = 0;

    for (int which = 0; code == 0 && which < N_CHECKPOINTS; which++) {
        const struct run_checkpoint *recorded =
            &comparison->checkpoints[which][SIDE_RECORDED];
        const struct run_checkpoint *again =
            &comparison->checkpoints[which][SIDE_AGAIN];

        if (!recorded->there && !again->there)
            continue;
        code = check_trace(comparison, which, err);
        if (code == 0 && recorded->readable && again->readable &&
            recorded->step == again->step)
            code = compare_checkpoint(comparison, which, err);
        else if (code == 0)
            code = tell_uncompared(comparison, which, err);
    }
    return code;
}
