/* What a terminal can show, and tables: aligned text, CSV or JSON. */
#include "util/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/number.h"

enum { DEFAULT_WIDTH = 80, COLUMN_GAP = 2 };

/* A cell is stored with a mark in front: a missing one differs from "-". */
static const char MISSING[] = "m";
static const char PRESENT = 'p';

static bool is_missing(const char *stored)
{
    return stored[0] == MISSING[0];
}

static const char *stored_cell(const struct table *table, size_t row,
                               size_t column)
{
    return table->cells.items[row * table->n_columns + column];
}

static const char *shown_cell(const struct table *table, size_t row,
                              size_t column)
{
    const char *stored = stored_cell(table, row, column);

    return is_missing(stored) ? "-" : stored + 1;
}

static const char *column_title(const struct table_column *column)
{
    return column->title != NULL ? column->title : column->key;
}

static size_t column_width(const struct table *table, size_t column)
{
    size_t width = terminal_text_width(column_title(&table->columns[column]));

    for (size_t row = 0; row < table_rows(table); row++) {
        size_t w = terminal_text_width(shown_cell(table, row, column));

        width = w > width ? w : width;
    }
    return width;
}

/* No cell breaks its line or tells the terminal what to do. */
static void add_shown(struct text *out, const char *cell)
{
    for (; *cell != '\0'; cell++)
        text_add_char(
            out, (unsigned char)*cell < 0x20 || *cell == 0x7f ? '?' : *cell);
}

/* `row` == table_rows(table) stands for the header. */
static void print_row(const struct table *table, size_t row,
                      const size_t *widths, struct text *out)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        bool last = c + 1 == table->n_columns;
        const char *cell = row == table_rows(table)
                               ? column_title(&table->columns[c])
                               : shown_cell(table, row, c);
        size_t padding = widths[c] - terminal_text_width(cell);

        if (table->columns[c].align == TABLE_RIGHT)
            text_add_repeated(out, ' ', padding);
        add_shown(out, cell);
        if (table->columns[c].align == TABLE_LEFT && !last)
            text_add_repeated(out, ' ', padding);
        text_add_repeated(out, last ? '\n' : ' ', last ? 1 : COLUMN_GAP);
    }
}

static void csv_cell(const char *cell, struct text *out)
{
    if (strpbrk(cell, ",\"\r\n") == NULL) {
        text_add(out, cell);
        return;
    }
    text_add_char(out, '"');
    for (; *cell != '\0'; cell++) {
        if (*cell == '"')
            text_add_char(out, '"');
        text_add_char(out, *cell);
    }
    text_add_char(out, '"');
}

static void json_cell(const struct table_column *column, const char *stored,
                      struct text *out)
{
    double value;
    int64_t integer;

    if (is_missing(stored))
        text_add(out, "null");
    else if (!column->is_number)
        text_add_json(out, stored + 1);
    else if (number_parse_int(stored + 1, &integer))
        text_addf(out, "%lld", (long long)integer);
    else if (number_parse_double(stored + 1, &value))
        text_add(out, number_print_double(value, (char[NUMBER_TEXT_SIZE]){0}));
    else
        text_add(out, "null");
}

bool terminal_is_tty(int fd)
{
    return isatty(fd) == 1;
}

int terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t width;

    if (columns != NULL && number_parse_int(columns, &width) && width > 0 &&
        width < 10000)
        return (int)width;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return DEFAULT_WIDTH;
}

bool terminal_can_redraw(int fd)
{
    const char *term = getenv("TERM");

    return terminal_is_tty(fd) && (term == NULL || strcmp(term, "dumb") != 0);
}

bool terminal_can_color(int fd)
{
    const char *no_color = getenv("NO_COLOR");

    return terminal_can_redraw(fd) && (no_color == NULL || no_color[0] == '\0');
}

size_t terminal_text_width(const char *string)
{
    size_t width = 0;

    /* every byte but the continuation bytes of UTF-8 */
    for (; *string != '\0'; string++)
        width += ((unsigned char)*string & 0xc0) != 0x80;
    return width;
}

