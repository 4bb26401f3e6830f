/* Predictions as text. */
#include "predict/lines.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/number.h"
#include "util/timefmt.h"

enum { N_KINDS = 4 };
static const char *const kind_names[N_KINDS] = {"pred", "true", "pred_level",
                                                "true_level"};

static bool is_truth(int kind)
{
    return kind % 2 == 1;
}

/* RFC 4180: quoted where it must be. */
static void add_cell(struct text *out, const char *value)
{
    if (strpbrk(value, ",\"\r\n") == NULL) {
        text_add(out, value);
        return;
    }
    text_add_char(out, '"');
    for (; *value != '\0'; value++) {
        if (*value == '"')
            text_add_char(out, '"');
        text_add_char(out, *value);
    }
    text_add_char(out, '"');
}

/* Name of a column of target o; it lies in name. */
static const char *column_name(const struct lines_format *format, int kind,
                               int64_t o, struct text *name)
{
    text_clear(name);
    text_add(name, kind_names[kind]);
    if (format->n_targets > 1)
        text_addf(name, "_%s", format->targets[o]);
    return text_string(name);
}

void lines_header(const struct lines_format *format, struct text *out)
{
    struct text name = {0};

    if (format->json)
        return;
    text_add(out, "time,known_at,target_time,instrument,step");
    for (int64_t o = 0; o < format->n_targets; o++)
        for (int kind = 0; kind < N_KINDS; kind++) {
            if (is_truth(kind) && !format->truth)
                continue;
            text_add_char(out, ',');
            add_cell(out, column_name(format, kind, o, &name));
        }
    text_add_char(out, '\n');
    out->failed |= name.failed;
    text_free(&name);
}

static void add_time(const struct lines_format *format, const char *key,
                     int64_t time, struct text *out)
{
    char text[TIME_TEXT_SIZE];

    time_print(time, text);
    if (format->json)
        text_addf(out, "\"%s\": \"%s\", ", key, text);
    else
        text_addf(out, "%s,", text);
}

static void add_number(const struct lines_format *format, const char *key,
                       double value, struct text *out)
{
    char text[NUMBER_TEXT_SIZE];

    if (format->json) {
        text_add(out, ", ");
        text_add_json(out, key);
        text_add(out, ": ");
        text_add(out,
                 isfinite(value) ? number_print_double(value, text) : "null");
        return;
    }
    text_add_char(out, ',');
    if (isfinite(value))
        text_add(out, number_print_double(value, text));
}

static void add_line(const struct lines_format *format,
                     const struct forecast *forecast, int64_t k,
                     struct text *name, struct text *out)
{
    const double *values[N_KINDS] = {forecast->pred, forecast->truth,
                                     forecast->pred_level,
                                     forecast->truth_level};

    if (format->json)
        text_add_char(out, '{');
    add_time(format, "time", forecast->time, out);
    add_time(format, "known_at", forecast->known_at, out);
    add_time(format, "target_time", forecast->target_times[k], out);
    if (format->json) {
        text_add(out, "\"instrument\": ");
        text_add_json(out, forecast->series);
        text_add(out, ", \"step\": ");
    } else {
        add_cell(out, forecast->series);
        text_add_char(out, ',');
    }
    text_addf(out, "%" PRId64, forecast->first_step + k);
    for (int64_t o = 0; o < format->n_targets; o++)
        for (int kind = 0; kind < N_KINDS; kind++)
            if (format->truth || !is_truth(kind))
                add_number(format, column_name(format, kind, o, name),
                           values[kind][k * format->n_targets + o], out);
    text_add(out, format->json ? "}\n" : "\n");
}

void lines_add(const struct lines_format *format,
               const struct forecast *forecast, struct text *out)
{
    struct text name = {0};

    for (int64_t k = 0; k < forecast->n_steps; k++)
        add_line(format, forecast, k, &name, out);
    out->failed |= name.failed;
    text_free(&name);
}
