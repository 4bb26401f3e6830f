/* Grouping finished runs by what they were configured as. */
#include "results/leaderboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/metric.h"
#include "util/memory.h"

/* Welford's update: no cancellation when the mean is large. */
void statistic_add(struct statistic *statistic, double value)
{
    double distance = value - statistic->mean;

    if (!isfinite(value))
        return;
    statistic->n++;
    statistic->mean += distance / (double)statistic->n;
    statistic->squares += distance * (value - statistic->mean);
}

double statistic_mean(const struct statistic *statistic)
{
    return statistic->n > 0 ? statistic->mean : NAN;
}

double statistic_std(const struct statistic *statistic)
{
    return statistic->n < 2
               ? NAN
               : sqrt(statistic->squares / (double)(statistic->n - 1));
}

void leaderboard_free(struct leaderboard *board)
{
    for (size_t i = 0; i < board->n; i++)
        free(board->rows[i].settings);
    free(board->rows);
    string_list_free(&board->keys);
    *board = (struct leaderboard){0};
}

/* Not those keys that change no result: config/identity.h. */
static bool is_setting(const char *key)
{
    static const char *const others[] = {"name", "threads", "data.path"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return strncmp(key, "checkpoint.", strlen("checkpoint.")) != 0;
}

/* Of a device its number does not count. */
static int value_length(const char *key, const char *value)
{
    size_t length = strlen(value);

    if (strcmp(key, "device") == 0)
        while (length > 0 && strchr("0123456789:", value[length - 1]) != NULL)
            length--;
    return (int)length;
}

/* json objects keep the order in which they were read: that of config.yaml. */
static char *settings_text(const struct run_entry *entry, struct m2_error *err)
{
    json_t *config = run_value(entry, NULL, "config");
    const char *data =
        json_string_value(run_value(entry, "data", "fingerprint"));
    struct text text = {0};
    const char *key;
    json_t *item;

    text_addf(&text, "%s\n", entry->experiment);
    json_object_foreach (config, key, item) {
        const char *value = json_string_value(item);

        if (value != NULL && is_setting(key) && strcmp(key, "seed") != 0)
            text_addf(&text, "%s: %.*s\n", key, value_length(key, value),
                      value);
    }
    text_addf(&text, "data: %s\n", data != NULL ? data : "");
    return text_steal(&text, err);
}

static struct leaderboard_row *find_row(struct leaderboard *board,
                                        const char *settings)
{
    for (size_t i = 0; i < board->n; i++)
        if (strcmp(board->rows[i].settings, settings) == 0)
            return &board->rows[i];
    return NULL;
}

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

static void add_to_row(struct leaderboard_row *row,
                       const struct run_entry *entry)
{
    if (strcmp(entry->state, "done") != 0) {
        row->n_other++;
        return;
    }
    row->n_done++;
    row->example = entry;
    statistic_add(&row->metric, value_of(entry, "best", "value"));
    statistic_add(&row->val_mse, value_of(entry, "best", "val/mse"));
    statistic_add(&row->naive, naive_mse(entry));
    statistic_add(&row->skill, value_of(entry, "best", "val/skill"));
    statistic_add(&row->hit_rate, value_of(entry, "best", "val/hit_rate"));
    statistic_add(&row->test_mse, value_of(entry, "test", "test/mse"));
}

static int add_entry(struct leaderboard *board, size_t *capacity,
                     const struct run_entry *entry, struct m2_error *err)
{
    char *settings = settings_text(entry, err);
    struct leaderboard_row *row;

    if (settings == NULL)
        return M2_E_MEMORY;
    row = find_row(board, settings);
    if (row != NULL) {
        free(settings);
    } else {
        int code = array_reserve(&board->rows, capacity, board->n + 1,
                                 sizeof *board->rows, err);

        if (code != 0) {
            free(settings);
            return code;
        }
        row = &board->rows[board->n++];
        *row = (struct leaderboard_row){
            .settings = settings,
            .example = entry,
        };
    }
    add_to_row(row, entry);
    return 0;
}

static const char *metric_of(const struct leaderboard_row *row)
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
    bool higher_better = metric_is_higher_better(metric_of(a));

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
        order = strcmp(metric_of(a), metric_of(b));
    if (order == 0)
        order = compare_values(a, b);
    return order != 0 ? order : strcmp(a->settings, b->settings);
}

/* An option of another data source that a run cannot have is no difference:
 * data.source shows that one. */
static bool values_differ(const struct run_list *list, const char *key)
{
    bool is_option = strncmp(key, "data.options.", 13) == 0;
    const char *first = NULL;

    for (size_t i = 0; i < list->n; i++) {
        const char *value =
            json_string_value(run_value(&list->entries[i], "config", key));

        if (list->entries[i].record == NULL || (value == NULL && is_option))
            continue;
        if (value == NULL)
            value = "";
        if (first != NULL && strcmp(first, value) != 0)
            return true;
        first = value;
    }
    return false;
}

/* Every setting that any of the runs has. */
static int collect_keys(const struct run_list *list, struct string_list *keys,
                        struct m2_error *err)
{
    int code = 0;

    for (size_t i = 0; code == 0 && i < list->n; i++) {
        json_t *config = run_value(&list->entries[i], NULL, "config");
        const char *key;
        json_t *value;

        json_object_foreach (config, key, value)
            if (code == 0 && is_setting(key) &&
                string_list_find(keys, key) == keys->count)
                code = string_list_add(keys, key, err);
    }
    return code;
}

int run_list_differing_keys(const struct run_list *list, bool with_seed,
                            struct string_list *out, struct m2_error *err)
{
    struct string_list keys = {0};
    int code = collect_keys(list, &keys, err);

    *out = (struct string_list){0};
    for (size_t i = 0; code == 0 && i < keys.count; i++)
        if ((with_seed || strcmp(keys.items[i], "seed") != 0) &&
            values_differ(list, keys.items[i]))
            code = string_list_add(out, keys.items[i], err);
    string_list_free(&keys);
    return code;
}

static int add_entries(const struct run_list *list, struct leaderboard *board,
                       struct m2_error *err)
{
    size_t capacity = 0;
    int code = 0;

    for (size_t i = 0; code == 0 && i < list->n; i++)
        if (list->entries[i].record != NULL)
            code = add_entry(board, &capacity, &list->entries[i], err);
    return code;
}

static const char *common_metric(const struct leaderboard *board)
{
    const char *metric = board->n > 0 ? metric_of(&board->rows[0]) : "metric";

    for (size_t i = 1; i < board->n; i++)
        if (strcmp(metric, metric_of(&board->rows[i])) != 0)
            return "metric";
    return metric;
}

static bool are_compared(const struct leaderboard_row *a,
                         const struct leaderboard_row *b)
{
    return strcmp(a->example->experiment, b->example->experiment) == 0 &&
           strcmp(metric_of(a), metric_of(b)) == 0;
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

int leaderboard_make(const struct run_list *list, struct leaderboard *out,
                     struct m2_error *err)
{
    int code;

    *out = (struct leaderboard){0};
    code = add_entries(list, out, err);
    if (code == 0)
        code = run_list_differing_keys(list, false, &out->keys, err);
    if (code != 0) {
        leaderboard_free(out);
        return code;
    }
    if (out->n > 0)
        qsort(out->rows, out->n, sizeof *out->rows, compare_rows);
    number_rows(out);
    out->metric = common_metric(out);
    return 0;
}
