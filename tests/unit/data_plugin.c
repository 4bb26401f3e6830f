/* A data plugin's whole output in memory, for tests. */
#include "data_plugin.h"

#include <unistd.h>

#include "unit.h"
#include "loader.h"

enum { MAX_OPTIONS = 40, MAX_TEXTS = 32 };

/* The values of a plugin's table, changed by text. */
struct values {
    struct m2_value values[MAX_OPTIONS];
    const char *texts[MAX_OPTIONS][MAX_TEXTS];
    size_t n;
    char *text; /* what the texts point into */
};

static void set_number(const struct m2_option *option, struct m2_value *value)
{
    if (value->n_texts == 0)
        return;
    value->number = strtod(value->texts[0], NULL);
    value->integer = option->type == M2_OPTION_BOOL
                         ? strcmp(value->texts[0], "true") == 0
                         : (int64_t)value->number;
}

static void set_defaults(const struct m2_option *table, struct values *v)
{
    for (v->n = 0; table[v->n].name != NULL; v->n++) {
        struct m2_value *value = &v->values[v->n];
        assert_true(v->n < MAX_OPTIONS);
        *value = (struct m2_value){.name = table[v->n].name,
                                   .texts = v->texts[v->n]};
        v->texts[v->n][0] = table[v->n].initial;
        value->n_texts = table[v->n].initial != NULL;
        set_number(&table[v->n], value);
    }
}

/* Cuts blanks off both ends. */
static char *trim(char *text)
{
    text += strspn(text, " ");
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    return text;
}

/* Cuts quotes off both ends. */
static char *unquote(char *text)
{
    size_t n = strlen(text);

    if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
        text[n - 1] = '\0';
        text++;
    }
    return text;
}

static void set_texts(struct values *v, size_t i, char *text)
{
    struct m2_value *value = &v->values[i];
    char *save = NULL;

    value->n_texts = 0;
    if (text[0] != '[') {
        v->texts[i][value->n_texts++] = unquote(text);
        return;
    }
    text[strlen(text) - 1] = '\0';
    for (char *item = strtok_r(text + 1, ",", &save); item != NULL;
         item = strtok_r(NULL, ",", &save)) {
        assert_true(value->n_texts < MAX_TEXTS);
        v->texts[i][value->n_texts++] = unquote(trim(item));
    }
}

static void set_options(const struct m2_option *table, const char *options,
                        struct values *v)
{
    char *save = NULL;

    v->text = strdup(options);
    for (char *item = strtok_r(v->text, ";", &save); item != NULL;
         item = strtok_r(NULL, ";", &save)) {
        char *colon = strchr(item, ':');
        size_t i = 0;
        assert_non_null(colon);
        *colon = '\0';
        while (i < v->n && strcmp(v->values[i].name, trim(item)) != 0)
            i++;
        if (i == v->n)
            fail_msg("there is no option '%s'", trim(item));
        set_texts(v, i, trim(colon + 1));
        set_number(&table[i], &v->values[i]);
    }
}

static void add_block(struct read_data *data, const struct m2_data_next *next)
{
    struct read_series *s = &data->series[next->series_out];
    size_t rows = next->n_rows_out, total = s->n + rows;
    size_t width = data->n_columns;

    s->times = realloc(s->times, total * sizeof *s->times);
    s->values = realloc(s->values, total * width * sizeof *s->values);
    s->marks = realloc(s->marks, total);
    s->ids = realloc(s->ids, total * sizeof *s->ids);
    memcpy(s->times + s->n, next->times_out, rows * sizeof *s->times);
    memcpy(s->values + s->n * width, next->values_out,
           rows * width * sizeof *s->values);
    memcpy(s->marks + s->n, next->marks_out, rows);
    for (size_t i = 0; i < rows; i++) {
        s->ids[s->n + i] =
            next->ids_out != NULL ? strdup(next->ids_out[i]) : NULL;
        if (s->n + i > 0)
            assert_true(s->times[s->n + i] > s->times[s->n + i - 1]);
    }
    s->n = total;
}

static int read_rows(const struct plugin *plugin, void *handle,
                     struct read_data *data, struct m2_error *err)
{
    struct m2_data_next next;
    int status;

    do {
        status = plugin_slot(plugin, M2_DATA_NEXT)(handle, &next, err);
        if (status == 0 && next.n_rows_out > 0)
            add_block(data, &next);
    } while (status == 0 && next.n_rows_out > 0);
    return status;
}

static int read_info(const struct plugin *plugin, void *handle,
                     struct read_data *data, struct m2_error *err)
{
    struct m2_data_info info;
    int status = plugin_slot(plugin, M2_DATA_INFO)(handle, &info, err);

    if (status != 0)
        return status;
    data->n_series = info.n_series_out;
    data->n_columns = info.n_columns_out;
    data->series = calloc(data->n_series, sizeof *data->series);
    data->columns = calloc(data->n_columns, sizeof *data->columns);
    for (size_t i = 0; i < data->n_series; i++) {
        data->series[i].name = strdup(info.series_out[i].name);
        data->series[i].step_ns = info.series_out[i].step_ns;
        data->series[i].stamp = info.series_out[i].stamp;
    }
    for (size_t i = 0; i < data->n_columns; i++)
        data->columns[i] = strdup(info.columns_out[i]);
    return 0;
}

