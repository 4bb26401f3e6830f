/* What `m2run compare` shows of runs: settings, facts, scores. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "results/metric.h"
#include "results/query.h"
#include "results/settings.h"
#include "util/memory.h"

static void free_row(struct compare_row *row)
{
    free(row->key);
    for (size_t i = 0; i < COMPARE_MAX_RUNS; i++)
        free(row->values[i]);
}

void comparison_free(struct comparison *comparison)
{
    for (size_t r = 0; r < comparison->n; r++)
        free_row(&comparison->rows[r]);
    free(comparison->rows);
    *comparison = (struct comparison){0};
}

/* ---- rows ---------------------------------------------------------------- */

/* Where what is added belongs to. */
struct adding {
    struct comparison *out;
    enum compare_section section;
    size_t run;
    struct m2_error *err;
    int code; /* of the first failure: what follows is then left out */
};

/* The last rows are those of the section that is being filled. */
static struct compare_row *find_row(struct adding *a, const char *key)
{
    struct comparison *out = a->out;

    for (size_t r = out->n; r > 0; r--) {
        struct compare_row *row = &out->rows[r - 1];

        if (row->section != a->section)
            break;
        if (strcmp(row->key, key) == 0)
            return row;
    }
    a->code = array_reserve(&out->rows, &out->capacity, out->n + 1,
                            sizeof *out->rows, a->err);
    if (a->code != 0)
        return NULL;
    out->rows[out->n] = (struct compare_row){.section = a->section,
                                             .key = memory_string(key, a->err)};
    if (out->rows[out->n].key == NULL)
        a->code = M2_E_MEMORY;
    return a->code == 0 ? &out->rows[out->n++] : NULL;
}

/* A second value of a key is no other one: the first stays. */
static void add_text(struct adding *a, const char *key, const char *text)
{
    struct compare_row *row;

    if (a->code != 0 || text == NULL || *text == '\0')
        return;
    row = find_row(a, key);
    if (row == NULL || row->values[a->run] != NULL)
        return;
    row->values[a->run] = memory_string(text, a->err);
    if (row->values[a->run] == NULL)
        a->code = M2_E_MEMORY;
}

/* A plain value; objects, lists and null are none. */
static void add_value(struct adding *a, const char *key, const json_t *value)
{
    char buffer[NUMBER_TEXT_SIZE];

    if (json_is_string(value))
        add_text(a, key, json_string_value(value));
    else if (json_is_boolean(value))
        add_text(a, key, json_is_true(value) ? "true" : "false");
    else if (json_is_real(value))
        add_text(a, key, number_print_double(json_real_value(value), buffer));
    else if (json_is_integer(value)) {
        snprintf(buffer, sizeof buffer, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
        add_text(a, key, buffer);
    }
}

__attribute__((format(printf, 3, 4))) static void
add_named(struct adding *a, const json_t *value, const char *format, ...)
{
    char key[320];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(key, sizeof key, format, arguments);
    va_end(arguments);
    add_value(a, key, value);
}

/* ---- the run itself, its settings ---------------------------------------- */

static void add_run(struct adding *a, const struct run_entry *entry)
{
    static const char *const words[] = {
        "state",   "progress",      "metric",     "best_step",
        "seconds", "samples_per_s", "parameters", "reason"};
    char buffer[NUMBER_TEXT_SIZE];

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct run_key key = {.kind = RUN_KEY_FACT};

        snprintf(key.name, sizeof key.name, "%s", words[i]);
        add_text(a, words[i], run_key_text(&key, entry, buffer));
    }
    if (json_is_true(run_value(entry, NULL, "mixed")))
        add_text(a, "mixed", "true");
}

static void add_settings(struct adding *a)
{
    const struct run_list *runs = a->out->runs;
    struct setting_list settings;

    a->section = COMPARE_SETTINGS;
    if (a->code == 0)
        a->code = setting_list_make(runs, &settings, a->err);
    if (a->code != 0)
        return;
    for (size_t s = 0; s < settings.n; s++)
        for (a->run = 0; a->run < runs->n; a->run++)
            add_text(
                a, settings.items[s].key,
                setting_value(&runs->entries[a->run], settings.items[s].key));
    setting_list_free(&settings);
}

/* ---- facts --------------------------------------------------------------- */

static void add_group(struct adding *a, const char *name, json_t *group)
{
    const char *key;
    json_t *value;

    json_object_foreach (group, key, value)
        if (strcmp(key, "bytes") != 0) /* of memory: no circumstance */
            add_named(a, value, "%s.%s", name, key);
}

static void add_list(struct adding *a, const char *name, const json_t *list,
                     const char *member)
{
    size_t i;
    json_t *item;

    json_array_foreach (list, i, item) {
        const char *what = json_string_value(json_object_get(item, "name"));

        if (what != NULL)
            add_named(a, json_object_get(item, member), "%s.%s", name, what);
    }
}

static void add_windows(struct adding *a, const struct run_entry *entry)
{
    const char *name;
    json_t *part;

    json_object_foreach (run_value(entry, "data", "parts"), name, part)
        add_named(a, json_object_get(part, "windows"), "data.%s.windows", name);
}

