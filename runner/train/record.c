/* Building run.json. */
#include "train/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "plugins/loader.h"
#include "util/build.h"
#include "util/json.h"
#include "util/timefmt.h"

/* JSON has no NaN. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void set_text(json_t *object, const char *key, const char *value)
{
    json_object_set_new(object, key,
                        value != NULL ? json_any_text(value) : json_null());
}

static void set_time(json_t *object, const char *key, int64_t time_ns)
{
    char text[TIME_TEXT_SIZE];

    set_text(object, key, time_print(time_ns, text));
}

static json_t *score_object(const struct score *score, const char *prefix)
{
    json_t *object = json_object();

    for (size_t i = 0; score != NULL && i < score->n; i++) {
        char key[64];

        snprintf(key, sizeof key, "%s%s", prefix, score->items[i].name);
        json_object_set_new(object, key, number(score->items[i].value));
    }
    return object;
}

static json_t *baselines_object(const struct baseline_scores *scores)
{
    json_t *object = json_object();

    for (int i = 0; i < N_BASELINES; i++)
        if (scores->valid[i])
            json_object_set_new(object, baseline_names[i],
                                json_pack("{s:o, s:o, s:o}", "mse",
                                          number(scores->mse[i]), "mae",
                                          number(scores->mae[i]), "rmse_raw",
                                          number(scores->rmse_raw[i])));
    return object;
}

static void add_baselines(json_t *record, const struct record_facts *facts)
{
    json_t *object = json_object();

    for (enum part part = PART_VAL; part < N_PARTS; part++)
        if (facts->session->dataset.parts[part].n > 0)
            json_object_set_new(
                object, part_names[part],
                baselines_object(evaluator_baselines(facts->evaluator, part)));
    json_object_set_new(record, "baselines", object);
}

/* Facts of the machine that can change a result, or explain a time. */
static json_t *host_object(const struct record_facts *facts)
{
    struct utsname system;
    json_t *object = json_object();

    if (uname(&system) == 0) {
        set_text(object, "name", system.nodename);
        set_text(object, "system", system.sysname);
        set_text(object, "release", system.release);
        set_text(object, "machine", system.machine);
    }
    json_object_set_new(object, "cores",
                        json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    json_object_set_new(object, "threads", json_integer(facts->threads));
    return object;
}

/* Only variables that can change a result: others may hold secrets. */
static json_t *environment_object(void)
{
    static const char *const names[] = {
        "OMP_NUM_THREADS",      "OMP_PROC_BIND",        "OPENBLAS_CORETYPE",
        "OPENBLAS_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "M2RUN_PLUGIN_PATH",
        "LD_PRELOAD",           "SLURM_JOB_ID"};
    json_t *object = json_object();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            set_text(object, names[i], getenv(names[i]));
    return object;
}

static json_t *build_object(void)
{
    const struct build_facts *build = build_facts();
    json_t *object = json_object();

    set_text(object, "version", build->version);
    set_text(object, "commit", build->commit);
    json_object_set_new(object, "dirty", json_boolean(build->dirty));
    set_text(object, "compiler", build->compiler);
    set_text(object, "cflags", build->cflags);
    return object;
}

static json_t *backend_object(const struct session *session)
{
    const struct m2_plugin *plugin = session->backend->descriptor;
    json_t *object = json_object();

    set_text(object, "name", plugin->name);
    set_text(object, "build", plugin->build);
    json_object_set_new(object, "numerics", json_integer(plugin->numerics));
    set_text(object, "device", device_label(session->device));
    set_text(object, "device_name", session->facts.name);
    set_text(object, "facts", session->facts.facts);
    json_object_set_new(
        object, "bytes",
        json_integer((json_int_t)device_bytes(session->device)));
    return object;
}

static json_t *facts_list(const struct dataset *dataset)
{
    json_t *list = json_array();

    for (size_t i = 0; i < dataset->n_facts; i++) {
        const struct dataset_fact *fact = &dataset->facts[i];
        json_t *entry = json_object();

        set_text(entry, "what", fact->what);
        json_object_set_new(entry, "n", json_integer((json_int_t)fact->n));
        if (fact->where != NULL)
            set_text(entry, "where", fact->where);
        json_array_append_new(list, entry);
    }
    return list;
}

/* What a stream of new rows must be like: predict --stream goes by it. */
static json_t *instruments_list(const struct dataset *dataset)
{
    json_t *list = json_array();

    for (int64_t i = 0; i < dataset->n_series; i++) {
        const struct dataset_series *series = &dataset->series[i];

        if (i > 0 &&
            strcmp(series->instrument, dataset->series[i - 1].instrument) == 0)
            continue; /* another channel of it */
        json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:s}", "name", series->instrument, "step_ns",
                      (json_int_t)series->step_ns, "stamp",
                      series->stamp == M2_STAMP_CLOSE ? "close" : "open"));
    }
    return list;
}

