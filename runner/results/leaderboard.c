/* Grouping finished runs by what they were configured as. */
#include "results/leaderboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "util/memory.h"

void statistic_add(struct statistic *statistic, double value)
{
    if (!isfinite(value))
        return;
    statistic->n++;
    statistic->sum += value;
    statistic->squares += value * value;
}

double statistic_mean(const struct statistic *statistic)
{
    return statistic->n > 0 ? statistic->sum / (double)statistic->n : NAN;
}

double statistic_std(const struct statistic *statistic)
{
    double n = (double)statistic->n, mean, square;

    if (statistic->n < 2)
        return NAN;
    mean = statistic->sum / n;
    square = (statistic->squares - n * mean * mean) / (n - 1);
    return square > 0 ? sqrt(square) : 0.0;
}

void leaderboard_free(struct leaderboard *board)
{
    for (size_t i = 0; i < board->n; i++)
        free(board->rows[i].settings);
    free(board->rows);
    string_list_free(&board->keys);
    *board = (struct leaderboard){0};
}

/* Keys that change no result: runs that differ in these alone are the same
 * configuration. */
static bool is_runtime_key(const char *key)
{
    static const char *const keys[] = {"name", "threads", "data.path"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return strncmp(key, "checkpoint.", strlen("checkpoint.")) == 0;
}

/* json objects keep the order in which they were read: that of config.yaml. */
static char *settings_text(const struct run_entry *entry, struct m2_error *err)
{
    json_t *config = (json_t *)(uintptr_t)run_value(entry, NULL, "config");
    struct text text = {0};
    const char *key;
    json_t *value;

    json_object_foreach (config, key, value)
        if (strcmp(key, "seed") != 0 && !is_runtime_key(key))
            text_addf(&text, "%s: %s\n", key,
                      json_is_string(value) ? json_string_value(value) : "");
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
    json_t *baselines =
        (json_t *)(uintptr_t)run_value(entry, "baselines", "val");
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

/* Rows without a value come last. */
static int compare(double a, double b, bool higher_better)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    if (a == b)
        return 0;
    return (a < b) == higher_better ? 1 : -1;
}

static int by_lower(const void *a, const void *b)
{
    return compare(statistic_mean(&((const struct leaderboard_row *)a)->metric),
                   statistic_mean(&((const struct leaderboard_row *)b)->metric),
                   false);
}

static int by_higher(const void *a, const void *b)
{
    return compare(statistic_mean(&((const struct leaderboard_row *)a)->metric),
                   statistic_mean(&((const struct leaderboard_row *)b)->metric),
                   true);
}

static bool values_differ(const struct run_list *list, const char *key)
{
    const char *first = NULL;

    for (size_t i = 0; i < list->n; i++) {
        const char *value =
            json_string_value(run_value(&list->entries[i], "config", key));

        if (value == NULL)
            value = "";
        if (list->entries[i].record == NULL)
            continue;
        if (first != NULL && strcmp(first, value) != 0)
            return true;
        first = value;
    }
    return false;
}

int run_list_differing_keys(const struct run_list *list, bool with_seed,
                            struct string_list *out, struct m2_error *err)
{
    int code = 0;

    *out = (struct string_list){0};
    for (size_t i = 0; code == 0 && i < list->n; i++) {
        json_t *config =
            (json_t *)(uintptr_t)run_value(&list->entries[i], NULL, "config");
        const char *key;
        json_t *value;

        /* Runs that share their keys with the first one bring nothing new. */
        if (i > 0 &&
            json_object_size(config) ==
                json_object_size(run_value(&list->entries[0], NULL, "config")))
            continue;
        json_object_foreach (config, key, value)
            if (code == 0 && (with_seed || strcmp(key, "seed") != 0) &&
                !is_runtime_key(key) &&
                string_list_find(out, key) == out->count &&
                values_differ(list, key))
                code = string_list_add(out, key, err);
    }
    return code;
}

int leaderboard_make(const struct run_list *list, struct leaderboard *out,
                     struct m2_error *err)
{
    size_t capacity = 0;
    int code = 0;

    *out = (struct leaderboard){.metric = "val/loss"};
    for (size_t i = 0; code == 0 && i < list->n; i++) {
        const char *metric =
            json_string_value(run_value(&list->entries[i], NULL, "metric"));

        if (list->entries[i].record == NULL)
            continue;
        if (metric != NULL)
            out->metric = metric;
        code = add_entry(out, &capacity, &list->entries[i], err);
    }
    if (code == 0)
        code = run_list_differing_keys(list, false, &out->keys, err);
    if (code != 0) {
        leaderboard_free(out);
        return code;
    }
    if (out->n > 0)
        qsort(out->rows, out->n, sizeof *out->rows,
              metric_is_higher_better(out->metric) ? by_higher : by_lower);
    return 0;
}
