/* `m2run data` for people. */
#include "data/report.h"

#include <inttypes.h>
#include <string.h>

#include "util/number.h"
#include "util/path.h"
#include "util/timefmt.h"

enum { MAX_DETAILED = 20 }; /* series whose gaps and columns are shown */

static const char *const gap_names[REPORT_GAPS] = {
    "1 step",   "2",          "3 to 5",        "6 to 10",
    "11 to 60", "61 to 1440", "more than 1440"};

static void add_files(const struct report *report, struct text *out)
{
    char size[NUMBER_TEXT_SIZE];

    text_addf(out, "source %s, %zu file%s, %zu series\n",
              report->config->data.source, report->n_files,
              report->n_files == 1 ? "" : "s", report->store.n_series);
    for (size_t i = 0; i < report->n_files; i++)
        text_addf(out, "  %-50s %12s\n", path_basename(report->files[i].path),
                  number_print_bytes((uint64_t)report->files[i].bytes, size));
}

static size_t widest_name(const struct report *report)
{
    size_t widest = 6;

    for (size_t i = 0; i < report->store.n_series; i++) {
        size_t n = strlen(report->store.series[i].name);
        widest = n > widest ? n : widest;
    }
    return widest > 40 ? 40 : widest;
}

static void add_series(const struct report *report, struct text *out)
{
    int width = (int)widest_name(report);
    char first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE], step[NUMBER_TEXT_SIZE];

    text_addf(out, "\n%-*s %10s %9s %6s %6s  %-20s %s\n", width, "series",
              "rows", "step", "stamp", "rolls", "first", "last");
    for (size_t i = 0; i < report->store.n_series; i++) {
        const struct store_series *s = &report->store.series[i];
        int64_t ns =
            s->step_ns > 0 ? s->step_ns : report->series[i].median_step_ns;
        text_addf(out, "%-*s %10zu %9s %6s %6zu  %-20s %s\n", width, s->name,
                  s->n, number_print_duration((double)ns * 1e-9, step),
                  s->stamp == M2_STAMP_OPEN ? "open" : "close", s->n_rolls,
                  s->n > 0 ? time_print(s->times[0], first) : "-",
                  s->n > 0 ? time_print(s->times[s->n - 1], last) : "-");
    }
}

static void add_gaps(const struct report_series *series, struct text *out)
{
    bool any = false;

    text_add(out, "  steps between rows:");
    for (int k = 0; k < REPORT_GAPS; k++) {
        if (series->gaps[k] == 0)
            continue;
        text_addf(out, "%s %s: %" PRIu64, any ? "," : "", gap_names[k],
                  series->gaps[k]);
        any = true;
    }
    text_add(out, any ? "\n" : " none\n");
}

static void add_columns(const struct report *report, size_t i, struct text *out)
{
    text_addf(out, "  %-16s %14s %14s %14s %14s %9s\n", "column", "lowest",
              "highest", "mean", "deviation", "missing");
    for (size_t c = 0; c < report->store.columns.count; c++) {
        const struct report_column *column = &report->series[i].columns[c];
        text_addf(out, "  %-16s %14.8g %14.8g %14.8g %14.8g %9" PRIu64 "\n",
                  report->store.columns.items[c], column->low, column->high,
                  column->mean, column->deviation, column->missing);
    }
}

static void add_details(const struct report *report, struct text *out)
{
    char time[TIME_TEXT_SIZE];
    size_t n = report->store.n_series;

    for (size_t i = 0; i < n && i < MAX_DETAILED; i++) {
        const struct store_series *s = &report->store.series[i];
        text_addf(out, "\n%s\n", s->name);
        add_gaps(&report->series[i], out);
        for (size_t k = 0; k < s->n_rolls; k++)
            text_addf(out, "  %s: %s -> %s\n",
                      time_print(s->rolls[k].time_ns, time), s->rolls[k].from,
                      s->rolls[k].to);
        add_columns(report, i, out);
    }
    if (n > MAX_DETAILED)
        text_addf(out, "\n%zu more series: --json shows all\n",
                  n - MAX_DETAILED);
}

static void add_facts(const struct dataset_fact *facts, size_t n,
                      struct text *out)
{
    if (n > 0)
        text_add(out, "\nread, dropped, repaired\n");
    for (size_t i = 0; i < n; i++) {
        text_addf(out, "  %s%" PRIu64 " %s", facts[i].warning ? "! " : "",
                  facts[i].n, facts[i].what);
        if (facts[i].where != NULL)
            text_addf(out, " (first: %s)", facts[i].where);
        text_add(out, "\n");
    }
}

static void add_names(const char *title, char *const *names, int64_t n,
                      struct text *out)
{
    text_addf(out, "%s:", title);
    for (int64_t i = 0; i < n; i++)
        text_addf(out, "%s %s", i == 0 ? "" : ",", names[i]);
    text_add(out, "\n");
}

static void add_parts(const struct dataset *d, const struct config_data *config,
                      struct text *out)
{
    char first[TIME_TEXT_SIZE], last[TIME_TEXT_SIZE];
    int64_t pieces = 0;

    for (int64_t t = 0; t < d->S; t++)
        pieces += d->starts[t];
    text_addf(out,
              "\n%" PRId64 " rows in %" PRId64 " piece%s without a gap; "
              "windows of %" PRId64 " rows and %" PRId64 " ahead\n",
              d->S, pieces, pieces == 1 ? "" : "s", config->window,
              config->horizon);
    add_names("features", d->feature_names, d->n_feature_names, out);
    add_names("target", d->target_names, d->n_target_names, out);
    text_addf(out, "%-6s %10s %10s  %-20s %s\n", "part", "rows", "windows",
              "first row", "last row");
    for (int p = 0; p < N_PARTS; p++) {
        bool any = d->part_rows[p] > 0;
        text_addf(out, "%-6s %10" PRId64 " %10" PRId64 "  %-20s %s\n",
                  part_names[p], d->part_rows[p], d->parts[p].n,
                  any ? time_print(d->part_first_ns[p], first) : "-",
                  any ? time_print(d->part_last_ns[p], last) : "-");
    }
    text_addf(out, "%-6s %10s %10" PRId64 "  targets not known yet\n", "live",
              "-", d->live.n);
}

int report_print_text(const struct report *report, struct text *out,
                      struct m2_error *err)
{
    const struct dataset *d = &report->dataset;

    add_files(report, out);
    add_series(report, out);
    add_details(report, out);
    if (report->problem_code == M2_OK) {
        add_facts(d->facts, d->n_facts, out);
        add_parts(d, &report->config->data, out);
    } else {
        add_facts(report->facts.items, report->facts.count, out);
    }
    return text_check(out, err);
}
