/* Bytes to records. */
#include "csv/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "csv/encoding.h"

enum { FIRST_CAPACITY = 64 << 10, READ_CAPACITY = 256 << 10 };

/* ---- messages --------------------------------------------------------- */

int reader_fail(const struct reader *reader, const struct cell *cell,
                struct m2_error *err, const char *format, ...)
{
    va_list arguments;
    char message[1400];

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return m2_fail(err, M2_E_DATA, "%s:%" PRIu64 ":%" PRIu32 ": %s",
                   reader->input.source.path, reader->record_line + cell->line,
                   cell->column, message);
}

/* Never cut inside a character; what is none becomes a '?'. */
char *cell_show(const struct cell *cell, char out[CELL_SHOWN])
{
    static const char more[] = "...";
    size_t used = 0, length;

    for (size_t i = 0; i < cell->n; i += length) {
        length = utf8_character(cell->text + i, cell->n - i);
        bool shown = utf8_is_name(cell->text + i, length) && length > 0;
        if (used + 4 + sizeof more > CELL_SHOWN) {
            memcpy(out + used, more, sizeof more);
            return out;
        }
        memcpy(out + used, shown ? cell->text + i : "?", shown ? length : 1);
        used += shown ? length : 1;
        length = length > 0 ? length : 1;
    }
    out[used] = '\0';
    return out;
}

bool cell_is(const struct cell *cell, const char *text)
{
    return strlen(text) == cell->n && memcmp(text, cell->text, cell->n) == 0;
}

/* ---- bytes ------------------------------------------------------------ */

/* A record that grows beyond all bounds is a quote that was never closed, as
 * a rule. */
static int fail_too_long(const struct reader *reader,
                         const struct cursor *cursor, struct m2_error *err)
{
    if (cursor->open_quote != NULL)
        return m2_fail(err, M2_E_DATA,
                       "%s:%" PRIu64 ":%" PRIu32 ": a quoted cell begins here "
                       "and does not end within %d MiB",
                       reader->input.source.path,
                       reader->line + cursor->quote_line, cursor->quote_column,
                       READER_MAX_RECORD >> 20);
    return m2_fail(
        err, M2_E_DATA, "%s:%" PRIu64 ":1: a line of more than %d MiB",
        reader->input.source.path, reader->line, READER_MAX_RECORD >> 20);
}

/* Makes room behind the bytes that are still needed. */
static int make_room(struct reader *reader, const struct cursor *cursor,
                     struct m2_error *err)
{
    size_t kept = reader->end - reader->begin;
    size_t need = reader->capacity == 0 ? FIRST_CAPACITY : READ_CAPACITY;

    if (kept >= READER_MAX_RECORD)
        return fail_too_long(reader, cursor, err);
    if (reader->begin > 0) {
        memmove(reader->bytes, reader->bytes + reader->begin, kept);
        reader->offset += reader->begin;
        reader->begin = 0;
        reader->end = kept;
    }
    if (need <= kept + 1)
        need = kept + kept / 2 + 2;
    if (need <= reader->capacity)
        return M2_OK;
    char *bytes = memory_grow(reader->bytes, &reader->capacity, need, 1, err);
    if (bytes == NULL)
        return M2_E_MEMORY;
    reader->bytes = bytes;
    return M2_OK;
}

static int fill(struct reader *reader, const struct cursor *cursor,
                struct m2_error *err)
{
    size_t got;
    int status = make_room(reader, cursor, err);

    if (status == M2_OK)
        status = input_read(&reader->input, reader->bytes + reader->end,
                            reader->capacity - 1 - reader->end, &got, err);
    if (status != M2_OK)
        return status;
    reader->end += got;
    reader->bytes[reader->end] = '\0';
    reader->at_end = got == 0;
    return M2_OK;
}

/* ---- records ---------------------------------------------------------- */

/* 1 when a comment begins here, -1 when more bytes are needed to tell. */
static int is_comment(const struct reader *reader)
{
    const char *prefix = reader->format.comment;
    size_t n = strlen(prefix), available = reader->end - reader->begin;
    size_t both = n < available ? n : available;

    if (n == 0 || memcmp(reader->bytes + reader->begin, prefix, both) != 0)
        return 0;
    if (both == n)
        return 1;
    return reader->at_end ? 0 : -1;
}

