/* Values of runs by the words that users write. */
#include "results/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/csvlog.h"
#include "results/settings.h"
#include "util/file.h"
#include "util/path.h"
#include "util/suggest.h"

/* Where a fact is in run.json; no key: made by a function below. */
static const struct fact {
    const char *name, *group, *key;
} facts[] = {
    {"experiment", NULL, NULL},
    {"run", NULL, NULL},
    {"state", NULL, NULL},
    {"path", NULL, NULL},
    {"step", NULL, NULL},
    {"steps", NULL, NULL},
    {"progress", NULL, NULL},
    {"reason", NULL, "reason"},
    {"metric", NULL, "metric"},
    {"best", "best", "value"},
    {"best_step", "best", "step"},
    {"started", NULL, "started"},
    {"finished", NULL, "finished"},
    {"seconds", NULL, "seconds"},
    {"parameters", NULL, "parameters"},
    {"samples_per_s", NULL, "samples_per_s"},
    {"backend", "backend", "name"},
    {"host", "host", "name"},
};
enum { N_FACTS = sizeof facts / sizeof facts[0] };

static const struct fact *find_fact(const char *name)
{
    for (size_t i = 0; i < N_FACTS; i++)
        if (strcmp(facts[i].name, name) == 0)
            return &facts[i];
    return NULL;
}

/* ---- what a word means ------------------------------------------------- */

static const char *metric_group(const char *word)
{
    return strncmp(word, "val/", 4) == 0     ? "best"
           : strncmp(word, "test/", 5) == 0  ? "test"
           : strncmp(word, "train/", 6) == 0 ? "final"
                                             : NULL;
}

static bool is_scored(const struct run_list *list, const char *metric)
{
    for (size_t i = 0; i < list->n; i++)
        if (run_value(&list->entries[i], metric_group(metric), metric) != NULL)
            return true;
    return false;
}

/* A name that is written today, or that a run of the list has.  While nothing
 * has been scored yet, a slip must be told from a score to come. */
static int check_metric(const struct run_list *list, const char *word,
                        struct m2_error *err)
{
    static const char *const scores[] = {"loss",  "mse",      "mae",
                                         "skill", "rmse_raw", "hit_rate",
                                         "hit_n", "ic",       "rank_ic"};
    const char *score = strchr(word, '/') + 1;
    bool of_training = strcmp(metric_group(word), "final") == 0;
    struct suggestion near = suggest_start(score);

    for (size_t i = 0; i < (of_training ? 1 : sizeof scores / sizeof *scores);
         i++) {
        if (strcmp(scores[i], score) == 0)
            return 0;
        suggest_try(&near, scores[i]);
    }
    if (is_scored(list, word))
        return 0;
    return m2_fail(err, M2_E_USAGE, "no run has a score '%s'%s%.*s%s%s", word,
                   near.best != NULL ? "; did you mean '" : "",
                   near.best != NULL ? (int)(score - word) : 0, word,
                   near.best != NULL ? near.best : "",
                   near.best != NULL ? "'?" : "");
}

static bool ends_with(const char *key, const char *ending)
{
    size_t length = strlen(key), size = strlen(ending);

    return length > size && key[length - size - 1] == '.' &&
           strcmp(key + length - size, ending) == 0;
}

struct search {
    const char *word;
    const char *found;
    bool exact, many;
    struct suggestion near;
};

static void look_at(struct search *search, const char *key)
{
    const char *dot = strrchr(key, '.');

    suggest_try(&search->near, dot != NULL ? dot + 1 : key);
    if (strcmp(key, search->word) == 0) {
        search->found = key;
        search->exact = true;
    } else if (!search->exact && ends_with(key, search->word)) {
        search->many = search->many || (search->found != NULL &&
                                        strcmp(search->found, key) != 0);
        search->found = key;
    }
}

static int unknown_word(const struct search *search, struct m2_error *err)
{
    if (search->found != NULL)
        return m2_fail(err, M2_E_USAGE,
                       "'%s' fits several keys of the runs, one is %s: write "
                       "more of the name",
                       search->word, search->found);
    return m2_fail(err, M2_E_USAGE, "no run has a value '%s'%s%s%s",
                   search->word,
                   search->near.best != NULL ? "; did you mean '" : "",
                   search->near.best != NULL ? search->near.best : "",
                   search->near.best != NULL ? "'?" : "");
}

int run_key_find(const struct run_list *list, const char *word,
                 struct run_key *out, struct m2_error *err)
{
    struct search search = {.word = word, .near = suggest_start(word)};
    struct setting_list settings;
    int code;

