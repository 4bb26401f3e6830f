/* Runs side by side as text, CSV and JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "util/json.h"
#include "util/number.h"
#include "util/terminal.h"

enum { GAP = 2, MIN_WIDTH = 8, MAX_CELL = 40, HASH_SHOWN = 12 };

const char *const compare_section_names[] = {"run", "settings", "facts",
                                             "scores", "baselines"};

/* ---- cells for people ---------------------------------------------------- */

static bool is_digest(const char *value)
{
    return strlen(value) >= 40 &&
           strspn(value, "0123456789abcdef") == strlen(value);
}

/* Bytes of the first `width` characters. */
static size_t bytes_of(const char *text, size_t width)
{
    size_t bytes = 0;

    while (text[bytes] != '\0' && width > 0) {
        size_t size = text_character_size(text + bytes);

        bytes += size > 0 ? size : 1;
        width--;
    }
    return bytes;
}

/* Cut to `width` characters, the last one '>' then; nothing in it breaks the
 * line or tells the terminal what to do. */
static void add_cut(struct text *out, const char *value, size_t width)
{
    bool fits = terminal_text_width(value) <= width;
    size_t bytes = fits ? strlen(value) : bytes_of(value, width - 1);

    for (size_t i = 0; i < bytes; i++)
        text_add_char(out, (unsigned char)value[i] < 0x20 || value[i] == 0x7f
                               ? '?'
                               : value[i]);
    if (!fits)
        text_add_char(out, '>');
}

/* "-" for none; scores with 6 digits, and the mark of the best. */
static void add_cell(const struct compare_row *row, size_t run, size_t width,
                     struct text *out)
{
    const char *value = row->values[run];
    char buffer[NUMBER_TEXT_SIZE];
    bool is_score = row->section >= COMPARE_SCORES;
    double number;

    if (value == NULL || strcmp(value, "null") == 0) {
        text_add_char(out, '-');
    } else if (strcmp(row->key, "seconds") == 0 &&
               number_parse_double(value, &number)) {
        text_add(out, number_print_duration(number, buffer));
    } else if ((is_score || strcmp(row->key, "samples_per_s") == 0) &&
               number_parse_double(value, &number)) {
        snprintf(buffer, sizeof buffer, "%.6g", number);
        text_add(out, buffer);
    } else if (is_digest(value)) {
        text_add_bytes(out, value, HASH_SHOWN);
    } else {
        add_cut(out, value, width);
    }
    if (row->section == COMPARE_SCORES)
        text_add_char(out, (row->best >> run & 1) != 0 ? '*' : ' ');
}

/* ---- tables -------------------------------------------------------------- */

struct layout {
    const struct comparison *comparison;
    size_t width; /* 0: any */
    size_t keys;  /* width of the first column */
    size_t columns[COMPARE_MAX_RUNS];
};

static size_t cell_width(const struct compare_row *row, size_t run,
                         size_t limit)
{
    struct text cell = {0};
    size_t width;

    add_cell(row, run, limit, &cell);
    width = terminal_text_width(text_string(&cell));
    text_free(&cell);
    return width;
}

/* The number that stands for a run in the head of its column. */
static size_t head_width(size_t run)
{
    return run + 1 < 10 ? 3 : 4;
}

static size_t cell_limit(const struct layout *layout)
{
    size_t taken = layout->keys + 2 * GAP, room = layout->width;

    if (room == 0)
        return SIZE_MAX;
    room = room > taken + MIN_WIDTH ? room - taken : MIN_WIDTH;
    return room < MAX_CELL ? room : MAX_CELL;
}

static void measure(struct layout *layout)
{
    const struct comparison *c = layout->comparison;
    size_t limit;

    for (size_t r = 0; r < c->n; r++) {
        size_t width = terminal_text_width(c->rows[r].key);

        layout->keys = width > layout->keys ? width : layout->keys;
    }
    if (layout->width > 0 && layout->keys > layout->width / 2)
        layout->keys =
            layout->width / 2 > MIN_WIDTH ? layout->width / 2 : MIN_WIDTH;
    limit = cell_limit(layout);
    for (size_t i = 0; i < c->runs->n; i++) {
        layout->columns[i] = head_width(i);
        for (size_t r = 0; r < c->n; r++) {
            size_t width = cell_width(&c->rows[r], i, limit);

            layout->columns[i] =
                width > layout->columns[i] ? width : layout->columns[i];
        }
    }
}

