/* What a repetition has shown, in words and as JSON. */
#include "cli/reproduce_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "util/json.h"
#include "util/number.h"

static const char *const kind_names[] = {
    [FINDING_COMPUTED] = "computed",
    [FINDING_ALTERED] = "altered",
    [FINDING_NOTE] = "note",
};

/* "metrics.csv, step 12: ..." */
static void add_finding(const struct finding *finding, struct text *out)
{
    if (finding->file[0] != '\0') {
        text_add(out, finding->file);
        if (finding->step > 0 && finding->step < INT64_MAX)
            text_addf(out, ", step %" PRId64, finding->step);
        text_add(out, ": ");
    }
    text_add(out, finding->text);
}

/* The first finding is the one that counts most. */
static void add_headline(const struct finding *finding, struct text *out)
{
    if (finding->kind == FINDING_ALTERED) {
        text_add(out, "altered: ");
        add_finding(finding, out);
    } else {
        text_addf(out, "differs from step %" PRId64 ": ", finding->step);
        if (strcmp(finding->file, "metrics.csv") != 0)
            text_addf(out, "%s: ", finding->file);
        text_add(out, finding->text);
    }
    text_add_char(out, '\n');
}

/* ---- nothing differs ----------------------------------------------------- */

static void add_largest(const struct difference *difference, struct text *out)
{
    if (difference->largest > 0)
        text_addf(out, "; the largest difference is %.3g (%s)",
                  difference->largest, difference->largest_at);
    else
        text_add(out, "; every number is the same");
}

static void add_end(const struct reproduce_report *report, struct text *out)
{
    const json_t *step = run_value(&report->run->entry, NULL, "step");

    if (report->last_step > 0)
        text_addf(out, " up to step %" PRId64, report->difference->last_step);
    else if (strcmp(report->run->entry.state, "diverged") == 0)
        text_addf(out, ", diverged after the same step %" JSON_INTEGER_FORMAT,
                  json_integer_value(step));
    else if (json_is_true(
                 run_value(&report->run->entry, NULL, "early_stopped")))
        text_addf(out, ", stopped early at the same step %" JSON_INTEGER_FORMAT,
                  json_integer_value(step));
}

static void add_identical(const struct reproduce_report *report,
                          struct text *out)
{
    const struct difference *difference = report->difference;
    char text[NUMBER_TEXT_SIZE];

    if (report->tolerance > 0)
        text_addf(out,
                  "within %s: ", number_print_double(report->tolerance, text));
    else
        text_add(out, "identical: ");
    text_addf(out, "%zu row%s", difference->n_rows,
              difference->n_rows == 1 ? "" : "s");
    add_end(report, out);
    if (difference->parameters[0] == '\0')
        text_add(out, ", parameters not compared");
    else if (report->tolerance > 0)
        text_add(out, ", parameters");
    else
        text_addf(out, ", parameters sha256 %s", difference->parameters);
    if (report->tolerance > 0)
        add_largest(difference, out);
    text_add_char(out, '\n');
}

/* ---- the whole ----------------------------------------------------------- */

/* A computation that differs may do so for a reason that is known. */
static void add_facts(const struct reproduce_report *report, struct text *out)
{
    const struct difference *difference = report->difference;
    size_t n =
        report->facts != NULL ? facts_that_change_bits(report->facts) : 0;

    if (difference->n_findings == 0 ||
        difference->findings[0].kind != FINDING_COMPUTED)
        return;
    if (n == 0) {
        text_add(out, "  no recorded fact that can change a bit has changed\n");
        return;
    }
    text_add(out, "  what has changed since the run:\n");
    facts_write(report->facts, "    ", out);
}

static void add_recorded_end(const struct reproduce_report *report,
                             struct text *out)
{
    const char *reason =
        json_string_value(run_value(&report->run->entry, NULL, "reason"));

    if (report->run->last_step > 0)
        text_addf(out,
                  "  the recorded run ended as %s (%.300s): its files end at "
                  "step %" PRId64 "\n",
                  report->run->entry.state, reason != NULL ? reason : "",
                  report->run->last_step);
    if (report->run->last_step == 0 &&
        json_is_true(run_value(&report->run->entry, NULL, "mixed")))
        text_add(out, "  the recorded run was computed under more than one "
                      "numerics (--mixed)\n");
}

