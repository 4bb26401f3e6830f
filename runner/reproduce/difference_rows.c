/* metrics.csv of both runs, cell by cell. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/difference_private.h"
#include "util/memory.h"

static const char file_name[] = "metrics.csv";

/* What all rows of a comparison share. */
struct row_walk {
    struct comparison *comparison;
    const struct run_rows *recorded, *again;
    int *columns;           /* (recorded columns) the new run's, or -1 */
    size_t n_evaluated;     /* rows with validation scores */
    size_t n_scores_differ; /* of these, where training agrees */
    bool told_computed;     /* the first row that differs was told */
};

/* ---- cells --------------------------------------------------------------- */

static const char *column_name(const struct row_walk *walk, size_t column)
{
    return walk->recorded->table.columns[column];
}

/* Do these cells differ?  With a tolerance: by more than it. */
static bool cell_differs(const struct row_walk *walk, size_t column,
                         const struct row_pair *pair)
{
    const char *name = column_name(walk, column);
    double tolerance = walk->comparison->request->tolerance, relative;
    const char *a, *b;

    if (walk->columns[column] < 0)
        return false;
    a = rows_cell(walk->recorded, (size_t)pair->recorded, (int)column);
    b = rows_cell(walk->again, (size_t)pair->again, walk->columns[column]);
    if (strcmp(a, b) == 0)
        return false;
    relative = *a == '\0' || *b == '\0'
                   ? INFINITY
                   : relative_difference(cell_value(a), cell_value(b));
    if (column_is_number(name))
        difference_note(walk->comparison, relative, "%s of step %" PRId64, name,
                        walk->again->steps[pair->again]);
    if (tolerance == 0)
        return true;
    return strcmp(name, "trace") != 0 &&
           (!column_is_number(name) || relative > tolerance);
}

/* "train/loss 2.3170986 vs 2.3170989" */
static void add_cells(const struct row_walk *walk, size_t column,
                      const struct row_pair *pair, struct text *out)
{
    char a[CELL_SHOWN_SIZE], b[CELL_SHOWN_SIZE];

    text_addf(
        out, "%s %s vs %s", column_name(walk, column),
        cell_shown(
            rows_cell(walk->recorded, (size_t)pair->recorded, (int)column), a),
        cell_shown(
            rows_cell(walk->again, (size_t)pair->again, walk->columns[column]),
            b));
}

/* ---- a row that was computed differently --------------------------------- */

/* Which step was the first, where that is not the row's. */
static void add_first_step(const struct comparison *comparison, int64_t step,
                           struct text *out)
{
    int64_t first = comparison->agreed + 1, last = comparison->parted;

    if (last == 0 || last > step)
        last = step;
    if (first < last)
        text_addf(out,
                  "; the first step that differs is one of %" PRId64
                  " to %" PRId64,
                  first, last);
    else if (last < step)
        text_addf(out, "; the first step that differs is %" PRId64, last);
}

/* The first differing cell; the trace alone when all digits agree. */
static int tell_computed(struct row_walk *walk, const struct row_pair *pair,
                         struct m2_error *err)
{
    struct comparison *comparison = walk->comparison;
    int64_t step = walk->again->steps[pair->again];
    size_t n = walk->recorded->table.n_columns, column = 0;
    struct text text = {0};
    int code;

    while (column < n && ((int)column == walk->recorded->trace ||
                          !cell_differs(walk, column, pair)))
        column++;
    if (column < n) {
        add_cells(walk, column, pair, &text);
    } else {
        add_cells(walk, (size_t)walk->recorded->trace, pair, &text);
        text_add(&text, ", though every number of this row agrees");
    }
    if (comparison->request->tolerance == 0)
        add_first_step(comparison, step, &text);
    code = text_check(&text, err);
    if (code == 0)
        code = finding_add(
            comparison,
            (struct finding_place){FINDING_COMPUTED, file_name, step}, err,
            "%s", text_string(&text));
    text_free(&text);
    walk->told_computed = true;
    return code;
}

/* ---- a row whose computation is proven to be the same -------------------- */

/* Scores are not in the trace.  Where run.json has the same ones, or most rows
 * differ, they were computed that way; one cell among many was altered. */
static bool score_was_computed(const struct row_walk *walk, size_t column,
                               const struct row_pair *pair)
{
    return record_repeats(walk->comparison, walk->again->steps[pair->again],
                          column_name(walk, column),
                          rows_cell(walk->recorded, (size_t)pair->recorded,
                                    (int)column)) ||
           (walk->n_scores_differ > 1 &&
            2 * walk->n_scores_differ > walk->n_evaluated);
}

