/* What the columns of a file are for. */
#include "csv/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"
#include "csv/encoding.h"

enum { LIST_TEXT = 600 };

static size_t find(const struct columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->items[i].name, name) == 0)
            return i;
    return NO_COLUMN;
}

/* "a, b, c", cut off when there are many.  Returns out. */
static const char *list_names(const struct columns *columns,
                              char out[LIST_TEXT])
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < columns->n; i++) {
        size_t room = LIST_TEXT - used;
        const char *name = columns->items[i].name;
        if (strlen(name) + 8 > room) {
            snprintf(out + used, room, ", ...");
            break;
        }
        used +=
            (size_t)snprintf(out + used, room, "%s%s", i > 0 ? ", " : "", name);
    }
    return out;
}

/* ---- names ------------------------------------------------------------ */

/* A name that is given, or that of the header, or a number. */
static int make_name(const struct sample *sample, const char *given, size_t i,
                     struct column *out, struct m2_error *err)
{
    const char *first = sample->columns[i].first, *name = given;
    char number[32];

    if (name == NULL)
        name = first;
    if (name[0] == '\0') {
        snprintf(number, sizeof number, "column_%zu", i + 1);
        name = number;
    }
    out->name = memory_string(name, strlen(name), err);
    if (out->name == NULL)
        return M2_E_MEMORY;
    if (!sample->has_header)
        return M2_OK;
    out->header = memory_string(first, strlen(first), err);
    return out->header != NULL ? M2_OK : M2_E_MEMORY;
}

static int check_name(const char *path, const struct sample *sample,
                      const struct columns *columns, size_t i,
                      struct m2_error *err)
{
    const char *name = columns->items[i].name;

    if (!utf8_is_name(name, strlen(name)))
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRIu64 ":1: the name of column %zu is no text "
                       "in UTF-8; convert the file (iconv -f WINDOWS-1252 -t "
                       "UTF-8 FILE), or `columns: [...]` names the columns",
                       path, sample->first_line, i + 1);
    return M2_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct column *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);

    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* The first column whose name was there before, and where; false: none.  The
 * order is by name, then by place. */
static bool find_twin(const struct columns *columns,
                      const struct column **order, size_t *first,
                      size_t *second)
{
    *first = *second = columns->n; /* none yet */
    for (size_t i = 0; i < columns->n; i++)
        order[i] = &columns->items[i];
    qsort(order, columns->n, sizeof *order, by_name);
    for (size_t i = 1; i < columns->n; i++) {
        size_t place = (size_t)(order[i] - columns->items);

        if (strcmp(order[i - 1]->name, order[i]->name) != 0 ||
            strcmp(order[i]->name, "-") == 0 || place > *second)
            continue;
        *first = (size_t)(order[i - 1] - columns->items);
        *second = place;
    }
    return *second < columns->n;
}

static int check_twins(const char *path, const struct sample *sample,
                       const struct columns *columns, struct m2_error *err)
{
    const struct column **order = memory_zeroed(columns->n, sizeof *order, err);
    size_t first, second = 0;
    bool found;

    if (order == NULL)
        return M2_E_MEMORY;
    found = find_twin(columns, order, &first, &second);
    free(order);
    if (!found)
        return M2_OK;
    return m2_fail(err, M2_E_DATA,
                   "%s:%" PRIu64 ":1: columns %zu and %zu are both called "
                   "'%.300s'; `columns: [...]` gives them other names",
                   path, sample->first_line, first + 1, second + 1,
                   columns->items[second].name);
}

static int check_width(const char *path, const struct sample *sample,
                       const struct settings *settings, struct m2_error *err)
{
    if (sample->n_columns == 1 && sample->n_below > 1)
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRIu64 ":1: 1 cell, but %zu in the row below; "
                       "`skip_rows: %" PRIu64 "` passes over lines above the "
                       "header",
                       path, sample->first_line, sample->n_below,
                       sample->first_line);
    if (settings->columns.n == 0 && !sample->has_header)
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRIu64 ":1: no header: the first row holds "
                       "numbers; `columns: [...]` names the %zu columns from "
                       "left to right, `header: yes` takes this row for names",
                       path, sample->first_line, sample->n_columns);
    if (settings->columns.n > 0 && settings->columns.n != sample->n_columns)
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRIu64 ":1: %zu cells, but `columns` names %zu",
                       path, sample->first_line, sample->n_columns,
                       settings->columns.n);
    return M2_OK;
}

