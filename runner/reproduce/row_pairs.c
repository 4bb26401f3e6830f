/* Reading metrics.csv of both runs, and finding which rows belong together. */
#include <stdlib.h>
#include <string.h>

#include "reproduce/difference_private.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"

#define METRICS_LIMIT ((size_t)1 << 30)

static const struct finding_place altered = {FINDING_ALTERED, "metrics.csv",
                                             -1};

void rows_free(struct comparison *comparison)
{
    for (int side = 0; side < N_SIDES; side++) {
        csv_table_free(&comparison->rows[side].table);
        free(comparison->rows[side].steps);
    }
    free(comparison->pairs);
}

const char *rows_cell(const struct run_rows *rows, size_t row, int column)
{
    return rows->table.cells[row * rows->table.n_columns + (size_t)column];
}

int64_t rows_find(const struct comparison *comparison, int64_t step)
{
    const struct run_rows *rows = &comparison->rows[SIDE_AGAIN];
    size_t low = 0, high = rows->table.n_rows;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->steps[middle] < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->table.n_rows && rows->steps[low] == step ? (int64_t)low
                                                                : -1;
}

/* ---- reading ------------------------------------------------------------- */

static int fill_steps(struct run_rows *rows, const char *path,
                      struct m2_error *err)
{
    int column = csv_table_column(&rows->table, "step");

    rows->trace = csv_table_column(&rows->table, "trace");
    if (column < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: has no column step", path);
    rows->steps = memory_zeroed(rows->table.n_rows, sizeof *rows->steps, err);
    if (rows->steps == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < rows->table.n_rows; i++)
        if (!number_parse_int(rows_cell(rows, i, column), &rows->steps[i]) ||
            rows->steps[i] < 1)
            rows->steps[i] = -1;
    return 0;
}

static int read_file(struct run_rows *rows, const char *path, struct text *text,
                     struct m2_error *err)
{
    int code = file_check_regular(path, M2_E_RESULTS, err);

    if (code == 0)
        code = file_read(path, METRICS_LIMIT, M2_E_RESULTS, text, err);
    if (code == 0) {
        rows->bytes = (int64_t)text->length;
        code = csv_table_parse(path, text_string(text), text->length,
                               &rows->table, err);
    }
    return code != 0 ? code : fill_steps(rows, path, err);
}

static void forget_rows(struct run_rows *rows)
{
    csv_table_free(&rows->table);
    free(rows->steps);
    rows->steps = NULL;
    rows->trace = -1;
}

/* What is wrong with the recorded file is a finding. */
static int read_side(struct comparison *comparison, int side, const char *dir,
                     struct m2_error *err)
{
    struct run_rows *rows = &comparison->rows[side];
    struct text text = {0};
    struct m2_error cause;
    char *path = path_join(dir, "metrics.csv", err);
    int code = path == NULL ? M2_E_MEMORY : 0;

    rows->bytes = rows->trace = -1;
    if (code == 0 && file_exists(path)) {
        code = read_file(rows, path, &text, &cause);
        if (code == M2_E_RESULTS && side == SIDE_RECORDED) {
            forget_rows(rows);
            code = finding_add(comparison, altered, err, "%s",
                               finding_cause(&cause, path));
        } else if (code != 0) {
            code = m2_fail(err, code, "%s", cause.text);
        } else if (side == SIDE_RECORDED && text.length > 0 &&
                   text.bytes[text.length - 1] != '\n') {
            code = finding_add(comparison, altered, err,
                               "ends in the middle of line %zu",
                               rows->table.n_rows + 2);
        }
    }
    text_free(&text);
    free(path);
    return code;
}

/* ---- pairing ------------------------------------------------------------- */

static bool has_step(const struct run_rows *rows, size_t from, int64_t step)
{
    for (size_t i = from; i < rows->table.n_rows; i++)
        if (rows->steps[i] == step)
            return true;
    return false;
}

/* Rows after the last step that is compared do not count. */
static void skip_late(const struct comparison *comparison, int side,
                      size_t *row)
{
    const struct run_rows *rows = &comparison->rows[side];
    int64_t last = comparison->request->last_step;

    while (last > 0 && *row < rows->table.n_rows && rows->steps[*row] > last)
        ++*row;
}

/* The next pair of rows i (recorded) and j (again), both there.  A step that
 * the other one does not have is a row too many or too few; two of them are
 * one row whose step was altered. */
static struct row_pair next_pair(const struct comparison *comparison, size_t i,
                                 size_t j)
{
    const struct run_rows *recorded = &comparison->rows[SIDE_RECORDED];
    const struct run_rows *again = &comparison->rows[SIDE_AGAIN];
    struct row_pair pair = {(int64_t)i, (int64_t)j};
    bool in_again, in_recorded;

    if (recorded->steps[i] == again->steps[j])
        return pair;
    in_again = rows_find(comparison, recorded->steps[i]) >= (int64_t)j;
    in_recorded = has_step(recorded, i, again->steps[j]);
    if (in_recorded)
        pair.again = -1;
    else if (in_again)
        pair.recorded = -1;
    return pair;
}

static int make_pairs(struct comparison *comparison, struct m2_error *err)
{
    size_t n_recorded = comparison->rows[SIDE_RECORDED].table.n_rows;
    size_t n_again = comparison->rows[SIDE_AGAIN].table.n_rows;
    size_t i = 0, j = 0;

    comparison->pairs =
        memory_zeroed(n_recorded + n_again, sizeof *comparison->pairs, err);
    if (comparison->pairs == NULL)
        return M2_E_MEMORY;
    for (;;) {
        struct row_pair pair;

        skip_late(comparison, SIDE_RECORDED, &i);
        skip_late(comparison, SIDE_AGAIN, &j);
        if (i >= n_recorded && j >= n_again)
            return 0;
        if (i < n_recorded && j < n_again)
            pair = next_pair(comparison, i, j);
        else
            pair = (struct row_pair){i < n_recorded ? (int64_t)i : -1,
                                     j < n_again ? (int64_t)j : -1};
        i += pair.recorded >= 0;
        j += pair.again >= 0;
        comparison->pairs[comparison->n_pairs++] = pair;
    }
}

int rows_read(struct comparison *comparison, struct m2_error *err)
{
    const struct run_rows *recorded = &comparison->rows[SIDE_RECORDED];
    const struct run_rows *again = &comparison->rows[SIDE_AGAIN];
    int code = read_side(comparison, SIDE_RECORDED,
                         comparison->request->recorded, err);

    if (code == 0)
        code =
            read_side(comparison, SIDE_AGAIN, comparison->request->again, err);
    if (code == 0 && recorded->bytes < 0 && again->table.n_rows > 0)
        code = finding_add(comparison, altered, err, "is missing");
    if (code == 0 && recorded->steps != NULL && again->steps != NULL)
        code = make_pairs(comparison, err);
    return code;
}
