/* `m2run data --json`. */
#include "data/report.h"

#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "util/timefmt.h"

/* jansson reports a failed allocation by NULL, which its setters refuse in
 * turn: one check of the end result is enough, except that a member may be
 * lost, which json_object_set_new tells. */
static void set(json_t *object, const char *key, json_t *value, bool *ok)
{
    if (json_object_set_new(object, key, value) != 0)
        *ok = false;
}

static void append(json_t *array, json_t *value, bool *ok)
{
    if (json_array_append_new(array, value) != 0)
        *ok = false;
}

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *time_of(int64_t ns)
{
    char text[TIME_TEXT_SIZE];

    return json_string(time_print(ns, text));
}

static json_t *files_of(const struct report *report, bool *ok)
{
    json_t *list = json_array();

    for (size_t i = 0; i < report->n_files; i++) {
        json_t *file = json_object();
        set(file, "path", json_string(report->files[i].path), ok);
        set(file, "bytes", json_integer(report->files[i].bytes), ok);
        append(list, file, ok);
    }
    return list;
}

static json_t *columns_of(const struct report *report, size_t i, bool *ok)
{
    json_t *object = json_object();

    for (size_t c = 0; c < report->store.columns.count; c++) {
        const struct report_column *column = &report->series[i].columns[c];
        json_t *item = json_object();
        set(item, "lowest", number(column->low), ok);
        set(item, "highest", number(column->high), ok);
        set(item, "mean", number(column->mean), ok);
        set(item, "deviation", number(column->deviation), ok);
        set(item, "missing", json_integer((json_int_t)column->missing), ok);
        set(object, report->store.columns.items[c], item, ok);
    }
    return object;
}

static json_t *gaps_of(const struct report_series *series, bool *ok)
{
    json_t *list = json_array();

    for (int k = 0; k < REPORT_GAPS; k++) {
        json_t *item = json_object();
        set(item, "steps_at_most", number(report_gap_bounds[k]), ok);
        set(item, "n", json_integer((json_int_t)series->gaps[k]), ok);
        append(list, item, ok);
    }
    return list;
}

static json_t *rolls_of(const struct store_series *series, bool *ok)
{
    json_t *list = json_array();

    for (size_t k = 0; k < series->n_rolls; k++) {
        json_t *item = json_object();
        set(item, "time", time_of(series->rolls[k].time_ns), ok);
        set(item, "from", json_string(series->rolls[k].from), ok);
        set(item, "to", json_string(series->rolls[k].to), ok);
        append(list, item, ok);
    }
    return list;
}

static json_t *series_of(const struct report *report, bool *ok)
{
    json_t *list = json_array();

    for (size_t i = 0; i < report->store.n_series; i++) {
        const struct store_series *s = &report->store.series[i];
        json_t *item = json_object();
        set(item, "name", json_string(s->name), ok);
        set(item, "rows", json_integer((json_int_t)s->n), ok);
        set(item, "step_ns", json_integer(s->step_ns), ok);
        set(item, "median_step_ns",
            json_integer(report->series[i].median_step_ns), ok);
        set(item, "stamp",
            json_string(s->stamp == M2_STAMP_OPEN ? "open" : "close"), ok);
        if (s->n > 0) {
            set(item, "first", time_of(s->times[0]), ok);
            set(item, "last", time_of(s->times[s->n - 1]), ok);
        }
        set(item, "gaps", gaps_of(&report->series[i], ok), ok);
        set(item, "rolls", rolls_of(s, ok), ok);
        set(item, "columns", columns_of(report, i, ok), ok);
        append(list, item, ok);
    }
    return list;
}

static json_t *facts_of(const struct dataset_fact *facts, size_t n, bool *ok)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *item = json_object();
        set(item, "what", json_string(facts[i].what), ok);
        set(item, "n", json_integer((json_int_t)facts[i].n), ok);
        set(item, "where",
            facts[i].where == NULL ? json_null() : json_string(facts[i].where),
            ok);
        set(item, "warning", json_boolean(facts[i].warning), ok);
        append(list, item, ok);
    }
    return list;
}

static json_t *parts_of(const struct dataset *d, bool *ok)
{
    json_t *object = json_object();

    for (int p = 0; p < N_PARTS; p++) {
        json_t *item = json_object();
        set(item, "rows", json_integer(d->part_rows[p]), ok);
        set(item, "windows", json_integer(d->parts[p].n), ok);
        if (d->part_rows[p] > 0) {
            set(item, "first_target", time_of(d->part_first_ns[p]), ok);
            set(item, "last_target", time_of(d->part_last_ns[p]), ok);
        }
        set(object, part_names[p], item, ok);
    }
    return object;
}

static json_t *names_of(char *const *names, int64_t n, bool *ok)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < n; i++)
        append(list, json_string(names[i]), ok);
    return list;
}

static void add_dataset(json_t *root, const struct report *report, bool *ok)
{
    const struct dataset *d = &report->dataset;

    if (report->problem_code != M2_OK) {
        set(root, "facts",
            facts_of(report->facts.items, report->facts.count, ok), ok);
        set(root, "problem", json_string(report->problem.text), ok);
        return;
    }
    set(root, "facts", facts_of(d->facts, d->n_facts, ok), ok);
    set(root, "features", names_of(d->feature_names, d->n_feature_names, ok),
        ok);
    set(root, "target", names_of(d->target_names, d->n_target_names, ok), ok);
    set(root, "rows", json_integer(d->S), ok);
    set(root, "parts", parts_of(d, ok), ok);
    set(root, "live_windows", json_integer(d->live.n), ok);
}

int report_print_json(const struct report *report, struct text *out,
                      struct m2_error *err)
{
    json_t *root = json_object();
    bool ok = true;

    set(root, "source", json_string(report->config->data.source), &ok);
    set(root, "files", files_of(report, &ok), &ok);
    set(root, "series", series_of(report, &ok), &ok);
    add_dataset(root, report, &ok);
    char *text = ok ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (text == NULL)
        return m2_fail(err, M2_E_MEMORY,
                       "out of memory, or a name that is not UTF-8");
    text_add(out, text);
    text_add(out, "\n");
    free(text);
    return text_check(out, err);
}