static int tell_score(struct row_walk *walk, size_t column,
                      const struct row_pair *pair, struct m2_error *err)
{
    int64_t step = walk->again->steps[pair->again];
    bool computed = score_was_computed(walk, column, pair);
    struct text text = {0};
    int code;

    if (computed && walk->told_computed)
        return 0;
    add_cells(walk, column, pair, &text);
    text_add(&text, computed
                        ? ": the training agrees, the validation was computed "
                          "differently"
                        : ": the training agrees, and so do other scores: this "
                          "one was altered");
    walk->told_computed = walk->told_computed || computed;
    code = finding_add(
        walk->comparison,
        (struct finding_place){computed ? FINDING_COMPUTED : FINDING_ALTERED,
                               file_name, step},
        err, "%s", text_string(&text));
    text_free(&text);
    return code;
}

static int tell_altered(struct row_walk *walk, size_t column,
                        const struct row_pair *pair, struct m2_error *err)
{
    int64_t step = walk->again->steps[pair->again];
    struct text text = {0};
    int code;

    add_cells(walk, column, pair, &text);
    if (relative_difference(
            cell_value(
                rows_cell(walk->recorded, (size_t)pair->recorded, (int)column)),
            cell_value(rows_cell(walk->again, (size_t)pair->again,
                                 walk->columns[column]))) == 0 &&
        column_is_number(column_name(walk, column)))
        text_add(&text, ", the same number in digits that no run writes");
    text_addf(&text,
              ": the trace of step %" PRId64 " proves that the computation "
              "was the same: this cell was altered",
              step <= walk->comparison->agreed ? walk->comparison->agreed
                                               : step);
    code = finding_add(walk->comparison,
                       (struct finding_place){FINDING_ALTERED, file_name, step},
                       err, "%s", text_string(&text));
    text_free(&text);
    return code;
}

static int tell_proven(struct row_walk *walk, const struct row_pair *pair,
                       struct m2_error *err)
{
    size_t n = walk->recorded->table.n_columns;
    int code = 0;

    for (size_t i = 0; code == 0 && i < n; i++) {
        if (!cell_differs(walk, i, pair))
            continue;
        code = column_is_score(column_name(walk, i))
                   ? tell_score(walk, i, pair, err)
                   : tell_altered(walk, i, pair, err);
    }
    return code;
}

/* ---- rows ---------------------------------------------------------------- */

/* Was the training up to this row proven to be the same?  With a tolerance
 * nothing is. */
static bool is_proven(const struct row_walk *walk, const struct row_pair *pair)
{
    uint8_t ignored[TRACE_BYTES];
    bool broken = walk->recorded->trace >= 0 &&
                  trace_parse(rows_cell(walk->recorded, (size_t)pair->recorded,
                                        walk->recorded->trace),
                              ignored) != 0;

    return walk->comparison->request->tolerance == 0 &&
           (broken ||
            walk->again->steps[pair->again] <= walk->comparison->agreed);
}

static bool row_differs(const struct row_walk *walk,
                        const struct row_pair *pair)
{
    bool differs = false;

    for (size_t i = 0; i < walk->recorded->table.n_columns; i++)
        differs = cell_differs(walk, i, pair) || differs;
    return differs;
}

static int compare_pair(struct row_walk *walk, const struct row_pair *pair,
                        struct m2_error *err)
{
    struct difference *out = walk->comparison->out;

    out->n_rows++;
    out->last_step = walk->again->steps[pair->again];
    if (!row_differs(walk, pair))
        return 0;
    walk->comparison->n_rows_differ++;
    if (is_proven(walk, pair))
        return tell_proven(walk, pair, err);
    return walk->told_computed ? 0 : tell_computed(walk, pair, err);
}

/* A row that only the recorded run has: none that this run could have written,
 * unless the new one ended before it. */
static int tell_extra(struct row_walk *walk, const struct row_pair *pair,
                      struct m2_error *err)
{
    size_t n = walk->again->table.n_rows;
    int64_t step = walk->recorded->steps[pair->recorded];
    int64_t last = n > 0 ? walk->again->steps[n - 1] : 0;

    walk->comparison->n_rows_differ++;
    if (step > last && walk->told_computed)
        return 0;
    if (step > last) {
        walk->told_computed = true;
        return finding_add(
            walk->comparison,
            (struct finding_place){FINDING_COMPUTED, file_name, step}, err,
            "the recorded run went on, the new one ended after step %" PRId64,
            last);
    }
    return finding_add(walk->comparison,
                       (struct finding_place){FINDING_ALTERED, file_name, step},
                       err, "line %" PRId64 " is none that this run writes",
                       pair->recorded + 2);
}

/* A row that only the new run has: cut off, if the recorded run is known to
 * have come this far. */
