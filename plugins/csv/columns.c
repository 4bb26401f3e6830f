/* What the columns of a file are for. */
#include "csv/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"

enum { NOT_FOUND = SIZE_MAX, LIST_TEXT = 600 };

static size_t find(const struct columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->n; i++)
        if (strcmp(columns->items[i].name, name) == 0)
            return i;
    return NOT_FOUND;
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

static char *make_name(const struct sample *sample, size_t i,
                       struct m2_error *err)
{
    const char *name = sample->columns[i].first;
    char number[32];

    if (name[0] == '\0') {
        snprintf(number, sizeof number, "column_%zu", i + 1);
        name = number;
    }
    return memory_string(name, strlen(name), err);
}

static int check_width(const char *path, const struct sample *sample,
                       const struct settings *settings, struct m2_error *err)
{
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

static int check_doubles(const char *path, const struct sample *sample,
                         const struct columns *columns, struct m2_error *err)
{
    for (size_t i = 0; i < columns->n; i++) {
        const char *name = columns->items[i].name;
        size_t first = find(columns, name);
        if (first < i && strcmp(name, "-") != 0)
            return m2_fail(err, M2_E_DATA,
                           "%s:%" PRIu64 ":1: columns %zu and %zu are both "
                           "called '%s'; `columns: [...]` gives them other "
                           "names",
                           path, sample->first_line, first + 1, i + 1, name);
    }
    return M2_OK;
}

static int name_columns(const char *path, const struct sample *sample,
                        const struct settings *settings, struct columns *out,
                        struct m2_error *err)
{
    const struct texts *given = &settings->columns;
    int status = check_width(path, sample, settings, err);

    *out = (struct columns){0};
    if (status != M2_OK)
        return status;
    out->items = memory_zeroed(sample->n_columns, sizeof *out->items, err);
    if (out->items == NULL)
        return M2_E_MEMORY;
    for (; out->n < sample->n_columns; out->n++) {
        const char *name = given->n > 0 ? given->items[out->n] : NULL;
        out->items[out->n].name = name != NULL
                                      ? memory_string(name, strlen(name), err)
                                      : make_name(sample, out->n, err);
        if (out->items[out->n].name == NULL)
            return M2_E_MEMORY;
    }
    return check_doubles(path, sample, out, err);
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

/* The only column that holds calendar times, or NOT_FOUND. */
static size_t find_by_cells(const struct sample *sample)
{
    size_t found = NOT_FOUND;

    for (size_t i = 0; i < sample->n_columns; i++) {
        const struct sample_column *c = &sample->columns[i];
        bool is_time = c->counts[CELL_TIME] > 0 && c->counts[CELL_TEXT] == 0 &&
                       c->counts[CELL_NUMBER] == 0;
        if (is_time && found != NOT_FOUND)
            return NOT_FOUND;
        if (is_time)
            found = i;
    }
    return found;
}

static int find_time(const char *path, const struct sample *sample,
                     struct columns *columns, struct m2_error *err)
{
    size_t found = NOT_FOUND;

    for (size_t i = 0; i < columns->n; i++) {
        if (!is_time_name(columns->items[i].name))
            continue;
        if (found != NOT_FOUND)
            return m2_fail(err, M2_E_DATA,
                           "%s: columns '%s' and '%s' may both hold the time; "
                           "`time: COLUMN` chooses one, `time: [%s, %s]` joins "
                           "date and time of day",
                           path, columns->items[found].name,
                           columns->items[i].name, columns->items[found].name,
                           columns->items[i].name);
        found = i;
    }
    if (found == NOT_FOUND)
        found = find_by_cells(sample);
    if (found == NOT_FOUND)
        return fail_no_time(path, columns, err);
    columns->items[found].role = COLUMN_TIME;
    return M2_OK;
}

static int take_time(const char *path, const struct settings *settings,
                     struct columns *columns, struct m2_error *err)
{
    char names[LIST_TEXT];

    for (size_t i = 0; i < settings->time_columns.n; i++) {
        const char *name = settings->time_columns.items[i];
        size_t found = find(columns, name);
        if (found == NOT_FOUND)
            return m2_fail(err, M2_E_DATA,
                           "%s: `time` names column '%s', but there are only "
                           "%s",
                           path, name, list_names(columns, names));
        columns->items[found].role = COLUMN_TIME;
        columns->items[found].index = i;
    }
    return M2_OK;
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
                         const struct columns *columns, struct m2_error *err)
{
    char names[LIST_TEXT];

    for (size_t i = 0; i < settings->skip_columns.n; i++)
        if (find(columns, settings->skip_columns.items[i]) == NOT_FOUND)
            return m2_fail(err, M2_E_DATA,
                           "%s: `skip_columns` names column '%s', but there "
                           "are only %s",
                           path, settings->skip_columns.items[i],
                           list_names(columns, names));
    return M2_OK;
}

int columns_choose(const char *path, const struct sample *sample,
                   const struct settings *settings, struct columns *out,
                   struct m2_error *err)
{
    int status = name_columns(path, sample, settings, out, err);

    if (status == M2_OK)
        status = check_skipped(path, settings, out, err);
    if (status == M2_OK && settings->time_source == TIME_BY_NAME)
        status = find_time(path, sample, out, err);
    if (status == M2_OK && settings->time_source == TIME_COLUMNS)
        status = take_time(path, settings, out, err);
    return status == M2_OK ? take_values(path, sample, settings, out, err)
                           : status;
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
        size_t same =
            out->n == first->n ? find(first, out->items[i].name) : NOT_FOUND;
        if (same == NOT_FOUND)
            return m2_fail(err, M2_E_DATA,
                           "%s: columns %s, unlike the first file's %s", path,
                           list_names(out, here), list_names(first, there));
        out->items[i].role = first->items[same].role;
        out->items[i].index = first->items[same].index;
    }
    out->n_values = first->n_values;
    return M2_OK;
}

void columns_free(struct columns *columns)
{
    for (size_t i = 0; i < columns->n; i++)
        free(columns->items[i].name);
    free(columns->items);
    *columns = (struct columns){0};
}