static int name_columns(const char *path, const struct sample *sample,
                        const struct settings *settings, struct columns *out,
                        struct m2_error *err)
{
    const struct texts *given = &settings->columns;
    int status = check_width(path, sample, settings, err);

    *out = (struct columns){.time = {NO_COLUMN, NO_COLUMN},
                            .instrument = NO_COLUMN};
    if (status != M2_OK)
        return status;
    out->items = memory_zeroed(sample->n_columns, sizeof *out->items, err);
    if (out->items == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < sample->n_columns && status == M2_OK; i++) {
        out->n = i + 1;
        status = make_name(sample, given->n > 0 ? given->items[i] : NULL, i,
                           &out->items[i], err);
    }
    for (size_t i = 0; i < out->n && status == M2_OK; i++)
        status = check_name(path, sample, out, i, err);
    return status == M2_OK ? check_twins(path, sample, out, err) : status;
}

/* ---- the time --------------------------------------------------------- */

/* Names that a time has as a rule; blanks count as '_', <> not at all. */
static bool is_time_name(const char *name)
{
    static const char *const usual[] = {
        "time",      "timestamp", "date",          "datetime",  "date_time",
        "ts",        "ts_event",  "open_time",     "time_open", "bar_time",
        "time_utc",  "utc_time",  "timestamp_utc", "date_utc",  "datetime_utc",
        "utc",       "gmt_time",  "local_time",    "epoch",     "unix",
        "timestamps"};
    char plain[32];
    size_t n = 0;

    for (const char *c = name; *c != '\0'; c++) {
        if (*c == '<' || *c == '>')
            continue;
        if (n + 1 == sizeof plain)
            return false;
        plain[n++] = *c == ' ' ? '_' : *c;
    }
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcasecmp(plain, usual[i]) == 0)
            return true;
    return false;
}

static int fail_no_time(const char *path, const struct columns *columns,
                        struct m2_error *err)
{
    char names[LIST_TEXT];

    return m2_fail(err, M2_E_DATA,
                   "%s: no column of time among %s; `time: COLUMN` names it, "
                   "`time: none` with `step` numbers the rows",
                   path, list_names(columns, names));
}

/* The only column that holds calendar times, or NO_COLUMN. */
static size_t find_by_cells(const struct sample *sample)
{
    size_t found = NO_COLUMN;

    for (size_t i = 0; i < sample->n_columns; i++) {
        const struct sample_column *c = &sample->columns[i];
        bool is_time = c->counts[CELL_TIME] > 0 && c->counts[CELL_TEXT] == 0 &&
                       c->counts[CELL_NUMBER] == 0;
        if (is_time && found != NO_COLUMN)
            return NO_COLUMN;
        if (is_time)
            found = i;
    }
    return found;
}

static int find_time(const char *path, const struct sample *sample,
                     struct columns *columns, struct m2_error *err)
{
    size_t found = NO_COLUMN;

    for (size_t i = 0; i < columns->n; i++) {
        if (!is_time_name(columns->items[i].name))
            continue;
        if (found != NO_COLUMN)
            return m2_fail(err, M2_E_DATA,
                           "%s: columns '%s' and '%s' may both hold the time; "
                           "`time: COLUMN` chooses one, `time: [%s, %s]` joins "
                           "date and time of day",
                           path, columns->items[found].name,
                           columns->items[i].name, columns->items[found].name,
                           columns->items[i].name);
        found = i;
    }
    columns->time_by_cells = found == NO_COLUMN;
    if (found == NO_COLUMN)
        found = find_by_cells(sample);
    if (found == NO_COLUMN)
        return fail_no_time(path, columns, err);
    columns->items[found].role = COLUMN_TIME;
    columns->time[0] = found;
    return M2_OK;
}

/* The column that an option names, for a role that it does not have yet. */
static int take_named(const char *path, const char *option, const char *name,
                      struct columns *columns, size_t *out,
                      struct m2_error *err)
{
    char names[LIST_TEXT];
    size_t found = find(columns, name);

    if (found == NO_COLUMN)
        return m2_fail(err, M2_E_DATA,
                       "%s: `%s` names column '%.300s', but there are only %s",
                       path, option, name, list_names(columns, names));
    if (columns->items[found].role != COLUMN_LEFT_OUT)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.%s: column '%.300s' has a role already",
                       option, name);
    *out = found;
    return M2_OK;
}

static int take_roles(const char *path, const struct settings *settings,
                      struct columns *columns, struct m2_error *err)
{
    int status = M2_OK;

