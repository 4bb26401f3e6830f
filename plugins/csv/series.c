/* Which series there are: one, or one per file or per instrument. */
#include "csv/csv.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "csv/encoding.h"

/* Names in struct m2_series_info are const for who reads them only. */
static void free_name(const char *name)
{
    union {
        const char *shown;
        char *owned;
    } both = {.shown = name};

    free(both.owned);
}

void series_free(struct csv_source *source)
{
    for (size_t i = 0; i < source->n_series; i++)
        free_name(source->series[i].name);
    source->n_series = 0;
}

/* Takes over the name. */
static void set_series(struct csv_source *source, size_t i, char *name)
{
    source->series[i] = (struct m2_series_info){
        .name = name,
        .step_ns = source->settings.step_ns,
        .stamp = source->settings.stamp,
    };
    if (i >= source->n_series)
        source->n_series = i + 1;
}

/* The next one; the name may be NULL for lack of memory. */
static int add_series(struct csv_source *source, char *name,
                      struct m2_error *err)
{
    set_series(source, source->n_series, name);
    if (name == NULL)
        return M2_E_MEMORY;
    if (utf8_is_name(name, strlen(name)))
        return M2_OK;
    return m2_fail(err, M2_E_DATA,
                   "%s: a series is called by its file, whose name must be "
                   "text in UTF-8",
                   name);
}

static int make_room(struct csv_source *source, size_t n, struct m2_error *err)
{
    source->series = memory_zeroed(n, sizeof *source->series, err);
    return source->series != NULL ? M2_OK : M2_E_MEMORY;
}

/* ---- by file ---------------------------------------------------------- */

/* The name of a file with so many of its folders and without its last
 * ending. */
static char *file_name(const struct csv_file *file, int folders,
                       struct m2_error *err)
{
    const char *base = input_base_name(file->path), *name = base;
    const char *dot = strrchr(base, '.');
    size_t ending = dot != NULL && dot > base ? strlen(dot) : 0;

    for (; folders > 0 && name > file->path + 1; folders--) {
        name -= 2;
        while (name > file->path && name[-1] != '/')
            name--;
    }
    return memory_string(name, strlen(name) - ending, err);
}

/* How many characters the names of all files with rows begin with alike. */
static size_t common_length(const struct csv_source *source, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < source->n_files; i++) {
        const char *other = input_base_name(source->files[i].path);
        size_t same = 0;
        while (same < n && other[same] == name[same])
            same++;
        if (!source->files[i].is_empty)
            n = same;
    }
    return n;
}

/* That beginning without digits and marks at its end; if that is nothing, or
 * there is one file only, the name of the first one. */
static char *common_name(const struct csv_source *source, struct m2_error *err)
{
    const struct csv_file *file = source->files;

    while (file->is_empty)
        file++;
    const char *name = input_base_name(file->path);
    size_t n = common_length(source, name);
    if (name[n] == '\0')
        return file_name(file, 0, err);
    while (n > 0 && strchr("0123456789-_. ", name[n - 1]) != NULL)
        n--;
    return n > 0 ? memory_string(name, n, err) : file_name(file, 0, err);
}

static int compare_names(const void *a, const void *b)
{
    const struct m2_series_info *left = a, *right = b;

    return strcmp(left->name, right->name);
}

static bool has_doubles(const struct csv_source *source)
{
    struct m2_series_info *sorted =
        memory_zeroed(source->n_series, sizeof *sorted, NULL);
    bool found = false;

    if (sorted == NULL)
        return false;
    memcpy(sorted, source->series, source->n_series * sizeof *sorted);
    qsort(sorted, source->n_series, sizeof *sorted, compare_names);
    for (size_t i = 1; i < source->n_series; i++)
        found |= strcmp(sorted[i].name, sorted[i - 1].name) == 0;
    free(sorted);
    return found;
}

/* Files of one name in different folders are told apart by their folders. */
static int name_files(struct csv_source *source, int folders,
                      struct m2_error *err)
{
    int status = M2_OK;

    series_free(source);
    for (size_t i = 0; i < source->n_files && status == M2_OK; i++) {
        struct csv_file *file = &source->files[i];
        if (file->is_empty)
            continue;
        file->series = source->n_series;
        status = add_series(source, file_name(file, folders, err), err);
    }
    return status;
}

static int make_per_file(struct csv_source *source, struct m2_error *err)
{
    enum { MAX_FOLDERS = 32 };
    int folders = 0, status = make_room(source, source->n_files, err);

    if (status == M2_OK)
        status = name_files(source, folders, err);
    while (status == M2_OK && folders < MAX_FOLDERS && has_doubles(source))
        status = name_files(source, ++folders, err);
    return status;
}

