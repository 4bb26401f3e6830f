/* Resolving data.path and calling a data plugin. */
#include "data/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/timefmt.h"

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Batch downloads put descriptions beside the data. */
static bool is_side_file(const char *name)
{
    static const char *const endings[] = {".json", ".md",  ".yaml",  ".yml",
                                          ".html", ".pdf", ".sha256"};

    if (name[0] == '.')
        return true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(name, endings[i]))
            return true;
    return false;
}

static int add_directory(const char *dir, struct string_list *out,
                         struct fact_list *facts, struct m2_error *err)
{
    struct string_list names = {0};
    uint64_t skipped = 0;
    size_t before = out->count;

    int rc = path_list(dir, M2_E_DATA, &names, err);
    for (size_t i = 0; i < names.count && rc == M2_OK; i++) {
        char *path = path_join(dir, names.items[i], err);
        bool taken =
            path != NULL && !is_side_file(names.items[i]) && !file_is_dir(path);
        if (path == NULL) {
            rc = M2_E_MEMORY;
        } else if (taken) {
            rc = string_list_add_owned(out, path, err);
        } else {
            free(path);
            skipped++;
        }
    }
    string_list_free(&names);
    if (rc == M2_OK && out->count == before)
        rc = m2_fail(err, M2_E_DATA,
                     "data.path: no data file in directory %s (%" PRIu64
                     " entries skipped)",
                     dir, skipped);
    if (rc == M2_OK && skipped > 0 && facts != NULL)
        rc = fact_add(facts, (struct fact){skipped, dir, false, err},
                      "entries of a directory skipped");
    return rc;
}

static int add_pattern(const char *pattern, struct string_list *out,
                       struct fact_list *facts, struct m2_error *err)
{
    size_t before = out->count;

    if (file_is_dir(pattern))
        return add_directory(pattern, out, facts, err);
    int rc = path_glob(pattern, M2_E_DATA, out, err);
    if (rc == M2_OK && out->count == before)
        rc = m2_fail(err, M2_E_DATA,
                     strpbrk(pattern, "*?[") != NULL
                         ? "data.path: no file matches %s"
                         : "data.path: there is no file %s; where the data "
                           "lie elsewhere, say data.path=FILE",
                     pattern);
    return rc;
}

static void remove_duplicates(struct string_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && strcmp(list->items[kept - 1], list->items[i]) == 0)
            free(list->items[i]);
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

int source_files(const struct config_data *config, struct string_list *out,
                 struct fact_list *facts, struct m2_error *err)
{
    int rc = M2_OK;

    for (size_t i = 0; i < config->n_paths && rc == M2_OK; i++)
        rc = add_pattern(config->paths[i], out, facts, err);
    string_list_sort(out);
    remove_duplicates(out);
    return rc;
}

static int call(struct data_source *source, enum m2_data_slot slot, void *args,
                struct m2_error *err)
{
    m2_slot_fn fn = plugin_slot(source->plugin, slot);

    if (fn == NULL)
        return m2_fail(err, M2_E_DEVICE,
                       "data plugin %s lacks the slot %d of data sources",
                       source->plugin->descriptor->name, (int)slot);
    return fn(source->handle, args, err);
}

static int open_plugin(struct data_source *source, const struct config *config,
                       const struct string_list *files, struct m2_error *err)
{
    const struct config_data *data = &config->data;
    struct m2_value *values =
        memory_zeroed(data->n_options, sizeof *values, err);

    if (values == NULL && data->n_options > 0)
        return M2_E_MEMORY;
    for (size_t i = 0; i < data->n_options; i++)
        values[i] = (struct m2_value){
            .name = data->options[i].name,
            .texts = (const char *const *)data->options[i].texts,
            .n_texts = data->options[i].n_texts,
            .integer = data->options[i].integer,
            .number = data->options[i].number,
        };
    struct m2_data_open open = {
        .paths = (const char *const *)files->items,
        .n_paths = files->count,
        .options = values,
        .n_options = data->n_options,
        .seed = config->seed,
    };
    int rc = call(source, M2_DATA_OPEN, &open, err);
    if (rc == M2_OK)
        source->handle = open.handle_out;
    free(values);
    return rc;
}

int source_open(const struct plugin *plugin, const struct config *config,
                const struct string_list *files, struct data_source *out,
                struct m2_error *err)
{
    struct data_source source = {.plugin = plugin};

    int rc = open_plugin(&source, config, files, err);
    if (rc != M2_OK)
        return rc;
    rc = call(&source, M2_DATA_INFO, &source.info, err);
    if (rc == M2_OK) {
        size_t n = source.info.n_series_out;
        source.last_times = memory_zeroed(n, sizeof(int64_t), err);
        if (source.last_times == NULL && n > 0)
            rc = M2_E_MEMORY;
        for (size_t i = 0; i < n && rc == M2_OK; i++)
            source.last_times[i] = INT64_MIN;
    }
    if (rc != M2_OK) {
        source_close(&source);
        return rc;
    }
    *out = source;
    return M2_OK;
}

static int check_block(struct data_source *source,
                       const struct m2_data_next *next, struct m2_error *err)
{
    const char *name = source->plugin->descriptor->name;
    char time[TIME_TEXT_SIZE];

    if (next->series_out >= source->info.n_series_out)
        return m2_fail(err, M2_E_DATA,
                       "data plugin %s: block of series %zu, but it has %zu",
                       name, next->series_out, source->info.n_series_out);
    int64_t last = source->last_times[next->series_out], step;
    for (size_t i = 0; i < next->n_rows_out; i++) {
        /* Steps are differences: one that is no int64 is no step. */
        if (last != INT64_MIN &&
            __builtin_sub_overflow(next->times_out[i], last, &step))
            return m2_fail(err, M2_E_DATA,
                           "data plugin %s: series '%s' jumps from %s over "
                           "more than 292 years",
                           name, source->info.series_out[next->series_out].name,
                           time_print(last, time));
        if (next->times_out[i] <= last)
            return m2_fail(err, M2_E_DATA,
                           "data plugin %s: series '%s' goes back in time at "
                           "%s",
                           name, source->info.series_out[next->series_out].name,
                           time_print(next->times_out[i], time));
        last = next->times_out[i];
    }
    source->last_times[next->series_out] = last;
    return M2_OK;
}

int source_next(struct data_source *source, struct m2_data_next *out,
                struct m2_error *err)
{
    struct m2_data_next next = {0};

    int rc = call(source, M2_DATA_NEXT, &next, err);
    if (rc == M2_OK && next.n_rows_out > 0)
        rc = check_block(source, &next, err);
    if (rc == M2_OK)
        *out = next;
    return rc;
}

int source_counts(struct data_source *source, struct fact_list *facts,
                  struct m2_error *err)
{
    struct m2_data_counts counts = {0};

    int rc = call(source, M2_DATA_COUNTS, &counts, err);
    for (size_t i = 0; i < counts.n_counts_out && rc == M2_OK; i++) {
        const struct m2_data_count *count = &counts.counts_out[i];
        if (count->n > 0)
            rc = fact_add(
                facts,
                (struct fact){count->n, count->where, count->warning != 0, err},
                "%s", count->what);
    }
    return rc;
}

void source_close(struct data_source *source)
{
    if (source->handle != NULL)
        call(source, M2_DATA_CLOSE, NULL, NULL);
    free(source->last_times);
    *source = (struct data_source){0};
}
