/* Records of a delimited text, cell by cell, each with its place.
 *
 * Cells are divided as RFC 4180 says; LF, CRLF and CR end a line, a quoted
 * cell may hold line ends and doubled quotes, and blanks around a cell are cut
 * off.  A quote inside a cell that does not begin with one is a plain
 * character.  Blank lines and comment lines are passed over and counted.
 *
 * An own tokenizer, for libcsv tells neither line nor column of a cell nor
 * whether it was quoted, knows no comments, and puts no bound on a record.
 *
 * Memory is bounded by the longest record, which may have READER_MAX_RECORD
 * bytes. */
#ifndef M2_CSV_READER_H
#define M2_CSV_READER_H

#include "common/input.h"

enum { READER_MAX_RECORD = 8 << 20 };

struct reader_format {
    char delimiter;      /* ' ': any run of blanks */
    const char *comment; /* borrowed; how a comment line begins; "": never */
    uint64_t skip_lines; /* at the top */
};

struct cell {
    const char *text; /* not terminated; valid until the next record */
    uint32_t n;
    uint32_t column; /* of its first byte in its line, from 1 */
    uint32_t line;   /* lines after the record's first */
    bool quoted;
    bool doubled; /* text holds doubled quotes still */
};

/* How often something was passed over, and the line where first. */
struct skipped {
    uint64_t n, first_line;
};

struct reader {
    struct input input;
    struct reader_format format;
    bool is_part; /* more follows what is there: a last record that is not
                     complete is none */
    char *bytes;  /* bytes[begin .. end-1] are there; bytes[end] is 0 */
    size_t begin, end, capacity;
    uint64_t offset; /* of bytes[0] in the input */
    bool at_end;
    bool is_special[256]; /* ends a run of plain characters */
    bool has_bom;
    uint64_t line; /* of bytes[begin] */
    struct cell *cells;
    size_t n_cells, cells_capacity;
    uint64_t record_line; /* where the current record begins */
    struct skipped blank, comments;
};

/* M2_E_DATA for what is no text: UTF-16, archives, other known formats.
 * After an error, and after use, reader_close. */
int reader_open(struct reader *reader, const struct input_source *source,
                const struct reader_format *format, struct m2_error *err);
void reader_close(struct reader *reader); /* a zeroed one is allowed */

/* 1 and a record in cells, 0 at the end, or an error. */
int reader_next(struct reader *reader, struct m2_error *err);

/* M2_E_DATA: "path:line:column: " and the message. */
__attribute__((format(printf, 4, 5))) int
reader_fail(const struct reader *reader, const struct cell *cell,
            struct m2_error *err, const char *format, ...);

/* The cell's text as it may stand in a message: short, without control
 * characters.  Returns out. */
enum { CELL_SHOWN = 56 };
char *cell_show(const struct cell *cell, char out[CELL_SHOWN]);

/* Equal to this string? */
bool cell_is(const struct cell *cell, const char *text);

#endif