static bool has_ending(const char *key, const char *ending)
{
    size_t length = strlen(key), size = strlen(ending);

    return length > size && key[length - size - 1] == '.' &&
           strcmp(key + length - size, ending) == 0;
}

static bool fits_another(const struct table_column *columns, size_t n,
                         size_t own, const char *title)
{
    for (size_t c = 0; c < n; c++)
        if (c != own && (strcmp(column_title(&columns[c]), title) == 0 ||
                         has_ending(columns[c].key, title)))
            return true;
    return false;
}

/* A title that is the ending of a dotted key takes more of it while another
 * column has the same: "steps" and "train.steps" are two things. */
static const char *distinct_title(const struct table_column *columns, size_t n,
                                  size_t own)
{
    const char *title = columns[own].title, *key = columns[own].key;

    if (title == NULL || !has_ending(key, title))
        return title;
    title = key + strlen(key) - strlen(title);
    while (title > key && fits_another(columns, n, own, title))
        for (title--; title > key && title[-1] != '.';)
            title--;
    return title;
}

int table_init(struct table *table, const struct table_column *columns,
               size_t n_columns, struct m2_error *err)
{
    *table = (struct table){.n_columns = n_columns};
    table->columns = memory_zeroed(n_columns, sizeof *columns, err);
    if (table->columns == NULL)
        return M2_E_MEMORY;
    memcpy(table->columns, columns, n_columns * sizeof *columns);
    for (size_t c = 0; c < n_columns; c++)
        table->columns[c].title = distinct_title(columns, n_columns, c);
    return 0;
}

void table_free(struct table *table)
{
    free(table->columns);
    string_list_free(&table->cells);
    *table = (struct table){0};
}

int table_add_row(struct table *table, const char *const *cells,
                  struct m2_error *err)
{
    size_t before = table->cells.count;
    struct text stored = {0};
    int result = 0;

    for (size_t c = 0; c < table->n_columns && result == 0; c++) {
        text_clear(&stored);
        if (cells[c] == NULL) {
            text_add(&stored, MISSING);
        } else {
            text_add_char(&stored, PRESENT);
            text_add(&stored, cells[c]);
        }
        result = text_check(&stored, err);
        if (result == 0)
            result = string_list_add(&table->cells, text_string(&stored), err);
    }
    text_free(&stored);
    while (result != 0 && table->cells.count > before)
        free(table->cells.items[--table->cells.count]);
    return result;
}

size_t table_rows(const struct table *table)
{
    return table->n_columns > 0 ? table->cells.count / table->n_columns : 0;
}

void table_print(const struct table *table, struct text *out)
{
    size_t *widths = memory_zeroed(table->n_columns, sizeof *widths, NULL);

    if (widths == NULL) {
        out->failed = true;
        return;
    }
    for (size_t c = 0; c < table->n_columns; c++)
        widths[c] = column_width(table, c);
    print_row(table, table_rows(table), widths, out);
    for (size_t row = 0; row < table_rows(table); row++)
        print_row(table, row, widths, out);
    free(widths);
}

void table_csv(const struct table *table, struct text *out)
{
    for (size_t c = 0; c < table->n_columns; c++) {
        text_add(out, c > 0 ? "," : "");
        csv_cell(table->columns[c].key, out);
    }
    text_add_char(out, '\n');
    for (size_t i = 0; i < table->cells.count; i++) {
        const char *stored = table->cells.items[i];

        csv_cell(is_missing(stored) ? "" : stored + 1, out);
        text_add(out, (i + 1) % table->n_columns == 0 ? "\n" : ",");
    }
}

void table_json(const struct table *table, struct text *out)
{
    size_t rows = table_rows(table);

    text_add_char(out, '[');
    for (size_t row = 0; row < rows; row++) {
        text_add(out, row > 0 ? ",\n {" : "\n {");
        for (size_t c = 0; c < table->n_columns; c++) {
            text_add(out, c > 0 ? ", " : "");
            text_add_json(out, table->columns[c].key);
            text_add(out, ": ");
            json_cell(&table->columns[c], stored_cell(table, row, c), out);
        }
        text_add_char(out, '}');
    }
    text_add(out, rows > 0 ? "\n]\n" : "]\n");
}
