/* Building run.json. */
#include "train/record.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "results/segments.h"
#include "util/json.h"
#include "util/timefmt.h"

static void add_time(struct json_builder *object, const char *key,
                     int64_t time_ns)
{
    char text[TIME_TEXT_SIZE];

    json_add_text(object, key, time_print(time_ns, text));
}

static void add_number(struct json_builder *object, const char *key,
                       double value)
{
    json_add(object, key, json_number_or_null(value));
}

static void add_scores(struct json_builder *object, const struct score *score,
                       const char *prefix)
{
    for (size_t i = 0; score != NULL && i < score->n; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s%s", prefix, score->items[i].name);
        add_number(object, key, score->items[i].value);
    }
}

static json_t *baseline_object(const struct baseline_scores *scores, int i)
{
    struct json_builder object = json_build();

    add_number(&object, "mse", scores->mse[i]);
    add_number(&object, "mae", scores->mae[i]);
    add_number(&object, "rmse_raw", scores->rmse_raw[i]);
    return json_built(&object);
}

static json_t *baselines_object(const struct baseline_scores *scores)
{
    struct json_builder object = json_build();

    for (int i = 0; i < N_BASELINES; i++)
        if (scores->valid[i])
            json_add(&object, baseline_names[i], baseline_object(scores, i));
    return json_built(&object);
}

static json_t *all_baselines(const struct record_facts *facts)
{
    struct json_builder object = json_build();

    for (enum part part = PART_VAL; part < N_PARTS; part++)
        if (facts->session->dataset.parts[part].n > 0)
            json_add(
                &object, part_names[part],
                baselines_object(evaluator_baselines(facts->evaluator, part)));
    return json_built(&object);
}

/* ---- data ---------------------------------------------------------------- */

static json_t *fact_object(const struct dataset_fact *fact)
{
    struct json_builder object = json_build();

    json_add_text(&object, "what", fact->what);
    json_add_integer(&object, "n", (int64_t)fact->n);
    if (fact->where != NULL)
        json_add_text(&object, "where", fact->where);
    return json_built(&object);
}

static json_t *facts_list(const struct dataset *dataset)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < dataset->n_facts; i++)
        ok = json_append(list, fact_object(&dataset->facts[i]));
    return ok ? list : json_drop(list);
}

static json_t *instrument_object(const struct dataset_series *series)
{
    struct json_builder object = json_build();

    json_add_text(&object, "name", series->instrument);
    json_add_integer(&object, "step_ns", series->step_ns);
    json_add_text(&object, "stamp",
                  series->stamp == M2_STAMP_CLOSE ? "close" : "open");
    return json_built(&object);
}

/* What a stream of new rows must be like: predict --stream goes by it. */
static json_t *instruments_list(const struct dataset *dataset)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (int64_t i = 0; ok && i < dataset->n_series; i++) {
        const struct dataset_series *series = &dataset->series[i];

        if (i > 0 &&
            strcmp(series->instrument, dataset->series[i - 1].instrument) == 0)
            continue; /* another channel of it */
        ok = json_append(list, instrument_object(series));
    }
    return ok ? list : json_drop(list);
}

static json_t *part_object(const struct dataset *dataset, enum part part)
{
    struct json_builder object = json_build();

    json_add_integer(&object, "rows", dataset->part_rows[part]);
    json_add_integer(&object, "windows", dataset->parts[part].n);
    if (dataset->parts[part].n > 0) {
        add_time(&object, "first", dataset->part_first_ns[part]);
        add_time(&object, "last", dataset->part_last_ns[part]);
    }
    return json_built(&object);
}

static json_t *parts_object(const struct dataset *dataset)
{
    struct json_builder object = json_build();

    for (enum part part = 0; part < N_PARTS; part++)
        json_add(&object, part_names[part], part_object(dataset, part));
    return json_built(&object);
}

/* Files and plugin of the sheet, and what came of them. */
static json_t *data_object(const struct record_facts *facts)
{
    const struct dataset *dataset = &facts->session->dataset;
    struct json_builder object = json_build();

    json_add_text(&object, "fingerprint", facts->fingerprint);
    json_add_all(&object, json_object_get(facts->sheet, "data"));
    json_add_integer(&object, "rows", dataset->S);
    json_add_integer(&object, "series", dataset->n_series);
    json_add(&object, "parts", parts_object(dataset));
    json_add(&object, "instruments", instruments_list(dataset));
    json_add(&object, "facts", facts_list(dataset));
    return json_built(&object);
}

/* ---- attempts ------------------------------------------------------------ */

/* What can differ between attempts; the rest is the record's. */
static void add_circumstances(struct json_builder *entry,
                              const struct record_facts *facts)
{
    const json_t *build = json_object_get(facts->sheet, "build");
    const json_t *backend = json_object_get(facts->sheet, "backend");

    json_add_integer(entry, "threads", facts->threads);
    json_add_text(entry, "commit",
                  json_string_value(json_object_get(build, "commit")));
    if (facts->session == NULL)
        return;
    json_add_text(entry, "numerics", facts->session->numerics);
    json_add_text(entry, "backend_sha256",
                  json_string_value(json_object_get(backend, "sha256")));
}

