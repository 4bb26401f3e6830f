/* Scores read back from metrics.csv, and the one look at the test part. */
#include "train/scores.h"

#include <math.h>
#include <stdlib.h>

#include "results/csvlog.h"
#include "util/number.h"
#include "util/path.h"

static double cell(const struct csv_table *table, size_t row, const char *name)
{
    int column = csv_table_column(table, name);
    double value = NAN;

    if (column >= 0)
        number_parse_double(
            table->cells[row * table->n_columns + (size_t)column], &value);
    return value;
}

static void fill_score(const struct csv_table *table, size_t row,
                       struct score *score)
{
    for (size_t i = 0; i < score->n; i++) {
        char name[32];

        snprintf(name, sizeof name, "val/%s", score->items[i].name);
        score->items[i].value = cell(table, row, name);
    }
}

int scores_read_back(const char *dir, const struct evaluator *evaluator,
                     struct train_outcome *outcome, struct score *best,
                     struct m2_error *err)
{
    char *path = path_join(dir, "metrics.csv", err);
    struct csv_table table;
    int code = path == NULL ? M2_E_MEMORY : csv_table_read(path, &table, err);

    free(path);
    if (code != 0)
        return code;
    evaluator_names(evaluator, best);
    outcome->final = *best;
    for (size_t row = 0; row < table.n_rows; row++) {
        if (cell(&table, row, "step") == (double)outcome->state.best_step)
            fill_score(&table, row, best);
        if (row == table.n_rows - 1) {
            fill_score(&table, row, &outcome->final);
            outcome->train_loss = cell(&table, row, "train/loss");
        }
    }
    csv_table_free(&table);
    return 0;
}

static int restore(const struct test_request *request, struct m2_error *err)
{
    struct train_state state;
    struct st_file file;
    struct text path = {0};
    int code;

    text_addf(&path, "%s/checkpoints/%s.safetensors", request->dir,
              request->name);
    code = text_check(&path, err);
    if (code == 0)
        code = checkpoint_read(text_string(&path), request->identity, &file,
                               &state, err);
    text_free(&path);
    if (code != 0)
        return code;
    code = checkpoint_restore(&file, request->session->model, NULL, err);
    st_free(&file);
    return code;
}

int scores_test(const struct test_request *request, struct score *out,
                struct m2_error *err)
{
    int code;

    *out = (struct score){0};
    if (request->session->dataset.parts[PART_TEST].n == 0)
        return 0;
    code = restore(request, err);
    return code != 0 ? code
                     : evaluator_run(request->evaluator, PART_TEST, out, err);
}
