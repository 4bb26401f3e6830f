/* The tokenizer: one record out of the bytes at hand. */
#ifndef M2_CSV_RECORD_H
#define M2_CSV_RECORD_H

#include "csv/reader.h"

/* How a step of the tokenizer ended. */
enum scan {
    SCAN_DELIMITER,
    SCAN_LINE_END,
    SCAN_MORE, /* the bytes at hand do not reach to the end of the record */
    SCAN_ERROR,
};

/* Where the tokenizer is within a record. */
struct cursor {
    char *at;
    const char *limit;
    const char *line_start;
    uint32_t lines; /* line ends inside quotes so far */
    const char *open_quote;
    uint32_t quote_line, quote_column;
};

/* Cells from cursor->at to the end of the record: SCAN_LINE_END with the
 * cursor behind it, SCAN_MORE, or SCAN_ERROR. */
enum scan record_scan(struct reader *reader, struct cursor *cursor,
                      struct m2_error *err);

/* Goes past the rest of a line, whatever it holds. */
enum scan record_skip_line(const struct reader *reader, struct cursor *cursor);

#endif