void reproduce_write(const struct reproduce_report *report, struct text *out)
{
    const struct difference *difference = report->difference;
    size_t first = 0;

    if (report->run->altered.length > 0) {
        text_addf(out, "altered: %s\n", text_string(&report->run->altered));
        return;
    }
    if (difference->differs)
        add_headline(&difference->findings[first++], out);
    else
        add_identical(report, out);
    for (size_t i = first; i < difference->n_findings; i++) {
        const struct finding *finding = &difference->findings[i];

        text_add(out, finding->kind == FINDING_ALTERED ? "  altered: " : "  ");
        add_finding(finding, out);
        text_add_char(out, '\n');
    }
    if (difference->differs && report->tolerance > 0) {
        text_add(out, "  outside the tolerance");
        add_largest(difference, out);
        text_add_char(out, '\n');
    }
    add_recorded_end(report, out);
    add_facts(report, out);
}

/* ---- JSON ---------------------------------------------------------------- */

static json_t *finding_object(const struct finding *finding)
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "kind", kind_names[finding->kind]);
    json_add_text(&builder, "file",
                  finding->file[0] != '\0' ? finding->file : NULL);
    if (finding->step > 0 && finding->step < INT64_MAX)
        json_add_integer(&builder, "step", finding->step);
    if (finding->kind == FINDING_COMPUTED)
        json_add_integer(&builder, "agreed_step", finding->agreed);
    json_add_text(&builder, "text", finding->text);
    return json_built(&builder);
}

static json_t *findings_list(const struct reproduce_report *report)
{
    const struct difference *difference = report->difference;
    json_t *list = json_array();
    bool ok = list != NULL;

    if (ok && report->run->altered.length > 0) {
        struct json_builder builder = json_build();

        json_add_text(&builder, "kind", kind_names[FINDING_ALTERED]);
        json_add_text(&builder, "text", text_string(&report->run->altered));
        ok = json_append(list, json_built(&builder));
    }
    for (size_t i = 0; ok && difference != NULL && i < difference->n_findings;
         i++)
        ok = json_append(list, finding_object(&difference->findings[i]));
    return ok ? list : json_drop(list);
}

static json_t *facts_list(const struct fact_differences *facts)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && facts != NULL && i < facts->n; i++) {
        const struct fact_difference *fact = &facts->items[i];
        struct json_builder builder = json_build();

        json_add_text(&builder, "what", fact->what);
        json_add_text(&builder, "then", fact->then);
        json_add_text(&builder, "now", fact->now);
        json_add(&builder, "may_change_bits",
                 json_boolean(fact->may_change_bits));
        ok = json_append(list, json_built(&builder));
    }
    return ok ? list : json_drop(list);
}

static void add_numbers(const struct reproduce_report *report,
                        struct json_builder *builder)
{
    const struct difference *difference = report->difference;

    json_add_integer(builder, "rows", (int64_t)difference->n_rows);
    json_add_integer(builder, "last_step", difference->last_step);
    json_add_integer(builder, "tensors", (int64_t)difference->n_tensors);
    json_add_text(builder, "parameters_sha256",
                  difference->parameters[0] != '\0' ? difference->parameters
                                                    : NULL);
    json_add(builder, "largest_difference",
             json_number_or_null(difference->largest));
    json_add_text(builder, "largest_difference_at",
                  difference->largest > 0 ? difference->largest_at : NULL);
}

json_t *reproduce_json(const struct reproduce_report *report)
{
    const struct rerun *rerun = report->rerun;
    bool differs = report->difference == NULL || report->difference->differs;
    struct json_builder builder = json_build();

    json_add_text(&builder, "result", differs ? "different" : "identical");
    json_add_text(&builder, "run", report->run->entry.path);
    json_add_text(&builder, "identity", report->run->identity);
    json_add_text(&builder, "state", report->run->entry.state);
    json_add_text(&builder, "again",
                  rerun != NULL && report->kept ? rerun->path : NULL);
    json_add(&builder, "tolerance", json_real(report->tolerance));
    if (report->difference != NULL)
        add_numbers(report, &builder);
    json_add(&builder, "findings", findings_list(report));
    json_add(&builder, "facts", facts_list(report->facts));
    return json_built(&builder);
}