static int read_counts(const struct plugin *plugin, void *handle,
                       struct read_data *data, struct m2_error *err)
{
    struct m2_data_counts counts;
    int status = plugin_slot(plugin, M2_DATA_COUNTS)(handle, &counts, err);

    if (status != 0)
        return status;
    data->n_counts = counts.n_counts_out;
    data->counts = calloc(data->n_counts + 1, sizeof *data->counts);
    for (size_t i = 0; i < data->n_counts; i++) {
        const struct m2_data_count *count = &counts.counts_out[i];
        data->counts[i] = *count;
        data->counts[i].what = strdup(count->what);
        data->counts[i].where =
            count->where != NULL ? strdup(count->where) : NULL;
    }
    return 0;
}

int data_read(const char *name, const char *const *paths, size_t n_paths,
              const char *options, struct read_data *out, struct m2_error *err)
{
    const struct plugin *plugin;
    struct values values = {0};
    struct read_data data = {0};

    if (plugin_load(name, M2_PLUGIN_DATA, &plugin, err) != 0)
        fail_msg("%s", err->text);
    set_defaults(plugin->descriptor->options, &values);
    if (options != NULL)
        set_options(plugin->descriptor->options, options, &values);
    struct m2_data_open open = {.paths = paths,
                                .n_paths = n_paths,
                                .options = values.values,
                                .n_options = values.n};
    err->text[0] = '\0';
    int status = plugin_slot(plugin, M2_DATA_OPEN)(NULL, &open, err);
    free(values.text);
    if (status != 0)
        return status;
    status = read_info(plugin, open.handle_out, &data, err);
    if (status == 0)
        status = read_rows(plugin, open.handle_out, &data, err);
    if (status == 0)
        status = read_counts(plugin, open.handle_out, &data, err);
    plugin_slot(plugin, M2_DATA_CLOSE)(open.handle_out, NULL, NULL);
    if (status == 0)
        *out = data;
    else
        data_free(&data);
    return status;
}

int data_read_file(const char *plugin, const char *path, const char *options,
                   struct read_data *out, struct m2_error *err)
{
    return data_read(plugin, &path, 1, options, out, err);
}

static void free_series(struct read_series *series)
{
    for (size_t i = 0; i < series->n; i++)
        free(series->ids[i]);
    free(series->name);
    free(series->times);
    free(series->values);
    free(series->marks);
    free(series->ids);
}

/* The strings of the counters were copied. */
static void free_copy(const char *string)
{
    free((void *)(uintptr_t)string);
}

void data_free(struct read_data *data)
{
    for (size_t i = 0; i < data->n_series; i++)
        free_series(&data->series[i]);
    for (size_t i = 0; i < data->n_columns; i++)
        free(data->columns[i]);
    for (size_t i = 0; i < data->n_counts; i++) {
        free_copy(data->counts[i].what);
        free_copy(data->counts[i].where);
    }
    free(data->series);
    free(data->columns);
    free(data->counts);
    *data = (struct read_data){0};
}

size_t data_rows(const struct read_data *data)
{
    size_t rows = 0;

    for (size_t i = 0; i < data->n_series; i++)
        rows += data->series[i].n;
    return rows;
}

static const struct m2_data_count *find_count(const struct read_data *data,
                                              const char *what)
{
    for (size_t i = 0; i < data->n_counts; i++)
        if (strcmp(data->counts[i].what, what) == 0)
            return &data->counts[i];
    return NULL;
}

uint64_t data_count(const struct read_data *data, const char *what)
{
    const struct m2_data_count *count = find_count(data, what);

    return count != NULL ? count->n : 0;
}

const char *data_where(const struct read_data *data, const char *what)
{
    const struct m2_data_count *count = find_count(data, what);

    return count != NULL && count->where != NULL ? count->where : "";
}

size_t data_column(const struct read_data *data, const char *name)
{
    size_t i = 0;

    while (i < data->n_columns && strcmp(data->columns[i], name) != 0)
        i++;
    if (i == data->n_columns)
        fail_msg("there is no column '%s'", name);
    return i;
}

const struct read_series *data_series(const struct read_data *data,
                                      const char *name)
{
    size_t i = 0;

    while (i < data->n_series && strcmp(data->series[i].name, name) != 0)
        i++;
    if (i == data->n_series)
        fail_msg("there is no series '%s'", name);
    return &data->series[i];
}

const char *shared_data(void)
{
    static char path[4096];
    const char *shared = getenv("M2_SHARED"), *top = getenv("top_srcdir");

    if (shared != NULL)
        snprintf(path, sizeof path, "%s/data", shared);
    else
        snprintf(path, sizeof path, "%s/../shared/data",
                 top != NULL ? top : ".");
    return access(path, R_OK) == 0 ? path : NULL;
}