/* Doubled quotes become single ones, now that the record will not be scanned
 * again. */
static void undouble(struct reader *reader, struct cell *cell)
{
    char *text = reader->bytes + (cell->text - reader->bytes);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < cell->n; i++) {
        text[kept++] = text[i];
        i += text[i] == '"';
    }
    cell->n = kept;
    cell->doubled = false;
}

static void skip(struct skipped *skipped, uint64_t line)
{
    if (skipped->n++ == 0)
        skipped->first_line = line;
}

/* Looks at what begins at bytes[begin]: 1 for a record, 0 for a line that is
 * passed over, NEED_MORE, or an error. */
enum { NEED_MORE = 2 };

static int take_line(struct reader *reader, struct cursor *cursor,
                     struct m2_error *err)
{
    int comment = is_comment(reader);
    bool unread = reader->line <= reader->format.skip_lines;
    enum scan end;

    if (comment < 0)
        return NEED_MORE;
    end = comment || unread ? record_skip_line(reader, cursor)
                            : record_scan(reader, cursor, err);
    if (end == SCAN_MORE)
        return NEED_MORE;
    if (end == SCAN_ERROR)
        return err != NULL ? err->code : M2_E_DATA;
    const struct cell *first = reader->cells;
    reader->record_line = reader->line;
    reader->line += cursor->lines + 1;
    reader->begin = (size_t)(cursor->at - reader->bytes);
    if (unread)
        return 0;
    if (comment)
        skip(&reader->comments, reader->record_line);
    else if (reader->n_cells == 1 && first->n == 0 && !first->quoted)
        skip(&reader->blank, reader->record_line);
    else
        return 1;
    return 0;
}

int reader_next(struct reader *reader, struct m2_error *err)
{
    int status = 0;

    while (status == 0) {
        char *start = reader->bytes + reader->begin;
        struct cursor cursor = {.at = start,
                                .limit = reader->bytes + reader->end,
                                .line_start = start};
        if (reader->begin == reader->end && reader->at_end)
            return 0;
        status = reader->begin == reader->end ? NEED_MORE
                                              : take_line(reader, &cursor, err);
        if (status != NEED_MORE)
            continue;
        if (reader->at_end)
            return 0; /* the last record of a part */
        status = fill(reader, &cursor, err);
    }
    for (size_t i = 0; status == 1 && i < reader->n_cells; i++)
        if (reader->cells[i].doubled)
            undouble(reader, &reader->cells[i]);
    return status;
}

/* ---- open and close --------------------------------------------------- */

static void set_special(struct reader *reader)
{
    static const char always[] = "\r\n";

    for (const char *c = always; *c != '\0'; c++)
        reader->is_special[(unsigned char)*c] = true;
    reader->is_special[0] = true;
    reader->is_special[(unsigned char)reader->format.delimiter] = true;
    if (reader->format.delimiter == ' ')
        reader->is_special['\t'] = true;
}

static int check_text(struct reader *reader, struct m2_error *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    const struct not_text *other =
        encoding_not_text(reader->bytes, reader->end);

    if (other != NULL)
        return m2_fail(err, M2_E_DATA, "%s: this is %s, not plain text; %s",
                       reader->input.source.path, other->name, other->advice);
    if (reader->end >= 3 && memcmp(reader->bytes, bom, 3) == 0) {
        reader->has_bom = true;
        reader->begin = 3;
    }
    return M2_OK;
}

int reader_open(struct reader *reader, const struct input_source *source,
                const struct reader_format *format, struct m2_error *err)
{
    const struct cursor nowhere = {0};

    *reader = (struct reader){.format = *format, .line = 1};
    set_special(reader);
    int status = input_open(&reader->input, source, err);
    if (status == M2_OK)
        status = fill(reader, &nowhere, err);
    return status == M2_OK ? check_text(reader, err) : status;
}

void reader_close(struct reader *reader)
{
    input_close(&reader->input);
    free(reader->bytes);
    free(reader->cells);
    *reader = (struct reader){.input.fd = -1};
}
