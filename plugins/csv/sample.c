/* The first rows of a file. */
#include "csv/sample.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum { FIRST_BYTES = 64 << 10, MAX_WIDTHS = 64 };

/* Bytes at the beginning of a file. */
struct head {
    struct input_source source; /* the bytes as an input */
    char *bytes;
    bool is_part; /* the file goes on */
};

static int read_head(const struct input_source *source, size_t size,
                     struct head *out, struct m2_error *err)
{
    struct input input;
    size_t n = 0, got = 1;
    int status = input_open(&input, source, err);

    if (status != M2_OK)
        return status;
    out->bytes = memory_zeroed(size, 1, err);
    status = out->bytes == NULL ? M2_E_MEMORY : M2_OK;
    while (status == M2_OK && got > 0 && n < size) {
        status = input_read(&input, out->bytes + n, size - n, &got, err);
        n += status == M2_OK ? got : 0;
    }
    input_close(&input);
    out->is_part = got > 0;
    out->source =
        (struct input_source){source->path, (const uint8_t *)out->bytes, n};
    return status;
}

static int open_head(const struct head *head, const struct settings *settings,
                     char delimiter, struct reader *out, struct m2_error *err)
{
    const struct reader_format format = {.delimiter = delimiter,
                                         .comment = settings->comment,
                                         .skip_lines = settings->skip_rows};
    int status = reader_open(out, &head->source, &format, err);

    out->is_part = head->is_part;
    return status;
}

/* ---- the delimiter ---------------------------------------------------- */

/* How many of the first rows have the commonest number of cells, as a share;
 * 0 when that is one cell. */
static double evenness(struct reader *reader)
{
    size_t widths[MAX_WIDTHS], n = 0, best = 0;
    struct m2_error ignored;

    while (n < MAX_WIDTHS && reader_next(reader, &ignored) == 1)
        widths[n++] = reader->n_cells;
    for (size_t i = 0; i < n; i++) {
        size_t equal = 0;
        for (size_t k = 0; k < n; k++)
            equal += widths[k] == widths[i];
        if (widths[i] > 1 && equal > best)
            best = equal;
    }
    return n > 0 ? (double)best / (double)n : 0.0;
}

/* Of two that divide equally well the earlier one: a comma may be a decimal
 * mark, a blank may stand between date and time. */
static int find_delimiter(const struct head *head,
                          const struct settings *settings, char *out,
                          struct m2_error *err)
{
    static const char candidates[] = "\t;|, ";
    double best = 0.0;

    *out = ',';
    for (const char *c = candidates; *c != '\0'; c++) {
        struct reader reader = {0};
        int status = open_head(head, settings, *c, &reader, err);
        double even = status == M2_OK ? evenness(&reader) : 0.0;
        reader_close(&reader);
        if (status != M2_OK)
            return status;
        if (even > best) {
            best = even;
            *out = *c;
        }
    }
    return M2_OK;
}

/* ---- what cells hold -------------------------------------------------- */

static enum cell_class classify(const struct settings *settings,
                                const struct cell *cell)
{
    double value;

    switch (number_read(&settings->numbers, cell->text, cell->n, &value)) {
    case NUMBER_VALUE:
    case NUMBER_TOO_LARGE:
        return CELL_NUMBER;
    case NUMBER_MISSING:
    case NUMBER_INFINITE:
        return CELL_MISSING;
    default:
        break;
    }
    if (times_is_calendar(cell->text, cell->n))
        return CELL_TIME;
    return number_hint(&settings->numbers, cell->text, cell->n) != NULL
               ? CELL_NEAR_NUMBER
               : CELL_TEXT;
}

static int take_first(struct sample *sample, const struct settings *settings,
                      const struct reader *reader, struct m2_error *err)
{
    sample->columns =
        memory_zeroed(reader->n_cells, sizeof *sample->columns, err);
    if (sample->columns == NULL)
        return M2_E_MEMORY;
    sample->first_line = reader->record_line;
    for (; sample->n_columns < reader->n_cells; sample->n_columns++) {
        const struct cell *cell = &reader->cells[sample->n_columns];
        struct sample_column *column = &sample->columns[sample->n_columns];
        column->first = memory_string(cell->text, cell->n, err);
        if (column->first == NULL)
            return M2_E_MEMORY;
        column->first_class = classify(settings, cell);
    }
    return M2_OK;
}

static void take_other(struct sample *sample, const struct settings *settings,
                       const struct reader *reader)
{
    if (sample->n_rows++ == 0)
        sample->n_below = reader->n_cells;
    for (size_t i = 0; i < sample->n_columns && i < reader->n_cells; i++)
        sample->columns[i].counts[classify(settings, &reader->cells[i])]++;
}

static int take_rows(struct sample *sample, const struct settings *settings,
                     struct reader *reader, struct m2_error *err)
{
    struct m2_error later;
    int status = reader_next(reader, err);

    if (status == 1)
        status = take_first(sample, settings, reader, err);
    else
        return status;
    if (status != M2_OK)
        return status;
    while ((status = reader_next(reader, &later)) == 1)
        take_other(sample, settings, reader);
    sample->is_damaged = status < 0;
    return M2_OK;
}

/* Text above numbers is a name; otherwise numbers are data. */
static bool looks_like_header(const struct sample *sample)
{
    bool has_text = false, has_number = false;

    for (size_t i = 0; i < sample->n_columns; i++) {
        const struct sample_column *c = &sample->columns[i];
        size_t numbers = c->counts[CELL_NUMBER] + c->counts[CELL_NEAR_NUMBER] +
                         c->counts[CELL_TIME];
        if (c->first_class == CELL_TEXT && numbers > c->counts[CELL_TEXT])
            return true;
        has_text |= c->first_class == CELL_TEXT;
        has_number |=
            c->first_class != CELL_TEXT && c->first_class != CELL_MISSING;
    }
    return has_text && !has_number;
}

/* ---- all of it -------------------------------------------------------- */

static int take_head(const struct head *head, const struct settings *settings,
                     struct sample *out, struct m2_error *err)
{
    struct reader reader = {0};
    int status = M2_OK;

    out->delimiter = settings->delimiter;
    if (out->delimiter == '\0')
        status = find_delimiter(head, settings, &out->delimiter, err);
    if (status == M2_OK)
        status = open_head(head, settings, out->delimiter, &reader, err);
    if (status == M2_OK)
        status = take_rows(out, settings, &reader, err);
    reader_close(&reader);
    out->has_header = settings->header == HEADER_YES;
    if (settings->header == HEADER_AUTO)
        out->has_header = looks_like_header(out);
    return status;
}

/* Rows may be long: twice as many bytes, until there is a row below the
 * first. */
int sample_take(const struct input_source *source,
                const struct settings *settings, struct sample *out,
                struct m2_error *err)
{
    int status = M2_OK;
    bool enough = false;

    *out = (struct sample){0};
    for (size_t size = FIRST_BYTES; status == M2_OK && !enough; size *= 2) {
        struct head head = {0};
        sample_free(out);
        status = read_head(source, size, &head, err);
        if (status == M2_OK)
            status = take_head(&head, settings, out, err);
        out->is_only_header = out->has_header && out->n_rows == 0 &&
                              !head.is_part && !out->is_damaged;
        enough = out->n_rows > 0 || !head.is_part || out->is_damaged ||
                 size > READER_MAX_RECORD;
        free(head.bytes);
    }
    return status;
}

void sample_free(struct sample *sample)
{
    for (size_t i = 0; i < sample->n_columns; i++)
        free(sample->columns[i].first);
    free(sample->columns);
    *sample = (struct sample){0};
}
