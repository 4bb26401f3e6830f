/* What a terminal can show, and tables: aligned text, CSV or JSON. */
#ifndef M2_UTIL_TERMINAL_H
#define M2_UTIL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#include "m2_plugin.h"
#include "util/text.h"

bool terminal_is_tty(int fd);

/* Columns: COLUMNS if it is a number, else the terminal's, else 80. */
int terminal_width(int fd);

/* Lines that redraw themselves: a tty whose TERM is not "dumb". */
bool terminal_can_redraw(int fd);

/* The same, and NO_COLOR is unset or empty. */
bool terminal_can_color(int fd);

/* Columns that a string takes: UTF-8 code points, one column each. */
size_t terminal_text_width(const char *string);

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
    const char *key;   /* CSV header and JSON key */
    const char *title; /* header of the text form; NULL: the key.  An ending of
                          the key grows while another column has the same */
    enum table_align align;
    bool is_number; /* JSON: unquoted; nan, inf and "-" become null */
};

/* Rows of cells, all text. The columns are copied, their strings are not:
 * they must live as long as the table. */
struct table {
    struct table_column *columns;
    size_t n_columns;
    struct string_list cells; /* row by row */
};

int table_init(struct table *table, const struct table_column *columns,
               size_t n_columns, struct m2_error *err);
void table_free(struct table *table);

/* Copies n_columns cells; NULL is a missing value: "-" in text, empty in CSV,
 * null in JSON. */
int table_add_row(struct table *table, const char *const *cells,
                  struct m2_error *err);

size_t table_rows(const struct table *table);

/* Header and rows, two blanks between columns, none at the end of a line. */
void table_print(const struct table *table, struct text *out);

/* RFC 4180 quoting where needed, lines end with \n. */
void table_csv(const struct table *table, struct text *out);

/* A list of objects, one object per line. */
void table_json(const struct table *table, struct text *out);

#endif