static int tell_missing(struct row_walk *walk, const struct row_pair *pair,
                        struct m2_error *err)
{
    struct comparison *comparison = walk->comparison;
    const struct run_checkpoint *last =
        &comparison->checkpoints[CHECKPOINT_OF_LAST][SIDE_RECORDED];
    int64_t step = walk->again->steps[pair->again];
    size_t n = walk->recorded->table.n_rows;
    bool was_there = step <= record_integer(comparison, "step") ||
                     (last->sealed && step <= last->step) ||
                     (n > 0 && step < walk->recorded->steps[n - 1]);

    comparison->n_rows_differ++;
    if (was_there)
        return finding_add(
            comparison,
            (struct finding_place){FINDING_ALTERED, file_name, step}, err,
            "the row of this step is missing");
    if (walk->told_computed)
        return 0;
    walk->told_computed = true;
    return finding_add(
        comparison, (struct finding_place){FINDING_COMPUTED, file_name, step},
        err,
        "the recorded run ended before, the new one went "
        "on");
}

/* ---- the table ----------------------------------------------------------- */

/* A column that only one has is a note, two in one place are a name altered. */
static int match_columns(struct row_walk *walk, struct m2_error *err)
{
    const struct csv_table *a = &walk->recorded->table;
    const struct csv_table *b = &walk->again->table;
    int code = 0;

    walk->columns = memory_zeroed(a->n_columns, sizeof *walk->columns, err);
    if (walk->columns == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; code == 0 && i < a->n_columns; i++) {
        char name[CELL_SHOWN_SIZE];
        struct finding_place place = {FINDING_NOTE, file_name, -1};

        walk->columns[i] = csv_table_column(b, a->columns[i]);
        if (walk->columns[i] >= 0)
            continue;
        if (i < b->n_columns && csv_table_column(a, b->columns[i]) < 0) {
            place.kind = FINDING_ALTERED;
            code = finding_add(walk->comparison, place, err,
                               "column %zu is called '%s', not %s", i + 1,
                               cell_shown(a->columns[i], name), b->columns[i]);
        } else {
            code = finding_add(walk->comparison, place, err,
                               "column '%s' is not written by this build",
                               cell_shown(a->columns[i], name));
        }
    }
    return code;
}

/* Rows with scores, and those whose scores alone differ. */
static void count_scores(struct row_walk *walk)
{
    for (size_t i = 0; i < walk->comparison->n_pairs; i++) {
        const struct row_pair *pair = &walk->comparison->pairs[i];
        bool evaluated = false, differs = false;

        if (pair->recorded < 0 || pair->again < 0)
            continue;
        for (size_t c = 0; c < walk->recorded->table.n_columns; c++)
            if (column_is_score(column_name(walk, c)) &&
                walk->columns[c] >= 0) {
                evaluated =
                    evaluated || *rows_cell(walk->again, (size_t)pair->again,
                                            walk->columns[c]) != '\0';
                differs = differs || cell_differs(walk, c, pair);
            }
        walk->n_evaluated += evaluated;
        walk->n_scores_differ += differs && is_proven(walk, pair);
    }
}

/* How many bytes a whole checkpoint counted is how many there must be. */
static int check_bytes(struct comparison *comparison, struct m2_error *err)
{
    const struct run_checkpoint *last =
        &comparison->checkpoints[CHECKPOINT_OF_LAST][SIDE_RECORDED];
    const struct run_rows *rows = &comparison->rows[SIDE_RECORDED];
    size_t n = rows->table.n_rows;
    bool is_last = n > 0 && rows->steps[n - 1] <= last->step;

    if (!last->sealed || rows->steps == NULL ||
        comparison->request->tolerance > 0 ||
        (is_last ? rows->bytes == last->rows_bytes
                 : rows->bytes >= last->rows_bytes))
        return 0;
    return finding_add(
        comparison, (struct finding_place){FINDING_ALTERED, file_name, -1}, err,
        "has %" PRId64 " bytes; its checkpoint of step %" PRId64
        " counted %" PRId64,
        rows->bytes, last->step, last->rows_bytes);
}

int rows_compare(struct comparison *comparison, struct m2_error *err)
{
    struct row_walk walk = {
        .comparison = comparison,
        .recorded = &comparison->rows[SIDE_RECORDED],
        .again = &comparison->rows[SIDE_AGAIN],
    };
    int code = check_bytes(comparison, err);

    if (code == 0 && comparison->pairs != NULL) {
        code = match_columns(&walk, err);
        if (code == 0)
            count_scores(&walk);
    }
    for (size_t i = 0; code == 0 && i < comparison->n_pairs; i++) {
        const struct row_pair *pair = &comparison->pairs[i];

        if (pair->again < 0)
            code = tell_extra(&walk, pair, err);
        else if (pair->recorded < 0)
            code = tell_missing(&walk, pair, err);
        else
            code = compare_pair(&walk, pair, err);
    }
    free(walk.columns);
    return code;
}
