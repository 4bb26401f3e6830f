/* Rows of bars from a pipe. */
#include "predict/row_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/text.h"
#include "util/timefmt.h"

enum { LINE_LIMIT = 1 << 20 };

enum role { ROLE_VALUE, ROLE_TIME, ROLE_INSTRUMENT, ROLE_CONTRACT };

struct row_reader {
    FILE *file;
    const char *name;
    char *line;
    size_t line_capacity;
    int64_t line_number;
    char **cells; /* (n_cells) inside line */
    size_t n_cells;
    enum role *roles; /* (n_cells) */
    struct string_list columns;
    bool *wanted;   /* (columns) */
    double *values; /* (columns) */
};

/* Adds a byte to the line; an input without line breaks is no table. */
static int add_byte(struct row_reader *reader, size_t length, char byte,
                    struct m2_error *err)
{
    if (length > LINE_LIMIT)
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRId64 ": a line of more than %d bytes",
                       reader->name, reader->line_number + 1, LINE_LIMIT);
    if (length == reader->line_capacity &&
        array_reserve(&reader->line, &reader->line_capacity, length + 1, 1,
                      err) != 0)
        return M2_E_MEMORY;
    reader->line[length] = byte;
    return 0;
}

/* Reads a line without its end; *end when there is none. */
static int read_line(struct row_reader *reader, bool *end, struct m2_error *err)
{
    size_t length = 0;
    int byte, code = 0;

    errno = 0;
    while (code == 0 && (byte = getc_unlocked(reader->file)) != EOF &&
           byte != '\n')
        code = add_byte(reader, length++, (char)byte, err);
    if (code != 0)
        return code;
    if (byte == EOF && ferror(reader->file))
        return m2_fail(err, M2_E_DATA, "%s: %s", reader->name, strerror(errno));
    *end = byte == EOF && length == 0;
    reader->line_number += !*end;
    while (length > 0 && reader->line[length - 1] == '\r')
        length--;
    return add_byte(reader, length, '\0', err);
}

/* Ends the cell at `at`, unquoted in place; returns where the next one
 * begins, or NULL after the last. */
static char *end_cell(char *at, char **cell)
{
    char *to = at;

    while (*at == ' ')
        at++;
    *cell = at;
    if (*at != '"') {
        char *comma = strchr(at, ',');

        to = comma != NULL ? comma : at + strlen(at);
        for (char *last = to; last > at && last[-1] == ' ';)
            *--last = '\0';
        *to = '\0';
        return comma != NULL ? comma + 1 : NULL;
    }
    for (to = ++at, *cell = to; *at != '\0'; at++) {
        if (*at == '"' && at[1] == '"')
            at++;
        else if (*at == '"')
            break;
        *to++ = *at;
    }
    at = strchr(at, ',');
    *to = '\0';
    return at != NULL ? at + 1 : NULL;
}

/* Splits the line; returns how many cells it has, of which at most n_cells
 * are kept. */
static size_t split_line(struct row_reader *reader)
{
    size_t n = 0;
    char *cell;

    for (char *at = reader->line; at != NULL; n++) {
        at = end_cell(at, &cell);
        if (n < reader->n_cells)
            reader->cells[n] = cell;
    }
    return n;
}

/* The usual names of a time column, those that the csv source finds: a file
 * that a run was trained on can be streamed to it. */
static enum role role_of(const char *name)
{
    static const char *const times[] = {
        "time",      "timestamp",   "date",     "datetime",
        "date_time", "ts_event",    "ts",       "time_utc",
        "utc_time",  "open_time",   "date_utc", "timestamp_utc",
        "bar_time",  "datetime_utc"};

    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strcasecmp(name, times[i]) == 0)
            return ROLE_TIME;
    if (strcmp(name, "instrument") == 0)
        return ROLE_INSTRUMENT;
    return strcmp(name, "contract") == 0 ? ROLE_CONTRACT : ROLE_VALUE;
}

/* `tail -f` and `tail -n 100` leave the header out. */
static bool is_row_of_values(const struct row_reader *reader)
{
    size_t numbers = 0, names = 0;
    double value;

    for (size_t i = 0; i < reader->n_cells; i++) {
        numbers += number_parse_double(reader->cells[i], &value);
        names += role_of(reader->cells[i]) != ROLE_VALUE;
    }
    return numbers > 0 && names == 0;
}

static int understand_header(struct row_reader *reader, struct m2_error *err)
{
    size_t n_times = 0;
    int code = 0;

    if (is_row_of_values(reader))
        return m2_fail(err, M2_E_DATA,
                       "%s:1: expected a header line with a time and the "
                       "columns of the run, found values ('%s'); `tail -n +1 "
                       "-f FILE` begins with the first line of a file",
                       reader->name, reader->cells[0]);

    for (size_t i = 0; code == 0 && i < reader->n_cells; i++) {
        reader->roles[i] = role_of(reader->cells[i]);
        n_times += reader->roles[i] == ROLE_TIME;
        if (reader->roles[i] != ROLE_VALUE)
            continue;
        if (string_list_find(&reader->columns, reader->cells[i]) <
            reader->columns.count)
            return m2_fail(err, M2_E_DATA, "%s:1: column '%s' is there twice",
                           reader->name, reader->cells[i]);
        code = string_list_add(&reader->columns, reader->cells[i], err);
    }
    if (code == 0 && n_times != 1)
        return m2_fail(err, M2_E_DATA,
                       "%s:1: the header has %zu time columns, expected one, "
                       "called time, timestamp, date or datetime",
                       reader->name, n_times);
    return code;
}

