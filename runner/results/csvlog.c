/* Append-only CSV tables of a run: one row, one write. */
#include "results/csvlog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/memory.h"

#define TABLE_LIMIT (1u << 30)

struct csvlog {
    int fd;
    char *file;
    size_t n_columns;
    int64_t bytes;
};

static int fail_errno(const struct csvlog *log, const char *what,
                      struct m2_error *err)
{
    int cause = errno;

    m2_fail(err, M2_E_RESULTS, "%s: cannot %s: %s", log->file, what,
            strerror(cause));
    errno = cause;
    return M2_E_RESULTS;
}

/* What a failed write has left is cut off again, so that what follows starts a
 * line. */
static int append(struct csvlog *log, const struct text *text,
                  struct m2_error *err)
{
    int cause, code = text_check(text, err);

    if (code != 0)
        return code;
    if (!file_write_bytes(log->fd, text->bytes, text->length)) {
        cause = errno;
        if (ftruncate(log->fd, log->bytes) == 0)
            errno = cause;
        return fail_errno(log, "write", err);
    }
    log->bytes += (int64_t)text->length;
    return 0;
}

static void add_cells(struct text *text, const char *const *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            text_add_char(text, ',');
        if (cells[i] != NULL)
            text_add(text, cells[i]);
    }
    text_add_char(text, '\n');
}

static int csvlog_open(int dirfd, const char *file, size_t n_columns,
                       struct csvlog **out, struct m2_error *err)
{
    struct csvlog *log = memory_zeroed(1, sizeof *log, err);

    if (log == NULL)
        return M2_E_MEMORY;
    log->n_columns = n_columns;
    log->file = memory_string(file, err);
    log->fd = log->file != NULL
                  ? file_open_at(&(struct file_at){dirfd, "", file},
                                 O_RDWR | O_CREAT | O_TRUNC | O_APPEND,
                                 M2_E_RESULTS, err)
                  : -1;
    if (log->fd < 0) {
        int code = log->file != NULL ? M2_E_RESULTS : M2_E_MEMORY;

        csvlog_close(log);
        return code;
    }
    *out = log;
    return 0;
}

int csvlog_create(int dirfd, const char *file, const char *const *columns,
                  size_t n_columns, struct csvlog **out, struct m2_error *err)
{
    struct text header = {0};
    int code = csvlog_open(dirfd, file, n_columns, out, err);

    if (code != 0)
        return code;
    add_cells(&header, columns, n_columns);
    code = append(*out, &header, err);
    text_free(&header);
    if (code != 0) {
        csvlog_close(*out);
        *out = NULL;
    }
    return code;
}

int csvlog_continue(int dirfd, const char *file, const char *from_path,
                    int64_t bytes, const char *const *columns, size_t n_columns,
                    struct csvlog **out, struct m2_error *err)
{
    struct text old = {0}, header = {0};
    int code = file_check_regular(from_path, M2_E_RESULTS, err);

    if (code == 0)
        code = file_read(from_path, TABLE_LIMIT, M2_E_RESULTS, &old, err);
    add_cells(&header, columns, n_columns);
    if (code == 0)
        code = text_check(&header, err);
    if (code == 0 &&
        ((int64_t)old.length < bytes || bytes < (int64_t)header.length ||
         memcmp(old.bytes, header.bytes, header.length) != 0 ||
         old.bytes[bytes - 1] != '\n'))
        code = m2_fail(err, M2_E_RESULTS,
                       "%s: has %zu bytes, expected at least %lld with the "
                       "columns of this run",
                       from_path, old.length, (long long)bytes);
    if (code == 0)
        code = csvlog_open(dirfd, file, n_columns, out, err);
    if (code == 0) {
        old.length = (size_t)bytes;
        code = append(*out, &old, err);
        if (code != 0) {
            csvlog_close(*out);
            *out = NULL;
        }
    }
    text_free(&header);
    text_free(&old);
    return code;
}

int csvlog_row(struct csvlog *log, const char *const *cells,
               struct m2_error *err)
{
    struct text row = {0};
    int code;

    add_cells(&row, cells, log->n_columns);
    code = append(log, &row, err);
    text_free(&row);
    return code;
}

int64_t csvlog_bytes(const struct csvlog *log)
{
    return log->bytes;
}

int csvlog_sync(struct csvlog *log, struct m2_error *err)
{
    return file_sync(log->fd) ? 0 : fail_errno(log, "sync", err);
}

void csvlog_close(struct csvlog *log)
{
    if (log == NULL)
        return;
    if (log->fd >= 0)
        close(log->fd);
    free(log->file);
    free(log);
}

/* Splits a line with n cells in place. */
static void split_line(char *line, char **cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char *comma = strchr(line, ',');

        if (comma != NULL)
            *comma++ = '\0';
        cells[i] = line;
        line = comma;
    }
}

static size_t count_char(const char *text, char what)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += *text == what;
    return n;
}

static int fill_table(struct csv_table *table, const char *path,
                      struct m2_error *err)
{
    char *line = table->memory, *end = strchr(line, '\n');
    size_t n_cells;

    if (end == NULL)
        return m2_fail(err, M2_E_RESULTS, "%s: has no header line", path);
    *end = '\0';
    table->n_columns = count_char(line, ',') + 1;
    /* Every cell ends with one of the two. */
    n_cells = count_char(end + 1, ',') + count_char(end + 1, '\n');
    table->columns = memory_zeroed(table->n_columns, sizeof(char *), err);
    table->cells = memory_zeroed(n_cells, sizeof(char *), err);
    if (table->columns == NULL || table->cells == NULL)
        return M2_E_MEMORY;
    split_line(line, table->columns, table->n_columns);
    for (line = end + 1; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char **row = table->cells + table->n_rows * table->n_columns;

        *end = '\0';
        if (count_char(line, ',') + 1 != table->n_columns)
            return m2_fail(err, M2_E_RESULTS, "%s:%zu: expected %zu columns",
                           path, table->n_rows + 2, table->n_columns);
        split_line(line, row, table->n_columns);
        table->n_rows++;
    }
    return 0;
}

/* Takes the text. */
static int table_from(const char *path, struct text *text,
                      struct csv_table *out, struct m2_error *err)
{
    int code;

    *out = (struct csv_table){.memory = text_steal(text, err)};
    code = out->memory == NULL ? M2_E_MEMORY : fill_table(out, path, err);
    if (code != 0)
        csv_table_free(out);
    return code;
}

int csv_table_parse(const char *path, const char *bytes, size_t size,
                    struct csv_table *out, struct m2_error *err)
{
    struct text text = {0};

    text_add_bytes(&text, bytes, size);
    return table_from(path, &text, out, err);
}

int csv_table_read(const char *path, struct csv_table *out,
                   struct m2_error *err)
{
    struct text text = {0};
    int code = file_check_regular(path, M2_E_RESULTS, err);

    *out = (struct csv_table){0};
    if (code == 0)
        code = file_read(path, TABLE_LIMIT, M2_E_RESULTS, &text, err);
    if (code == 0)
        code = table_from(path, &text, out, err);
    text_free(&text);
    return code;
}

void csv_table_free(struct csv_table *table)
{
    free(table->columns);
    free(table->cells);
    free(table->memory);
    *table = (struct csv_table){0};
}

int csv_table_column(const struct csv_table *table, const char *name)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i], name) == 0)
            return (int)i;
    return -1;
}