static json_t *attempt_object(const struct record_facts *facts)
{
    const struct owner *owner = attempt_owner(facts->attempt);
    struct json_builder entry = json_build();

    json_add_integer(&entry, "attempt", attempt_number(facts->attempt));
    json_add_text(&entry, "token", owner->token);
    json_add_text(&entry, "host", owner->host);
    json_add_integer(&entry, "pid", owner->pid);
    json_add_text(&entry, "boot_id", owner->boot_id);
    add_time(&entry, "started", owner->start_ns);
    add_time(&entry, "until", time_now());
    json_add_integer(&entry, "from_step", facts->from_step);
    if (facts->from_attempt > 0)
        json_add_integer(&entry, "from_attempt", facts->from_attempt);
    if (facts->outcome != NULL) {
        json_add_integer(&entry, "to_step", facts->outcome->state.step);
        add_number(&entry, "seconds", facts->outcome->seconds);
    }
    add_circumstances(&entry, facts);
    return json_built(&entry);
}

static json_t *attempts_list(const struct record_facts *facts)
{
    json_t *list = facts->earlier_attempts != NULL
                       ? json_deep_copy(facts->earlier_attempts)
                       : json_array();

    if (list != NULL && json_append(list, attempt_object(facts)))
        return list;
    return json_drop(list);
}

/* The training loops of all attempts that ended by themselves. */
static double total_seconds(const struct record_facts *facts)
{
    double total = facts->outcome->seconds;
    size_t i;
    json_t *attempt;

    json_array_foreach (facts->earlier_attempts, i, attempt)
        total += json_number_value(json_object_get(attempt, "seconds"));
    return total;
}

static void add_attempts(struct json_builder *record,
                         const struct record_facts *facts)
{
    json_t *list = attempts_list(facts);

    if (list != NULL && facts->session != NULL)
        json_add(record, "mixed", json_boolean(segments_are_mixed(list)));
    json_add(record, "attempts", list);
}

/* ---- what came out ------------------------------------------------------- */

static json_t *final_object(const struct train_outcome *outcome)
{
    struct json_builder object = json_build();

    add_scores(&object, &outcome->final, "val/");
    add_number(&object, "train/loss", outcome->train_loss);
    return json_built(&object);
}

static json_t *best_object(const struct record_facts *facts)
{
    struct json_builder object = json_build();

    add_scores(&object, facts->best, "val/");
    json_add_integer(&object, "step", facts->outcome->state.best_step);
    add_number(&object, "value", facts->outcome->best_value);
    return json_built(&object);
}

static json_t *test_object(const struct score *test)
{
    struct json_builder object = json_build();

    add_scores(&object, test, "test/");
    return json_built(&object);
}

static void add_outcome(struct json_builder *record,
                        const struct record_facts *facts)
{
    const struct train_outcome *outcome = facts->outcome;

    json_add_integer(record, "step", outcome->state.step);
    json_add_integer(record, "steps", outcome->total_steps);
    json_add_integer(record, "epoch", outcome->state.epoch);
    json_add(record, "early_stopped", json_boolean(outcome->early_stopped));
    add_number(record, "seconds", total_seconds(facts));
    add_number(record, "step_seconds", outcome->step_seconds);
    add_number(record, "samples_per_s",
               outcome->seconds > 0
                   ? (double)outcome->samples / outcome->seconds
                   : NAN);
    json_add(record, "final", final_object(outcome));
    json_add(record, "best", best_object(facts));
    if (facts->test != NULL && facts->test->n > 0)
        json_add(record, "test", test_object(facts->test));
}

/* ---- the record ---------------------------------------------------------- */

static void add_session(struct json_builder *record,
                        const struct record_facts *facts)
{
    const struct parameter *parameters;
    size_t n = model_parameters(facts->session->model, &parameters);
    int64_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += parameters[i].n;
    json_add_integer(record, "parameters", count);
    json_add(record, "data", data_object(facts));
    json_add_text(record, "numerics", facts->session->numerics);
}

static void add_head(struct json_builder *record,
                     const struct record_facts *facts)
{
    char run[RUN_NAME_SIZE];

    json_add_integer(record, "schema", RUN_SCHEMA);
    json_add_text(record, "name", facts->name);
    json_add_text(
        record, "run",
        run_name_print(attempt_label(facts->attempt), facts->identity, run));
    json_add_text(record, "identity", facts->identity);
    json_add_text(record, "state", facts->state);
    json_add_text(record, "reason", facts->reason);
    json_add_text(record, "started", facts->started);
    add_time(record, "finished", time_now());
    json_add_text(record, "token", attempt_owner(facts->attempt)->token);
    json_add_text(record, "metric", facts->config->metric);
}

json_t *record_make(const struct record_facts *facts)
{
    struct json_builder record = json_build();

    add_head(&record, facts);
    add_attempts(&record, facts);
    json_add_all(&record, facts->sheet);
    json_add(&record, "config", json_deep_copy(facts->settings));
    if (facts->session != NULL)
        add_session(&record, facts);
    if (facts->session != NULL && facts->evaluator != NULL)
        json_add(&record, "baselines", all_baselines(facts));
    if (facts->outcome != NULL)
        add_outcome(&record, facts);
    return json_built(&record);
}
