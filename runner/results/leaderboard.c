/* Grouping finished runs by what they were configured as. */
#include "results/leaderboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/metric.h"
#include "results/settings.h"
#include "util/memory.h"

void leaderboard_free(struct leaderboard *board)
{
    for (size_t i = 0; i < board->n; i++)
        free(board->rows[i].settings);
    free(board->rows);
    string_list_free(&board->keys);
    *board = (struct leaderboard){0};
}

/* ---- grouping ------------------------------------------------------------ */

/* A run and what tells its configuration from the others. */
struct member {
    char *settings;
    const struct run_entry *entry;
    size_t index;
};

/* Keys that are the same in all runs tell nothing apart. */
static char *settings_text(const struct run_entry *entry,
                           const struct string_list *keys, struct m2_error *err)
{
    const char *data =
        json_string_value(run_value(entry, "data", "fingerprint"));
    struct text text = {0};

    text_add(&text, entry->experiment);
    text_add_char(&text, '\n');
    for (size_t i = 0; i < keys->count; i++) {
        const char *value = setting_value(entry, keys->items[i]);

        if (value == NULL)
            continue;
        text_add(&text, keys->items[i]);
        text_add(&text, ": ");
        setting_write(keys->items[i], value, &text);
        text_add_char(&text, '\n');
    }
    text_add(&text, "data: ");
    text_add(&text, data != NULL ? data : "");
    return text_steal(&text, err);
}

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int order = strcmp(a->settings, b->settings);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* Those with a record, runs of one configuration together. */
static int make_members(const struct run_list *list,
                        const struct string_list *keys, struct member *members,
                        size_t *n, struct m2_error *err)
{
    for (size_t i = 0; i < list->n; i++) {
        struct member member = {.entry = &list->entries[i], .index = i};

        if (list->entries[i].record == NULL)
            continue;
        member.settings = settings_text(member.entry, keys, err);
        if (member.settings == NULL)
            return M2_E_MEMORY;
        members[(*n)++] = member;
    }
    if (*n > 0)
        qsort(members, *n, sizeof *members, compare_members);
    return 0;
}

/* ---- rows ---------------------------------------------------------------- */