    if (find_fact(word) != NULL || metric_group(word) != NULL) {
        out->kind = find_fact(word) != NULL ? RUN_KEY_FACT : RUN_KEY_METRIC;
        snprintf(out->name, sizeof out->name, "%s", word);
        return out->kind == RUN_KEY_FACT ? 0 : check_metric(list, word, err);
    }
    for (size_t i = 0; i < N_FACTS; i++)
        suggest_try(&search.near, facts[i].name);
    code = setting_list_make(list, &settings, err);
    if (code != 0)
        return code;
    for (size_t i = 0; i < settings.n; i++)
        look_at(&search, settings.items[i].key);
    setting_list_free(&settings);
    if (search.found == NULL || (search.many && !search.exact))
        return unknown_word(&search, err);
    out->kind = RUN_KEY_CONFIG;
    snprintf(out->name, sizeof out->name, "%s", search.found);
    return 0;
}

bool run_text_is_missing(const struct run_key *key, const char *text)
{
    return *text == '\0' ||
           (key->kind == RUN_KEY_CONFIG && strcmp(text, "null") == 0);
}

/* ---- values ------------------------------------------------------------ */

static const char *json_text(const json_t *value, char buffer[NUMBER_TEXT_SIZE])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value)) {
        snprintf(buffer, NUMBER_TEXT_SIZE, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
        return buffer;
    }
    if (json_is_real(value))
        return number_print_double(json_real_value(value), buffer);
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    return NULL;
}

static int64_t config_integer(const struct run_entry *entry, const char *key)
{
    const char *text = json_string_value(run_value(entry, "config", key));
    int64_t value;

    return text != NULL && number_parse_int(text, &value) ? value : -1;
}

/* As the training loop counts: a number of steps, or of epochs over the
 * training windows. */
static int64_t planned_steps(const struct run_entry *entry)
{
    const json_t *parts = run_value(entry, "data", "parts");
    const json_t *windows =
        json_object_get(json_object_get(parts, "train"), "windows");
    int64_t steps = config_integer(entry, "train.steps");
    int64_t epochs = config_integer(entry, "train.epochs");
    int64_t batch = config_integer(entry, "train.batch_size");

    if (steps > 0)
        return steps;
    if (!json_is_integer(windows) || json_integer_value(windows) < 0 ||
        epochs <= 0 || batch <= 0)
        return -1;
    steps = json_integer_value(windows) / batch +
            (json_integer_value(windows) % batch > 0);
    return steps > INT64_MAX / epochs ? -1 : epochs * steps;
}

static int64_t last_step(const struct run_entry *entry)
{
    char *path = path_join(entry->path, "metrics.csv", NULL);
    struct csv_table table = {0};
    int64_t step = -1;

    if (path != NULL && file_exists(path) &&
        csv_table_read(path, &table, NULL) == 0 && table.n_rows > 0 &&
        csv_table_column(&table, "step") == 0)
        number_parse_int(table.cells[(table.n_rows - 1) * table.n_columns],
                         &step);
    csv_table_free(&table);
    free(path);
    return step;
}

void run_steps(const struct run_entry *entry, int64_t *step, int64_t *steps)
{
    const json_t *done = run_value(entry, NULL, "step");
    const json_t *all = run_value(entry, NULL, "steps");

    *step = json_is_integer(done) ? json_integer_value(done) : -1;
    *steps = json_is_integer(all) ? json_integer_value(all) : -1;
    if (*step < 0)
        *step = last_step(entry);
    if (*steps < 0)
        *steps = planned_steps(entry);
}

static const char *steps_text(const char *name, const struct run_entry *entry,
                              char buffer[NUMBER_TEXT_SIZE])
{
    int64_t step, steps;

    run_steps(entry, &step, &steps);
    if (strcmp(name, "progress") == 0) {
        if (step < 0 && steps < 0)
            return NULL;
        if (steps < 0)
            snprintf(buffer, NUMBER_TEXT_SIZE, "%" PRId64, step);
        else
            snprintf(buffer, NUMBER_TEXT_SIZE, "%" PRId64 "/%" PRId64,
                     step < 0 ? 0 : step, steps);
        return buffer;
    }
    if (strcmp(name, "steps") == 0)
        step = steps;
    if (step < 0)
        return NULL;
    snprintf(buffer, NUMBER_TEXT_SIZE, "%" PRId64, step);
    return buffer;
}

static const char *fact_text(const char *name, const struct run_entry *entry,
                             char buffer[NUMBER_TEXT_SIZE])
{
    const struct fact *fact = find_fact(name);

    if (fact->key != NULL)
        return json_text(run_value(entry, fact->group, fact->key), buffer);
    if (strcmp(name, "experiment") == 0)
        return entry->experiment;
    if (strcmp(name, "run") == 0)
        return entry->run;
    if (strcmp(name, "state") == 0)
        return entry->state;
    if (strcmp(name, "path") == 0)
        return entry->path;
    return steps_text(name, entry, buffer);
}

const char *run_key_text(const struct run_key *key,
                         const struct run_entry *entry,
                         char buffer[NUMBER_TEXT_SIZE])
{
    const char *group = "config";

    if (key->kind == RUN_KEY_FACT)
        return fact_text(key->name, entry, buffer);
    if (key->kind == RUN_KEY_METRIC)
        group = metric_group(key->name);
    return json_text(run_value(entry, group, key->name), buffer);
}