/* Runs first to the result - 1 fit beside each other; at least one does. */
static size_t runs_that_fit(const struct layout *layout, size_t first)
{
    size_t n = layout->comparison->runs->n, end = first;
    size_t used = GAP + layout->keys;

    while (end < n) {
        used += GAP + layout->columns[end];
        if (layout->width > 0 && used > layout->width && end > first)
            break;
        end++;
    }
    return end;
}

static void end_line(struct text *out)
{
    while (out->length > 0 && out->bytes[out->length - 1] == ' ')
        out->bytes[--out->length] = '\0';
    text_add_char(out, '\n');
}

static void add_padded(struct text *out, const char *cell, size_t width)
{
    size_t taken = terminal_text_width(cell);

    text_add_repeated(out, ' ', GAP + (taken < width ? width - taken : 0));
    text_add(out, cell);
}

static void print_head(const struct layout *layout, size_t first, size_t end,
                       struct text *out)
{
    text_add_repeated(out, ' ', GAP + layout->keys);
    for (size_t i = first; i < end; i++) {
        char head[24];

        snprintf(head, sizeof head, "[%zu]", i + 1);
        add_padded(out, head, layout->columns[i]);
    }
    end_line(out);
}

static void print_row(const struct layout *layout,
                      const struct compare_row *row, size_t first, size_t end,
                      struct text *out)
{
    size_t width = terminal_text_width(row->key);

    text_add_repeated(out, ' ', GAP);
    add_cut(out, row->key, layout->keys);
    text_add_repeated(out, ' ',
                      width < layout->keys ? layout->keys - width : 0);
    for (size_t i = first; i < end; i++) {
        struct text cell = {0};

        add_cell(row, i, cell_limit(layout), &cell);
        add_padded(out, text_string(&cell), layout->columns[i]);
        out->failed = out->failed || cell.failed;
        text_free(&cell);
    }
    end_line(out);
}

static bool is_shown(const struct compare_row *row, size_t n_runs)
{
    for (size_t i = 0; i < n_runs; i++)
        if (row->values[i] != NULL)
            return true;
    return false;
}

static void print_block(const struct layout *layout, size_t first, size_t end,
                        struct text *out)
{
    const struct comparison *c = layout->comparison;

    print_head(layout, first, end, out);
    for (size_t r = 0; r < c->n; r++) {
        const struct compare_row *row = &c->rows[r];

        if (!is_shown(row, c->runs->n))
            continue;
        if (row->section != COMPARE_RUN &&
            (r == 0 || c->rows[r - 1].section != row->section))
            text_addf(out, "%s\n", compare_section_names[row->section]);
        print_row(layout, row, first, end, out);
    }
}

int compare_print(const struct comparison *comparison, size_t width,
                  struct text *out, struct m2_error *err)
{
    struct layout layout = {.comparison = comparison, .width = width};
    const struct run_list *runs = comparison->runs;

    for (size_t i = 0; i < runs->n; i++) {
        char head[24];

        snprintf(head, sizeof head, "[%zu]", i + 1);
        text_addf(out, "%-4s %s/%s\n", head, runs->entries[i].experiment,
                  runs->entries[i].run);
    }
    measure(&layout);
    for (size_t first = 0, end; first < runs->n; first = end) {
        end = runs_that_fit(&layout, first);
        text_add_char(out, '\n');
        print_block(&layout, first, end, out);
    }
    return text_check(out, err);
}

/* ---- for programs -------------------------------------------------------- */

static char *run_name(const struct run_entry *entry, struct m2_error *err)
{
    struct text name = {0};

    text_addf(&name, "%s/%s", entry->experiment, entry->run);
    return text_steal(&name, err);
}