    for (size_t i = 0; i < settings->time_columns.n && status == M2_OK; i++) {
        status = take_named(path, "time", settings->time_columns.items[i],
                            columns, &columns->time[i], err);
        if (status == M2_OK)
            columns->items[columns->time[i]].role = COLUMN_TIME;
    }
    if (status != M2_OK || settings->instrument == NULL)
        return status;
    status = take_named(path, "instrument", settings->instrument, columns,
                        &columns->instrument, err);
    if (status == M2_OK)
        columns->items[columns->instrument].role = COLUMN_INSTRUMENT;
    return status;
}

/* ---- values ----------------------------------------------------------- */

static bool is_in(const struct texts *texts, const char *name)
{
    for (size_t i = 0; i < texts->n; i++)
        if (strcmp(texts->items[i], name) == 0)
            return true;
    return false;
}

/* A column without any value yet may hold numbers. */
static bool holds_numbers(const struct sample *sample, size_t i)
{
    size_t counts[N_CELL_CLASSES];

    memcpy(counts, sample->columns[i].counts, sizeof counts);
    if (!sample->has_header)
        counts[sample->columns[i].first_class]++;
    return counts[CELL_NUMBER] + counts[CELL_NEAR_NUMBER] >=
           counts[CELL_TEXT] + counts[CELL_TIME];
}

static int take_values(const char *path, const struct sample *sample,
                       const struct settings *settings, struct columns *columns,
                       struct m2_error *err)
{
    for (size_t i = 0; i < columns->n; i++) {
        struct column *column = &columns->items[i];
        if (column->role != COLUMN_LEFT_OUT ||
            is_in(&settings->skip_columns, column->name) ||
            strcmp(column->name, "-") == 0)
            continue;
        column->is_text = !holds_numbers(sample, i);
        if (column->is_text)
            continue;
        column->role = COLUMN_VALUE;
        column->index = columns->n_values++;
    }
    if (columns->n_values == 0)
        return m2_fail(err, M2_E_DATA, "%s: no column of numbers", path);
    return M2_OK;
}

static int check_skipped(const char *path, const struct settings *settings,
                         struct columns *columns, struct m2_error *err)
{
    size_t found;
    int status = M2_OK;

    for (size_t i = 0; i < settings->skip_columns.n && status == M2_OK; i++)
        status =
            take_named(path, "skip_columns", settings->skip_columns.items[i],
                       columns, &found, err);
    return status;
}

int columns_choose(const char *path, const struct sample *sample,
                   const struct settings *settings, struct columns *out,
                   struct m2_error *err)
{
    int status = name_columns(path, sample, settings, out, err);

    if (status == M2_OK)
        status = take_roles(path, settings, out, err);
    if (status == M2_OK && settings->time_source == TIME_BY_NAME)
        status = find_time(path, sample, out, err);
    if (status == M2_OK)
        status = check_skipped(path, settings, out, err);
    return status == M2_OK ? take_values(path, sample, settings, out, err)
                           : status;
}

/* The first file's column of this name; as a rule it is at the same place. */
static size_t find_same(const struct columns *first,
                        const struct columns *columns, size_t i)
{
    const char *name = columns->items[i].name;

    if (columns->n != first->n)
        return NO_COLUMN;
    return strcmp(first->items[i].name, name) == 0 ? i : find(first, name);
}

int columns_match(const char *path, const struct sample *sample,
                  const struct settings *settings, const struct columns *first,
                  struct columns *out, struct m2_error *err)
{
    char here[LIST_TEXT], there[LIST_TEXT];
    int status = name_columns(path, sample, settings, out, err);

    if (status != M2_OK)
        return status;
    for (size_t i = 0; i < out->n; i++) {
        size_t same = find_same(first, out, i);
        if (same == NO_COLUMN)
            return m2_fail(err, M2_E_DATA,
                           "%s: columns %s, unlike the first file's %s", path,
                           list_names(out, here), list_names(first, there));
        out->items[i].role = first->items[same].role;
        out->items[i].index = first->items[same].index;
        for (int part = 0; part < 2; part++)
            if (first->time[part] == same)
                out->time[part] = i;
        if (first->instrument == same)
            out->instrument = i;
    }
    out->n_values = first->n_values;
    return M2_OK;
}

void columns_free(struct columns *columns)
{
    for (size_t i = 0; i < columns->n; i++) {
        free(columns->items[i].name);
        free(columns->items[i].header);
    }
    free(columns->items);
    *columns = (struct columns){0};
}