static json_t *data_object(const struct record_facts *facts)
{
    const struct dataset *dataset = &facts->session->dataset;
    json_t *object = json_object(), *parts = json_object();

    set_text(object, "fingerprint", facts->fingerprint);
    json_object_set_new(object, "rows", json_integer(dataset->S));
    json_object_set_new(object, "series", json_integer(dataset->n_series));
    for (enum part part = 0; part < N_PARTS; part++) {
        json_t *entry = json_pack(
            "{s:I, s:I}", "rows", (json_int_t)dataset->part_rows[part],
            "windows", (json_int_t)dataset->parts[part].n);

        if (dataset->parts[part].n > 0) {
            set_time(entry, "first", dataset->part_first_ns[part]);
            set_time(entry, "last", dataset->part_last_ns[part]);
        }
        json_object_set_new(parts, part_names[part], entry);
    }
    json_object_set_new(object, "parts", parts);
    json_object_set_new(object, "instruments", instruments_list(dataset));
    json_object_set_new(object, "facts", facts_list(dataset));
    return object;
}

static json_t *attempts_list(const struct record_facts *facts)
{
    const struct owner *owner = attempt_owner(facts->attempt);
    json_t *list = facts->earlier_attempts != NULL
                       ? json_deep_copy(facts->earlier_attempts)
                       : json_array();
    json_t *entry = json_object();

    json_object_set_new(entry, "attempt",
                        json_integer(attempt_number(facts->attempt)));
    set_text(entry, "token", owner->token);
    set_text(entry, "host", owner->host);
    json_object_set_new(entry, "pid", json_integer(owner->pid));
    set_text(entry, "boot_id", owner->boot_id);
    set_time(entry, "started", owner->start_ns);
    set_time(entry, "until", time_now());
    json_object_set_new(entry, "from_step", json_integer(facts->from_step));
    if (facts->outcome != NULL) {
        json_object_set_new(entry, "to_step",
                            json_integer(facts->outcome->state.step));
        json_object_set_new(entry, "seconds", number(facts->outcome->seconds));
    }
    json_array_append_new(list, entry);
    return list;
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

static void add_outcome(json_t *record, const struct record_facts *facts)
{
    const struct train_outcome *outcome = facts->outcome;
    json_t *final = score_object(&outcome->final, "val/");
    json_t *best = score_object(facts->best, "val/");

    json_object_set_new(final, "train/loss", number(outcome->train_loss));
    json_object_set_new(best, "step", json_integer(outcome->state.best_step));
    json_object_set_new(best, "value", number(outcome->best_value));
    json_object_set_new(record, "step", json_integer(outcome->state.step));
    json_object_set_new(record, "steps", json_integer(outcome->total_steps));
    json_object_set_new(record, "epoch", json_integer(outcome->state.epoch));
    json_object_set_new(record, "early_stopped",
                        json_boolean(outcome->early_stopped));
    json_object_set_new(record, "seconds", number(total_seconds(facts)));
    json_object_set_new(record, "step_seconds", number(outcome->step_seconds));
    json_object_set_new(record, "samples_per_s",
                        number(outcome->seconds > 0
                                   ? (double)outcome->samples / outcome->seconds
                                   : NAN));
    json_object_set_new(record, "final", final);
    json_object_set_new(record, "best", best);
    if (facts->test != NULL && facts->test->n > 0)
        json_object_set_new(record, "test", score_object(facts->test, "test/"));
}

static void add_session(json_t *record, const struct record_facts *facts)
{
    const struct parameter *parameters;
    size_t n = model_parameters(facts->session->model, &parameters);
    int64_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += parameters[i].n;
    json_object_set_new(record, "parameters", json_integer(count));
    json_object_set_new(record, "backend", backend_object(facts->session));
    json_object_set_new(record, "data", data_object(facts));
    set_text(record, "numerics", facts->session->numerics);
}

json_t *record_make(const struct record_facts *facts)
{
    const struct owner *owner = attempt_owner(facts->attempt);
    json_t *record = json_object();
    char run[256];

    snprintf(run, sizeof run, "%s-%.*s", attempt_label(facts->attempt),
             RUN_HASH_LENGTH, facts->identity);
    json_object_set_new(record, "schema", json_integer(RUN_SCHEMA));
    set_text(record, "name", facts->name);
    set_text(record, "run", run);
    set_text(record, "identity", facts->identity);
    set_text(record, "state", facts->state);
    set_text(record, "reason", facts->reason);
    set_text(record, "started", facts->started);
    set_time(record, "finished", time_now());
    set_text(record, "token", owner->token);
    set_text(record, "metric", facts->config->metric);
    json_object_set_new(record, "attempts", attempts_list(facts));
    json_object_set_new(record, "host", host_object(facts));
    json_object_set_new(record, "environment", environment_object());
    json_object_set_new(record, "build", build_object());
    json_object_set_new(record, "config", json_deep_copy(facts->settings));
    if (facts->session != NULL)
        add_session(record, facts);
    if (facts->session != NULL && facts->evaluator != NULL)
        add_baselines(record, facts);
    if (facts->outcome != NULL)
        add_outcome(record, facts);
    return record;
}