static double value_of(const struct run_entry *entry, const char *group,
                       const char *key)
{
    const json_t *value = run_value(entry, group, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double naive_mse(const struct run_entry *entry)
{
    json_t *baselines = run_value(entry, "baselines", "val");
    double best = NAN;
    const char *name;
    json_t *scores;

    json_object_foreach (baselines, name, scores) {
        const json_t *mse = json_object_get(scores, "mse");

        if (json_is_number(mse) &&
            (isnan(best) || json_number_value(mse) < best))
            best = json_number_value(mse);
    }
    return best;
}

/* "val/ic" is "test/ic" there. */
static double test_value(const struct run_entry *entry)
{
    const char *metric = json_string_value(run_value(entry, NULL, "metric"));
    const char *slash = metric != NULL ? strchr(metric, '/') : NULL;
    char key[96];

    if (slash == NULL)
        return NAN;
    snprintf(key, sizeof key, "test%s", slash);
    return value_of(entry, "test", key);
}

static void add_to_row(struct leaderboard_row *row,
                       const struct run_entry *entry)
{
    if (strcmp(entry->state, "done") != 0) {
        row->n_other++;
        row->n_diverged += strcmp(entry->state, "diverged") == 0;
        return;
    }
    row->n_done++;
    row->example = entry;
    statistic_add(&row->metric, value_of(entry, "best", "value"));
    statistic_add(&row->val_mse, value_of(entry, "best", "val/mse"));
    statistic_add(&row->naive, naive_mse(entry));
    statistic_add(&row->skill, value_of(entry, "best", "val/skill"));
    statistic_add(&row->hit_rate, value_of(entry, "best", "val/hit_rate"));
    statistic_add(&row->test, test_value(entry));
    statistic_add(&row->test_mse, value_of(entry, "test", "test/mse"));
}

/* A row per run of equal settings, which the row takes over. */
static int make_rows(struct leaderboard *board, struct member *members,
                     size_t n, struct m2_error *err)
{
    size_t capacity = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_new =
            board->n == 0 || strcmp(board->rows[board->n - 1].settings,
                                    members[i].settings) != 0;

        if (is_new && array_reserve(&board->rows, &capacity, board->n + 1,
                                    sizeof *board->rows, err) != 0)
            return M2_E_MEMORY;
        if (is_new) {
            board->rows[board->n++] = (struct leaderboard_row){
                .settings = members[i].settings,
                .example = members[i].entry,
            };
            members[i].settings = NULL;
        }
        add_to_row(&board->rows[board->n - 1], members[i].entry);
    }
    return 0;
}

static int group_runs(const struct run_list *list, struct leaderboard *board,
                      struct m2_error *err)
{
    struct member *members = memory_zeroed(list->n, sizeof *members, err);
    size_t n = 0;
    int code = members == NULL && list->n > 0 ? M2_E_MEMORY : 0;

    if (code == 0)
        code = make_members(list, &board->keys, members, &n, err);
    if (code == 0)
        code = make_rows(board, members, n, err);
    for (size_t i = 0; i < n; i++)
        free(members[i].settings);
    free(members);
    return code;
}

/* ---- ranking ------------------------------------------------------------- */

const char *leaderboard_metric(const struct leaderboard_row *row)
{
    const char *metric =
        json_string_value(run_value(row->example, NULL, "metric"));

    return metric != NULL ? metric : "";
}

/* Rows without a value come last. */
static int compare_values(const struct leaderboard_row *a,
                          const struct leaderboard_row *b)
{
    double left = statistic_mean(&a->metric),
           right = statistic_mean(&b->metric);
    bool higher_better = metric_is_higher_better(leaderboard_metric(a));

    if (isnan(left) || isnan(right))
        return isnan(left) - isnan(right);
    if (left == right)
        return 0;
    return (left < right) == higher_better ? 1 : -1;
}

/* Values of different metrics cannot be compared, those of different
 * experiments mean nothing: each is ranked on its own.  Equal rows stand in
 * the order of their settings. */
static int compare_rows(const void *left, const void *right)
{
    const struct leaderboard_row *a = left, *b = right;
    int order = strcmp(a->example->experiment, b->example->experiment);

    if (order == 0)
        order = strcmp(leaderboard_metric(a), leaderboard_metric(b));
    if (order == 0)
        order = compare_values(a, b);
    return order != 0 ? order : strcmp(a->settings, b->settings);
}

static const char *common_metric(const struct leaderboard *board)
{
    const char *metric =
        board->n > 0 ? leaderboard_metric(&board->rows[0]) : "metric";

    for (size_t i = 1; i < board->n; i++)
        if (strcmp(metric, leaderboard_metric(&board->rows[i])) != 0)
            return "metric";
    return metric;
}

static bool are_compared(const struct leaderboard_row *a,
                         const struct leaderboard_row *b)
{
    return strcmp(a->example->experiment, b->example->experiment) == 0 &&
           strcmp(leaderboard_metric(a), leaderboard_metric(b)) == 0;
}

/* From 1 in each experiment and metric; without a value there is no rank. */
static void number_rows(struct leaderboard *board)
{
    size_t rank = 0;

    for (size_t i = 0; i < board->n; i++) {
        struct leaderboard_row *row = &board->rows[i];

        if (i > 0 && !are_compared(row, &board->rows[i - 1]))
            rank = 0;
        row->rank = isnan(statistic_mean(&row->metric)) ? 0 : ++rank;
    }
}

/* Rows that are compared stand together. */
static void count_expected(struct leaderboard *board)
{
    size_t first = 0;

    while (first < board->n) {
        size_t end = first, most = 0;

        for (; end < board->n &&
               are_compared(&board->rows[first], &board->rows[end]);
             end++) {
            size_t runs = board->rows[end].n_done + board->rows[end].n_other;

            most = runs > most ? runs : most;
        }
        for (; first < end; first++)
            board->rows[first].n_expected = most;
    }
}

int leaderboard_make(const struct run_list *list, struct leaderboard *out,
                     struct m2_error *err)
{
    int code;

    *out = (struct leaderboard){0};
    code = run_list_differing_keys(list, false, &out->keys, err);
    if (code == 0)
        code = group_runs(list, out, err);
    if (code != 0) {
        leaderboard_free(out);
        return code;
    }
    if (out->n > 0)
        qsort(out->rows, out->n, sizeof *out->rows, compare_rows);
    number_rows(out);
    count_expected(out);
    out->metric = common_metric(out);
    return 0;
}
