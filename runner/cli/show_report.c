/* The report of `m2run show`: a run.json and the files beside it, readable. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show.h"
#include "config/load.h"
#include "config/value.h"
#include "results/query.h"
#include "results/segments.h"
#include "util/file.h"
#include "util/path.h"

/* ---- facts --------------------------------------------------------------- */

static const char *string_of(const struct run_entry *entry, const char *group,
                             const char *key)
{
    const char *text = json_string_value(run_value(entry, group, key));

    return text != NULL ? text : "";
}

/* "2026-11-30T21:55:32.702735071Z" to the second. */
static void add_time(struct text *out, const char *time)
{
    size_t length = strcspn(time, ".");

    text_add_bytes(out, time, length < strlen(time) ? length : strlen(time));
    if (time[length] == '.')
        text_add_char(out, 'Z');
}

static void add_times(const struct run_entry *entry, struct text *out)
{
    const char *started = string_of(entry, NULL, "started");
    const json_t *seconds = run_value(entry, NULL, "seconds");
    char buffer[NUMBER_TEXT_SIZE];

    if (*started == '\0')
        return;
    text_add(out, "  started     ");
    add_time(out, started);
    if (entry->published) {
        text_add(out, ", ended ");
        add_time(out, string_of(entry, NULL, "finished"));
    }
    if (json_is_number(seconds))
        text_addf(out, ", trained for %s",
                  number_print_duration(json_number_value(seconds), buffer));
    text_add_char(out, '\n');
}

static void add_steps(const struct run_entry *entry, struct text *out)
{
    int64_t step, steps;
    const json_t *epoch = run_value(entry, NULL, "epoch");
    const json_t *rate = run_value(entry, NULL, "samples_per_s");

    run_steps(entry, &step, &steps);
    if (step < 0 && steps < 0)
        return;
    text_addf(out, "  steps       %" PRId64, step < 0 ? 0 : step);
    if (steps >= 0)
        text_addf(out, " of %" PRId64, steps);
    if (json_is_integer(epoch))
        text_addf(out, ", epoch %" JSON_INTEGER_FORMAT,
                  json_integer_value(epoch));
    if (json_is_number(rate))
        text_addf(out, ", %.5g windows/s", json_number_value(rate));
    if (json_is_true(run_value(entry, NULL, "early_stopped")))
        text_add(out, ", stopped early");
    text_add_char(out, '\n');
}

static void add_backend(const struct run_entry *entry, struct text *out)
{
    const json_t *bytes = run_value(entry, "backend", "bytes");
    const json_t *parameters = run_value(entry, NULL, "parameters");
    char buffer[NUMBER_TEXT_SIZE];

    if (json_is_integer(parameters))
        text_addf(out, "  model       %" JSON_INTEGER_FORMAT " parameters\n",
                  json_integer_value(parameters));
    if (run_value(entry, NULL, "backend") == NULL)
        return;
    text_addf(out, "  device      %s: %s",
              string_of(entry, "backend", "device"),
              string_of(entry, "backend", "device_name"));
    if (json_is_integer(bytes))
        text_addf(
            out, ", %s used",
            number_print_bytes((uint64_t)json_integer_value(bytes), buffer));
    text_addf(out, "\n  backend     %s; %s\n",
              string_of(entry, "backend", "build"),
              string_of(entry, "backend", "facts"));
}

static void add_head(const struct run_entry *entry, struct text *out)
{
    const char *reason = string_of(entry, NULL, "reason");

    text_addf(out, "%s/%s\n  state       %s", entry->experiment, entry->run,
              entry->state);
    if (*reason != '\0')
        text_addf(out, ": %s", reason);
    text_addf(out, "\n  folder      %s\n", entry->path);
    if (entry->damage != NULL)
        text_addf(out, "  damage      %s\n", entry->damage);
    add_times(entry, out);
    add_steps(entry, out);
    add_backend(entry, out);
}

/* ---- settings ------------------------------------------------------------ */

/* Those of config.yaml that are not at their default.  False when the file
 * cannot be read here: its data plugin may be missing. */
static bool add_changed_settings(const struct run_entry *entry,
                                 struct text *out)
{
    char *path = path_join(entry->path, "config.yaml", NULL);
    const struct experiment_request request = {
        .path = path,
        .lookup = &source_lookup_plugins,
    };
    struct messages messages = {0};
    struct experiment experiment = {0};
    struct m2_error err;
    bool ok = path != NULL &&
              file_check_regular(path, M2_E_RESULTS, NULL) == 0 &&
              experiment_load(&request, &experiment, &messages, &err) == 0;

    if (ok)
        text_add(out, "\nsettings that are not at their default\n");
    for (size_t i = 0; ok && i < experiment.schema.n_rows; i++) {
        const struct schema_row *row = &experiment.schema.rows[i];

        if (row->key->type == KEY_BLOCK || row->key->type == KEY_FORMAT ||
            row->key->type == KEY_FIXED ||
            value_is_default(&experiment.schema, i, &experiment.config))
            continue;
        text_addf(out, "  %s: ", row->path);
        value_write(row, &experiment.config, out);
        text_add_char(out, '\n');
    }
    if (path != NULL)
        experiment_free(&experiment);
    messages_free(&messages);
    free(path);
    return ok;
}