/* Do two names differ in nothing but digits? */
static bool is_same_stem(const char *a, const char *b)
{
    static const char digits[] = "0123456789";

    for (;;) {
        a += strspn(a, digits);
        b += strspn(b, digits);
        if (*a != *b)
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

/* Files that are joined without a word should be parts of one whole. */
static int check_names(const struct csv_source *source, struct m2_error *err)
{
    const struct csv_file *first = NULL;

    for (size_t i = 0; i < source->n_files; i++) {
        const struct csv_file *file = &source->files[i];
        if (file->is_empty || source->settings.file_series == FILES_JOINED)
            continue;
        if (first == NULL)
            first = file;
        if (!is_same_stem(input_base_name(first->path),
                          input_base_name(file->path)))
            return m2_fail(err, M2_E_DATA,
                           "%s and %s: parts of one series, or a series each? "
                           "`series: joined` or `series: per_file` decides",
                           first->path, file->path);
    }
    return M2_OK;
}

/* ---- by instrument ---------------------------------------------------- */

static int add_instrument(struct csv_source *source,
                          const struct csv_file *file, struct m2_error *err)
{
    size_t at = file->columns.instrument;
    struct m2_error reason;

    if (source->reader.n_cells != file->columns.n ||
        row_is_header(source, file))
        return M2_OK; /* an error, or passed over, when it is read */
    const struct cell *cell = &source->reader.cells[at];
    if (cell->n == 0)
        return M2_OK;
    if (instruments_find(&source->instruments, cell->text, cell->n) !=
        NO_INSTRUMENT)
        return M2_OK;
    if (!utf8_is_name(cell->text, cell->n))
        return reader_fail(&source->reader, cell, err,
                           "column '%.100s': an instrument's symbol must be "
                           "text in UTF-8",
                           file->columns.items[at].name);
    int status =
        instruments_add(&source->instruments, cell->text, cell->n, &reason);
    return status == M2_OK
               ? M2_OK
               : reader_fail(&source->reader, cell, err, "column '%.100s': %s",
                             file->columns.items[at].name, reason.text);
}

static int find_instruments(struct csv_source *source, struct m2_error *err)
{
    int status = M2_OK;

    for (size_t i = 0; i < source->n_files && status == M2_OK; i++) {
        const struct csv_file *file = &source->files[i];
        if (file->is_empty)
            continue;
        status = source_open_file(source, i, err);
        while (status == M2_OK &&
               (status = reader_next(&source->reader, err)) == 1)
            status = add_instrument(source, file, err);
        reader_close(&source->reader);
    }
    return status;
}

static const char *and_others(const struct csv_source *source)
{
    return source->n_files > 1 ? " and others" : "";
}

static int make_per_instrument(struct csv_source *source, struct m2_error *err)
{
    struct instruments *set = &source->instruments;
    const struct texts *wanted = &source->settings.instruments;
    const char *unmatched;
    char names[INSTRUMENTS_TEXT];
    size_t n;
    int status = find_instruments(source, err);

    if (status == M2_OK)
        status = instruments_select(set, wanted->items, wanted->n, &n,
                                    &unmatched, err);
    if (status != M2_OK)
        return status;
    if (n == 0 && unmatched == NULL)
        return m2_fail(err, M2_E_DATA, "%s%s: column '%.100s' is empty",
                       source->files[0].path, and_others(source),
                       source->settings.instrument);
    if (unmatched != NULL)
        return m2_fail(err, M2_E_DATA, "%s%s: no instrument '%.100s' among %s",
                       source->files[0].path, and_others(source), unmatched,
                       instruments_list(set, names));
    status = make_room(source, n, err);
    for (size_t i = 0; i < set->n && status == M2_OK; i++) {
        const struct instrument *item = &set->items[i];
        if (item->series == NO_INSTRUMENT)
            continue;
        char *name = memory_string(item->name, strlen(item->name), err);
        set_series(source, item->series, name);
        status = name != NULL ? M2_OK : M2_E_MEMORY;
    }
    return status;
}

int series_make(struct csv_source *source, struct m2_error *err)
{
    if (source->settings.instrument != NULL)
        return make_per_instrument(source, err);
    if (source->settings.file_series == FILES_APART)
        return make_per_file(source, err);
    int status = check_names(source, err);
    if (status == M2_OK)
        status = make_room(source, 1, err);
    return status == M2_OK ? add_series(source, common_name(source, err), err)
                           : status;
}
