/* What differs between two computations of one run, and why. */
#include "reproduce/difference_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/trace_file.h"
#include "results/listing.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"

#define MAX_ALTERED 8 /* told one by one */

/* ---- findings ------------------------------------------------------------ */

int finding_add(struct comparison *comparison, struct finding_place place,
                struct m2_error *err, const char *format, ...)
{
    struct difference *out = comparison->out;
    struct text text = {0};
    char *string;
    va_list arguments;

    out->differs = out->differs || place.kind != FINDING_NOTE;
    if (place.kind == FINDING_ALTERED && ++comparison->n_altered > MAX_ALTERED)
        return 0;
    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    string = text_steal(&text, err);
    if (string == NULL ||
        array_reserve(&out->findings, &out->capacity, out->n_findings + 1,
                      sizeof *out->findings, err) != 0) {
        free(string);
        return M2_E_MEMORY;
    }
    out->findings[out->n_findings++] = (struct finding){
        .kind = place.kind,
        .file = place.file,
        .step = place.step,
        .agreed = comparison->agreed,
        .text = string,
    };
    return 0;
}

const char *finding_cause(const struct m2_error *cause, const char *path)
{
    size_t length = strlen(path);

    if (strncmp(cause->text, path, length) != 0)
        return cause->text;
    return strncmp(cause->text + length, ": ", 2) == 0
               ? cause->text + length + 2
               : cause->text + length;
}

static int compare_findings(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;

    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* A stable order: qsort is none, and equal steps were found in a good one. */
static void sort_findings(struct difference *out)
{
    for (size_t i = 1; i < out->n_findings; i++) {
        struct finding moved = out->findings[i];
        size_t at = i;

        while (at > 0 && compare_findings(&out->findings[at - 1], &moved) > 0) {
            out->findings[at] = out->findings[at - 1];
            at--;
        }
        out->findings[at] = moved;
    }
}

void difference_note(struct comparison *comparison, double relative,
                     const char *format, ...)
{
    struct difference *out = comparison->out;
    va_list arguments;

    if (!(relative > out->largest))
        return;
    out->largest = relative;
    va_start(arguments, format);
    vsnprintf(out->largest_at, sizeof out->largest_at, format, arguments);
    va_end(arguments);
}

double relative_difference(double a, double b)
{
    double largest = fmax(fabs(a), fabs(b));

    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    if (!isfinite(a) || !isfinite(b))
        return INFINITY;
    return fabs(a - b) / largest;
}

/* ---- where the traces part ----------------------------------------------- */

/* The new run's trace of a step, from the nearest source; false: unknown. */
static bool find_trace(const struct comparison *comparison, int64_t step,
                       char out[TRACE_TEXT])
{
    const struct run_rows *rows = &comparison->rows[SIDE_AGAIN];
    int64_t row = rows_find(comparison, step);

    if (row >= 0 && rows->trace >= 0) {
        snprintf(out, TRACE_TEXT, "%s",
                 rows_cell(rows, (size_t)row, rows->trace));
        return true;
    }
    for (int i = 0; i < N_CHECKPOINTS; i++) {
        const struct run_checkpoint *found =
            &comparison->checkpoints[i][SIDE_AGAIN];

        if (found->sealed && found->step == step) {
            memcpy(out, found->trace, TRACE_TEXT);
            return true;
        }
    }
    return comparison->request->traces != NULL &&
           trace_file_find(comparison->request->traces, step, out);
}

/* What one recorded trace says. */
static void take_trace(struct comparison *comparison, int64_t step,
                       const char *recorded, bool agreeing)
{
    char again[TRACE_TEXT];
    bool equal;

    if (step < 1 || !find_trace(comparison, step, again))
        return;
    equal = strcmp(recorded, again) == 0;
    if (agreeing && equal && step > comparison->agreed)
        comparison->agreed = step;
    if (!agreeing && !equal && step > comparison->agreed &&
        (comparison->parted == 0 || step < comparison->parted))
        comparison->parted = step;
}

/* All recorded traces: rows, and checkpoints that are whole.  A row's step is
 * that of the new run's row: the cell may have been altered. */
static void take_traces(struct comparison *comparison, bool agreeing)
{
    const struct run_rows *rows = &comparison->rows[SIDE_RECORDED];

    for (size_t i = 0; rows->trace >= 0 && i < comparison->n_pairs; i++) {
        const struct row_pair *pair = &comparison->pairs[i];

        if (pair->recorded < 0)
            continue;
        take_trace(
            comparison,
            pair->again >= 0 ? comparison->rows[SIDE_AGAIN].steps[pair->again]
                             : rows->steps[pair->recorded],
            rows_cell(rows, (size_t)pair->recorded, rows->trace), agreeing);
    }
    for (int i = 0; i < N_CHECKPOINTS; i++) {
        const struct run_checkpoint *found =
            &comparison->checkpoints[i][SIDE_RECORDED];

        if (found->sealed)
            take_trace(comparison, found->step, found->trace, agreeing);
    }
}

/* ---- the whole ----------------------------------------------------------- */

static int load_records(struct comparison *comparison, struct m2_error *err)
{
    const char *const paths[N_SIDES] = {comparison->request->recorded,
                                        comparison->request->again};
    int code = 0;

    for (int side = 0; code == 0 && side < N_SIDES; side++) {
        struct run_entry entry;

        code = run_entry_load(paths[side], &entry, err);
        if (code != 0)
            break;
        comparison->record[side] = json_incref(entry.record);
        if (side == SIDE_RECORDED && entry.damage != NULL)
            code = finding_add(
                comparison,
                (struct finding_place){FINDING_ALTERED, "run.json", -1}, err,
                "%s", entry.damage);
        run_entry_free(&entry);
    }
    return code;
}

static int read_all(struct comparison *comparison, struct m2_error *err)
{
    int code = load_records(comparison, err);

    if (code == 0)
        code = rows_read(comparison, err);
    if (code == 0)
        code = checkpoints_read(comparison, err);
    return code;
}

static int compare_all(struct comparison *comparison, struct m2_error *err)
{
    int code;

    take_traces(comparison, true);
    take_traces(comparison, false);
    code = rows_compare(comparison, err);
    if (code == 0)
        code = checkpoints_compare(comparison, err);
    if (code == 0)
        code = record_compare(comparison, err);
    if (code == 0 && comparison->n_altered > MAX_ALTERED)
        code = finding_add(comparison,
                           (struct finding_place){FINDING_NOTE, "", INT64_MAX},
                           err, "%zu more places were altered",
                           comparison->n_altered - MAX_ALTERED);
    return code;
}

int difference_find(const struct difference_request *request,
                    struct difference *out, struct m2_error *err)
{
    struct comparison comparison = {.request = request, .out = out};
    int code;

    *out = (struct difference){0};
    code = read_all(&comparison, err);
    if (code == 0)
        code = compare_all(&comparison, err);
    sort_findings(out);
    for (int side = 0; side < N_SIDES; side++)
        json_decref(comparison.record[side]);
    rows_free(&comparison);
    checkpoints_free(&comparison);
    return code;
}

void difference_free(struct difference *difference)
{
    for (size_t i = 0; i < difference->n_findings; i++)
        free(difference->findings[i].text);
    free(difference->findings);
    *difference = (struct difference){0};
}