static void add_settings(const struct run_entry *entry, struct text *out)
{
    json_t *config = run_value(entry, NULL, "config");
    const char *key;
    json_t *value;

    if (add_changed_settings(entry, out) || json_object_size(config) == 0)
        return;
    text_add(out, "\nsettings\n");
    json_object_foreach (config, key, value)
        text_addf(out, "  %s: %s\n", key,
                  json_is_string(value) ? json_string_value(value) : "");
}

/* ---- data ---------------------------------------------------------------- */

static json_int_t integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void add_part(const char *name, const json_t *part, struct text *out)
{
    const char *first = json_string_value(json_object_get(part, "first"));
    const char *last = json_string_value(json_object_get(part, "last"));

    if (integer_of(part, "windows") == 0)
        return;
    text_addf(out,
              "  %-6s %" JSON_INTEGER_FORMAT " rows, %" JSON_INTEGER_FORMAT
              " windows",
              name, integer_of(part, "rows"), integer_of(part, "windows"));
    if (first != NULL && last != NULL)
        text_addf(out, ", %s to %s", first, last);
    text_add_char(out, '\n');
}

static void add_data(const struct run_entry *entry, struct text *out)
{
    const json_t *data = run_value(entry, NULL, "data");
    const char *name, *files = string_of(entry, "data", "fingerprint");
    json_t *part, *fact;
    size_t i;

    if (data == NULL)
        return;
    text_addf(out,
              "\ndata: %" JSON_INTEGER_FORMAT " rows, %" JSON_INTEGER_FORMAT
              " series\n",
              integer_of(data, "rows"), integer_of(data, "series"));
    json_object_foreach (json_object_get(data, "parts"), name, part)
        add_part(name, part, out);
    json_array_foreach (json_object_get(data, "facts"), i, fact) {
        const char *where = json_string_value(json_object_get(fact, "where"));
        const char *what = json_string_value(json_object_get(fact, "what"));

        text_addf(out, "  %" JSON_INTEGER_FORMAT " %s%s%s\n",
                  integer_of(fact, "n"), what != NULL ? what : "?",
                  where != NULL ? ", first at " : "",
                  where != NULL ? where : "");
    }
    for (; *files != '\0'; files += strcspn(files, "\n") + 1) {
        int length = (int)strcspn(files, "\n");

        text_addf(out, "  file %.*s\n", length, files);
        if (files[length] == '\0')
            break;
    }
}

/* ---- attempts ------------------------------------------------------------ */

/* The last segment comes first: the lines are put in front of each other. */
static bool add_segment(void *context, const struct segment *segment)
{
    struct text *all = context, line = {0};

    text_addf(&line, "  steps %" PRId64 " to ", segment->from_step + 1);
    if (segment->to_step >= 0)
        text_addf(&line, "%" PRId64, segment->to_step);
    else
        text_add(&line, "now");
    text_addf(&line, " by attempt %" PRId64 ": %s\n%s", segment->attempt,
              segment->numerics != NULL ? segment->numerics : "not known",
              text_string(all));
    text_free(all);
    *all = line;
    return true;
}

static void add_mixture(const struct run_entry *entry, struct text *out)
{
    const json_t *attempts = run_value(entry, NULL, "attempts");
    struct text lines = {0};

    if (!segments_are_mixed(attempts))
        return;
    segments_walk(attempts, add_segment, &lines);
    text_addf(out,
              "\nmixed: more than one kind of computation, so that no machine "
              "repeats its bits\n%s",
              text_string(&lines));
    text_free(&lines);
}

static void add_attempts(const struct run_entry *entry, struct text *out)
{
    const json_t *list = run_value(entry, NULL, "attempts");
    json_t *attempt;
    size_t i;

    if (json_array_size(list) == 0)
        return;
    text_add(out, "\nattempts\n");
    json_array_foreach (list, i, attempt) {
        const json_t *seconds = json_object_get(attempt, "seconds");
        const json_t *to = json_object_get(attempt, "to_step");
        const char *started =
            json_string_value(json_object_get(attempt, "started"));
        const char *host = json_string_value(json_object_get(attempt, "host"));
        char buffer[NUMBER_TEXT_SIZE];

        text_addf(out,
                  "  %" JSON_INTEGER_FORMAT
                  "  %s, process %" JSON_INTEGER_FORMAT ", ",
                  integer_of(attempt, "attempt"), host != NULL ? host : "?",
                  integer_of(attempt, "pid"));
        add_time(out, started != NULL ? started : "?");
        text_addf(out, ", from step %" JSON_INTEGER_FORMAT,
                  integer_of(attempt, "from_step"));
        if (json_is_integer(to))
            text_addf(out, " to %" JSON_INTEGER_FORMAT, json_integer_value(to));
        if (json_is_number(seconds))
            text_addf(
                out, ", %s",
                number_print_duration(json_number_value(seconds), buffer));
        text_add_char(out, '\n');
    }
}

int show_report(const struct run_entry *entry, struct text *out,
                struct m2_error *err)
{
    int code;

    add_head(entry, out);
    add_settings(entry, out);
    add_data(entry, out);
    code = show_scores(entry, out, err);
    if (code == 0) {
        add_attempts(entry, out);
        add_mixture(entry, out);
        code = show_files(entry, out, err);
    }
    return code == 0 ? text_check(out, err) : code;
}