static void add_facts(struct adding *a, const struct run_entry *entry)
{
    static const char *const groups[] = {"backend", "build", "host",
                                         "environment"};

    add_value(a, "data.rows", run_value(entry, "data", "rows"));
    add_value(a, "data.series", run_value(entry, "data", "series"));
    add_windows(a, entry);
    add_list(a, "data.file", run_value(entry, "data", "files"), "sha256");
    if (run_value(entry, "data", "files") == NULL)
        add_value(a, "data.fingerprint",
                  run_value(entry, "data", "fingerprint"));
    add_group(a, "data.plugin", run_value(entry, "data", "plugin"));
    add_value(a, "numerics", run_value(entry, NULL, "numerics"));
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        add_group(a, groups[i], run_value(entry, NULL, groups[i]));
    add_list(a, "library", run_value(entry, NULL, "libraries"), "build_id");
}

/* ---- scores -------------------------------------------------------------- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void add_score_group(struct adding *a, json_t *scores, const char *part)
{
    const char *key;
    json_t *value;

    json_object_foreach (scores, key, value)
        if (begins_with(key, part))
            add_value(a, key, value);
}

static void add_scores(struct adding *a, const struct run_entry *entry)
{
    add_score_group(a, run_value(entry, NULL, "best"), "val/");
    add_score_group(a, run_value(entry, NULL, "test"), "test/");
    add_score_group(a, run_value(entry, NULL, "final"), "train/");
}

/* "val/mse zero": the same score of a naive forecast. */
static void add_baselines(struct adding *a, const struct run_entry *entry)
{
    const char *part, *name, *metric;
    json_t *forecasts, *scores, *value;

    json_object_foreach (run_value(entry, NULL, "baselines"), part, forecasts)
        json_object_foreach (forecasts, name, scores)
            json_object_foreach (scores, metric, value)
                add_named(a, value, "%s/%s %s", part, metric, name);
}

/* ---- what differs, what is best ------------------------------------------ */

/* What is set in one run and not in the other differs; a fact that one does
 * not know, or a score that it does not have yet, may be the same. */
static bool missing_differs(const struct compare_row *row)
{
    return row->section == COMPARE_SETTINGS ||
           begins_with(row->key, "environment.") ||
           begins_with(row->key, "data.file.");
}

static bool row_differs(const struct compare_row *row, size_t n_runs)
{
    const char *first = NULL;
    bool missing = false;

    for (size_t i = 0; i < n_runs; i++) {
        const char *value = row->values[i];

        missing = missing || value == NULL;
        if (value != NULL && first != NULL && strcmp(first, value) != 0)
            return true;
        first = value != NULL ? value : first;
    }
    return missing && missing_differs(row);
}

/* Of equal ones all; of none that differ, none. */
static unsigned best_of(const struct compare_row *row, size_t n_runs)
{
    bool higher = metric_is_higher_better(row->key);
    double best = 0, value;
    unsigned bits = 0;

    if (!row->differs || metric_is_count(row->key))
        return 0;
    for (size_t i = 0; i < n_runs; i++) {
        if (row->values[i] == NULL ||
            !number_parse_double(row->values[i], &value))
            continue;
        if (bits == 0 || (higher ? value > best : value < best)) {
            best = value;
            bits = 0;
        }
        if (value == best)
            bits |= 1u << i;
    }
    return bits;
}

/* For most readers what is the same in all runs is noise, and so are the
 * smaller scores of the naive forecasts. */
static bool is_for_all_only(const struct compare_row *row)
{
    if (row->section == COMPARE_BASELINES)
        return strstr(row->key, "/mse ") == NULL;
    return (row->section == COMPARE_SETTINGS ||
            row->section == COMPARE_FACTS) &&
           !row->differs;
}

static void finish_rows(struct comparison *out, bool all)
{
    size_t kept = 0, n_runs = out->runs->n;

    for (size_t r = 0; r < out->n; r++) {
        struct compare_row *row = &out->rows[r];

        row->differs = row_differs(row, n_runs);
        if (row->section == COMPARE_SCORES)
            row->best = best_of(row, n_runs);
        if (is_for_all_only(row) && !all)
            free_row(row);
        else
            out->rows[kept++] = *row;
    }
    out->n = kept;
}

int comparison_make(const struct run_list *runs, bool all,
                    struct comparison *out, struct m2_error *err)
{
    static const struct {
        enum compare_section section;
        void (*add)(struct adding *a, const struct run_entry *entry);
    } parts[] = {
        {COMPARE_RUN, add_run},
        {COMPARE_SETTINGS, NULL},
        {COMPARE_FACTS, add_facts},
        {COMPARE_SCORES, add_scores},
        {COMPARE_BASELINES, add_baselines},
    };
    struct adding a = {.out = out, .err = err};

    *out = (struct comparison){.runs = runs};
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        a.section = parts[p].section;
        if (parts[p].add == NULL)
            add_settings(&a);
        else
            for (a.run = 0; a.run < runs->n; a.run++)
                parts[p].add(&a, &runs->entries[a.run]);
    }
    if (a.code != 0) {
        comparison_free(out);
        return a.code;
    }
    finish_rows(out, all);
    return 0;
}
