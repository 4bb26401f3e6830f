/* The tokenizer: bytes to cells. */
#include "csv/record.h"

#include <inttypes.h>
#include <string.h>

#include "common/memory.h"

static uint32_t column_of(const struct cursor *cursor)
{
    return (uint32_t)(cursor->at - cursor->line_start) + 1;
}

static bool is_blank(const struct reader *reader, char c)
{
    return c == ' ' || (c == '\t' && reader->format.delimiter != '\t');
}

/* The bytes at hand are at their end: ask for more, or that is the end of the
 * line, too. */
static enum scan end_of_bytes(const struct reader *reader)
{
    return !reader->at_end || reader->is_part ? SCAN_MORE : SCAN_LINE_END;
}

static enum scan fail_nul(const struct reader *reader,
                          const struct cursor *cursor, struct m2_error *err)
{
    m2_fail(err, M2_E_DATA,
            "%s:%" PRIu64 ":%" PRIu32 ": a NUL byte (byte %" PRIu64
            " of the file): the file is damaged, or no text",
            reader->input.source.path, reader->line + cursor->lines,
            column_of(cursor),
            reader->offset + (uint64_t)(cursor->at - reader->bytes));
    return SCAN_ERROR;
}

/* What follows a cell. */
static enum scan scan_end(const struct reader *reader, struct cursor *cursor,
                          struct m2_error *err)
{
    char c = *cursor->at;

    if (c == '\n') {
        cursor->at++;
        return SCAN_LINE_END;
    }
    if (c == '\r') {
        if (cursor->at + 1 == cursor->limit && !reader->at_end)
            return SCAN_MORE;
        cursor->at += cursor->at[1] == '\n' ? 2 : 1;
        return SCAN_LINE_END;
    }
    if (c == '\0' && cursor->at == cursor->limit)
        return end_of_bytes(reader);
    if (c == '\0')
        return fail_nul(reader, cursor, err);
    cursor->at++;
    return SCAN_DELIMITER;
}

static void trim_end(const struct reader *reader, struct cell *cell)
{
    while (cell->n > 0 && is_blank(reader, cell->text[cell->n - 1]))
        cell->n--;
}

static enum scan scan_plain(const struct reader *reader, struct cursor *cursor,
                            struct cell *cell, struct m2_error *err)
{
    const char *start = cursor->at;

    while (!reader->is_special[(unsigned char)*cursor->at])
        cursor->at++;
    cell->n = (uint32_t)(cursor->at - start);
    trim_end(reader, cell);
    return scan_end(reader, cursor, err);
}

/* Counts the line ends in a quoted text, and finds the last one. */
static void count_lines(struct cursor *cursor, const char *from, const char *to)
{
    for (const char *p = from; p < to; p++) {
        if (*p != '\n' && *p != '\r')
            continue;
        if (*p == '\r' && p + 1 < to && p[1] == '\n')
            p++;
        cursor->lines++;
        cursor->line_start = p + 1;
    }
}

/* Finds the closing quote, which is not doubled; NULL when it is not there. */
static char *find_close(struct cursor *cursor, struct cell *cell)
{
    char *p = cursor->at;

    for (;;) {
        p = memchr(p, '"', (size_t)(cursor->limit - p));
        if (p == NULL || p + 1 == cursor->limit || p[1] != '"')
            return p;
        cell->doubled = true;
        p += 2;
    }
}

static enum scan fail_unclosed(const struct reader *reader,
                               struct cursor *cursor, struct m2_error *err)
{
    if (!reader->at_end || reader->is_part)
        return SCAN_MORE;
    m2_fail(err, M2_E_DATA,
            "%s:%" PRIu64 ":%" PRIu32 ": a quoted cell begins here, and the "
            "file ends inside it",
            reader->input.source.path, reader->line + cursor->quote_line,
            cursor->quote_column);
    return SCAN_ERROR;
}

static enum scan fail_after_quote(const struct reader *reader,
                                  const struct cursor *cursor,
                                  struct m2_error *err)
{
    m2_fail(err, M2_E_DATA,
            "%s:%" PRIu64 ":%" PRIu32 ": text after the closing quote of a "
            "cell; a quote inside a quoted cell is written twice",
            reader->input.source.path, reader->line + cursor->lines,
            column_of(cursor));
    return SCAN_ERROR;
}

static enum scan scan_quoted(const struct reader *reader, struct cursor *cursor,
                             struct cell *cell, struct m2_error *err)
{
    cursor->open_quote = cursor->at;
    cursor->quote_line = cursor->lines;
    cursor->quote_column = cell->column;
    char *start = ++cursor->at, *close = find_close(cursor, cell);
    if (close == NULL)
        return fail_unclosed(reader, cursor, err);
    if (close + 1 == cursor->limit && !reader->at_end)
        return SCAN_MORE;
    char *nul = memchr(start, '\0', (size_t)(close - start));
    count_lines(cursor, start, nul != NULL ? nul : close);
    if (nul != NULL) {
        cursor->at = nul;
        return scan_end(reader, cursor, err);
    }
    cursor->open_quote = NULL;
    cell->quoted = true;
    cell->text = start;
    cell->n = (uint32_t)(close - start);
    cursor->at = close + 1;
    while (is_blank(reader, *cursor->at) && reader->format.delimiter != ' ')
        cursor->at++;
    if (!reader->is_special[(unsigned char)*cursor->at])
        return fail_after_quote(reader, cursor, err);
    return scan_end(reader, cursor, err);
}

static struct cell *next_cell(struct reader *reader, struct m2_error *err)
{
    if (reader->n_cells < reader->cells_capacity)
        return &reader->cells[reader->n_cells];
    struct cell *cells = memory_grow(reader->cells, &reader->cells_capacity,
                                     reader->n_cells + 1, sizeof *cells, err);
    if (cells == NULL)
        return NULL;
    reader->cells = cells;
    return &cells[reader->n_cells];
}

static enum scan scan_cell(struct reader *reader, struct cursor *cursor,
                           struct m2_error *err)
{
    struct cell *cell = next_cell(reader, err);
    bool by_blanks = reader->format.delimiter == ' ';

    if (cell == NULL)
        return SCAN_ERROR;
    while (is_blank(reader, *cursor->at))
        cursor->at++;
    *cell = (struct cell){
        .text = cursor->at,
        .column = column_of(cursor),
        .line = cursor->lines,
    };
    enum scan end = *cursor->at == '"' ? scan_quoted(reader, cursor, cell, err)
                                       : scan_plain(reader, cursor, cell, err);
    /* blanks at the end of a line delimit nothing */
    if (!by_blanks || cell->n > 0 || cell->quoted || end != SCAN_LINE_END ||
        reader->n_cells == 0)
        reader->n_cells++;
    return end;
}

/* Goes past the rest of a line. */
enum scan record_skip_line(const struct reader *reader, struct cursor *cursor)
{
    cursor->at += strcspn(cursor->at, "\r\n");
    while (*cursor->at == '\0' && cursor->at < cursor->limit) {
        cursor->at++; /* a NUL in a line that is not read */
        cursor->at += strcspn(cursor->at, "\r\n");
    }
    return scan_end(reader, cursor, NULL);
}

enum scan record_scan(struct reader *reader, struct cursor *cursor,
                      struct m2_error *err)
{
    enum scan end;

    reader->n_cells = 0;
    do
        end = scan_cell(reader, cursor, err);
    while (end == SCAN_DELIMITER);
    return end;
}