static int read_header(struct row_reader *reader, struct m2_error *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    bool end;
    int code = read_line(reader, &end, err);

    if (code != 0)
        return code;
    if (end)
        return m2_fail(err, M2_E_DATA, "%s: empty, expected a header line",
                       reader->name);
    if (strncmp(reader->line, bom, 3) == 0)
        memmove(reader->line, reader->line + 3, strlen(reader->line) - 2);
    reader->n_cells = 1;
    for (const char *at = reader->line; *at != '\0'; at++)
        reader->n_cells += *at == ','; /* at most: some may be quoted */
    reader->cells = memory_zeroed(reader->n_cells, sizeof(char *), err);
    reader->roles = memory_zeroed(reader->n_cells, sizeof *reader->roles, err);
    reader->wanted = memory_zeroed(reader->n_cells, sizeof(bool), err);
    reader->values = memory_zeroed(reader->n_cells, sizeof(double), err);
    if (reader->cells == NULL || reader->roles == NULL ||
        reader->wanted == NULL || reader->values == NULL)
        return M2_E_MEMORY;
    reader->n_cells = split_line(reader);
    return understand_header(reader, err);
}

int row_reader_open(FILE *file, const char *name, struct row_reader **out,
                    struct m2_error *err)
{
    struct row_reader *reader = memory_zeroed(1, sizeof *reader, err);
    int code;

    if (reader == NULL)
        return M2_E_MEMORY;
    reader->file = file;
    reader->name = name;
    code = read_header(reader, err);
    if (code != 0) {
        row_reader_close(reader);
        return code;
    }
    *out = reader;
    return 0;
}

void row_reader_close(struct row_reader *reader)
{
    if (reader == NULL)
        return;
    string_list_free(&reader->columns);
    free(reader->line);
    free(reader->cells);
    free(reader->roles);
    free(reader->wanted);
    free(reader->values);
    free(reader);
}

size_t row_reader_columns(const struct row_reader *reader,
                          const char *const **out)
{
    *out = (const char *const *)reader->columns.items;
    return reader->columns.count;
}

void row_reader_want(struct row_reader *reader, const bool *wanted)
{
    memcpy(reader->wanted, wanted, reader->columns.count * sizeof *wanted);
}

static bool is_missing(const char *cell)
{
    static const char *const words[] = {"", "nan", "NaN", "NA", "null"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(cell, words[i]) == 0)
            return true;
    return false;
}

/* A count since 1970 whose unit is told by its size, as the csv source does:
 * from 1972 to 2200 the largest count of a unit is smaller than the smallest of
 * the next. */
static bool read_count(const char *cell, int64_t *out)
{
    static const int64_t from = 63072000, until = 7258118400; /* seconds */
    int64_t count, scale = 1, ns = M2_NS_PER_SECOND;

    if (!number_parse_int(cell, &count))
        return false;
    for (; ns > 0; scale *= 1000, ns /= 1000)
        if (count >= from * scale && count / scale < until) {
            *out = count * ns;
            return true;
        }
    return false;
}

static int read_cells(struct row_reader *reader, struct stream_row *row,
                      struct m2_error *err)
{
    size_t column = 0;

    for (size_t i = 0; i < reader->n_cells; i++) {
        const char *cell = reader->cells[i];
        size_t c = column;

        column += reader->roles[i] == ROLE_VALUE;
        if (reader->roles[i] == ROLE_INSTRUMENT)
            row->instrument = cell;
        if (reader->roles[i] == ROLE_CONTRACT)
            row->contract = cell;
        if (reader->roles[i] == ROLE_TIME && !time_parse(cell, &row->time) &&
            !read_count(cell, &row->time))
            return m2_fail(err, M2_E_DATA,
                           "%s:%" PRId64 ": '%s' is no time, expected as "
                           "2024-01-02T03:04:05Z or a count since 1970",
                           reader->name, reader->line_number, cell);
        if (reader->roles[i] != ROLE_VALUE)
            continue;
        reader->values[c] = NAN;
        if (reader->wanted[c] && !is_missing(cell) &&
            !number_parse_double(cell, &reader->values[c]))
            return m2_fail(err, M2_E_DATA,
                           "%s:%" PRId64 ": column %s: '%s' is no number",
                           reader->name, reader->line_number,
                           reader->columns.items[c], cell);
    }
    return 0;
}

int row_reader_next(struct row_reader *reader, struct stream_row *out,
                    bool *end, struct m2_error *err)
{
    size_t n;
    int code;

    *out = (struct stream_row){.values = reader->values};
    do
        code = read_line(reader, end, err);
    while (code == 0 && !*end && reader->line[0] == '\0');
    if (code != 0 || *end)
        return code;
    n = split_line(reader);
    if (n != reader->n_cells)
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRId64 ": %zu cells, expected %zu as in the "
                       "header",
                       reader->name, reader->line_number, n, reader->n_cells);
    return read_cells(reader, out, err);
}

int64_t row_reader_line(const struct row_reader *reader)
{
    return reader->line_number;
}