static int add_csv_row(struct table *table, const struct comparison *comparison,
                       const struct compare_row *row, struct m2_error *err)
{
    const char *cells[COMPARE_MAX_RUNS + 3];
    size_t n = 0;
    struct text best = {0};
    int code;

    cells[n++] = compare_section_names[row->section];
    cells[n++] = row->key;
    for (size_t i = 0; i < comparison->runs->n; i++) {
        const char *value = row->values[i];

        cells[n++] = value != NULL && strcmp(value, "null") == 0 ? NULL : value;
        if ((row->best >> i & 1) != 0)
            text_addf(&best, "%s%zu", best.length > 0 ? " " : "", i + 1);
    }
    cells[n++] = best.length > 0 ? text_string(&best) : NULL;
    code = table_add_row(table, cells, err);
    text_free(&best);
    return code;
}

int compare_csv(const struct comparison *comparison, struct text *out,
                struct m2_error *err)
{
    const struct run_list *runs = comparison->runs;
    struct table_column columns[COMPARE_MAX_RUNS + 3] = {{.key = "section"},
                                                         {.key = "key"}};
    char *names[COMPARE_MAX_RUNS] = {0};
    struct table table = {0};
    int code = 0;

    for (size_t i = 0; code == 0 && i < runs->n; i++) {
        names[i] = run_name(&runs->entries[i], err);
        columns[i + 2].key = names[i];
        code = names[i] == NULL ? M2_E_MEMORY : 0;
    }
    columns[runs->n + 2].key = "best";
    if (code == 0)
        code = table_init(&table, columns, runs->n + 3, err);
    for (size_t r = 0; code == 0 && r < comparison->n; r++)
        code = add_csv_row(&table, comparison, &comparison->rows[r], err);
    if (code == 0)
        table_csv(&table, out);
    table_free(&table);
    for (size_t i = 0; i < runs->n; i++)
        free(names[i]);
    return code == 0 ? text_check(out, err) : code;
}

static json_t *json_of(const char *value)
{
    int64_t integer;
    double number;

    if (value == NULL || strcmp(value, "null") == 0)
        return json_null();
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0)
        return json_boolean(value[0] == 't');
    if (number_parse_int(value, &integer))
        return json_integer(integer);
    if (number_parse_double(value, &number))
        return json_real(number);
    return text_is_utf8(value) ? json_string(value) : json_null();
}

static json_t *values_list(const struct compare_row *row, size_t n_runs)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < n_runs; i++)
        ok = json_append(list, json_of(row->values[i]));
    return ok ? list : json_drop(list);
}

static json_t *best_list(const struct compare_row *row, size_t n_runs)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < n_runs; i++)
        if ((row->best >> i & 1) != 0)
            ok = json_append(list, json_integer((json_int_t)i));
    return ok ? list : json_drop(list);
}

static json_t *row_object(const struct compare_row *row, size_t n_runs)
{
    struct json_builder object = json_build();

    json_add_text(&object, "section", compare_section_names[row->section]);
    json_add_text(&object, "key", row->key);
    json_add(&object, "values", values_list(row, n_runs));
    json_add(&object, "differs", json_boolean(row->differs));
    json_add(&object, "best", best_list(row, n_runs));
    return json_built(&object);
}

static json_t *run_object(const struct run_entry *entry)
{
    struct json_builder object = json_build();

    json_add_text(&object, "experiment", entry->experiment);
    json_add_text(&object, "run", entry->run);
    json_add_text(&object, "state", entry->state);
    json_add_text(&object, "path", entry->path);
    return json_built(&object);
}

json_t *compare_json(const struct comparison *comparison)
{
    const struct run_list *list = comparison->runs;
    json_t *runs = json_array(), *rows = json_array();
    struct json_builder object = json_build();
    bool ok = runs != NULL && rows != NULL;

    for (size_t i = 0; ok && i < list->n; i++)
        ok = json_append(runs, run_object(&list->entries[i]));
    for (size_t r = 0; ok && r < comparison->n; r++)
        ok = json_append(rows, row_object(&comparison->rows[r], list->n));
    object.failed = object.failed || !ok;
    json_add(&object, "runs", runs);
    json_add(&object, "rows", rows);
    return json_built(&object);
}
