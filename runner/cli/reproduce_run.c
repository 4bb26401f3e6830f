/* What can be said of a recorded run before it is repeated. */
#include "cli/reproduce_run.h"

#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/reproduce_data.h"
#include "cli/run_list.h"
#include "config/identity.h"
#include "data/dataset.h"
#include "results/csvlog.h"
#include "results/store.h"
#include "train/checkpoint.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"

void recorded_run_free(struct recorded_run *run)
{
    run_entry_free(&run->entry);
    experiment_free(&run->experiment);
    text_free(&run->altered);
}

static const char *text_at(const struct run_entry *entry, const char *group,
                           const char *key)
{
    return json_string_value(run_value(entry, group, key));
}

/* ---- run.json ------------------------------------------------------------ */

static int check_entry(struct recorded_run *run, struct m2_error *err)
{
    const struct run_entry *entry = &run->entry;

    if (entry->damage != NULL)
        return m2_fail(err, M2_E_RESULTS, "%s", entry->damage);
    if (entry->record == NULL)
        return m2_fail(err, M2_E_RESULTS,
                       "%s: there is no run.json: this is no run that could "
                       "be repeated",
                       entry->path);
    if (!entry->published)
        return m2_fail(err, M2_E_RESULTS,
                       "%s: this run is not finished (%s); there is nothing to "
                       "compare with yet",
                       entry->path, entry->state);
    run->identity = text_at(entry, NULL, "identity");
    if (run->identity == NULL || strlen(run->identity) != SHA256_HEX_SIZE - 1 ||
        strspn(run->identity, "0123456789abcdef") != SHA256_HEX_SIZE - 1)
        return m2_fail(err, M2_E_RESULTS,
                       "%s/run.json: no identity of 64 digits: altered or "
                       "damaged",
                       entry->path);
    return 0;
}

/* ---- how far its files go ------------------------------------------------ */

/* Steps of the first and the last row of metrics.csv; 0: none that is known. */
static void find_rows(const char *path, int64_t *first, int64_t *last)
{
    char *file = path_join(path, "metrics.csv", NULL);
    struct csv_table table;
    int column;

    *first = *last = 0;
    if (file != NULL && csv_table_read(file, &table, NULL) == 0) {
        column = csv_table_column(&table, "step");
        if (column >= 0 && table.n_rows > 0) {
            char **row = table.cells + (table.n_rows - 1) * table.n_columns;

            number_parse_int(table.cells[column], first);
            number_parse_int(row[column], last);
        }
        csv_table_free(&table);
    }
    free(file);
}

static int64_t last_checkpoint(const char *path)
{
    char *name = path_join(path, "checkpoints/last.safetensors", NULL);
    struct train_state state = {0};
    struct st_file file;

    if (name != NULL && checkpoint_read(name, NULL, &file, &state, NULL) == 0)
        st_free(&file);
    free(name);
    return state.step;
}

/* A run that crashed or ran out of memory can be compared as far as it came;
 * how it ended is a matter of the machine. */
static int find_last_step(struct recorded_run *run, struct m2_error *err)
{
    const char *path = run->entry.path, *reason;
    int64_t row, checkpoint;

    find_rows(path, &run->first_row, &row);
    if (strcmp(run->entry.state, "done") == 0 ||
        strcmp(run->entry.state, "diverged") == 0)
        return 0;
    checkpoint = last_checkpoint(path);
    run->last_step = row > checkpoint ? row : checkpoint;
    if (run->last_step > 0)
        return 0;
    reason = text_at(&run->entry, NULL, "reason");
    return m2_fail(err, M2_E_RESULTS,
                   "%s: ended as %s before its first row of metrics.csv (%s): "
                   "there is nothing to compare",
                   path, run->entry.state,
                   reason != NULL && *reason != '\0' ? reason : "no reason");
}

/* ---- overrides ----------------------------------------------------------- */

/* "seed: 7, recorded 0" for the first few keys whose texts differ; `allowed`
 * ones (NULL-terminated) do not count. */
static size_t add_other_keys(json_t *now, const json_t *then,
                             const char *const *allowed, struct text *out)
{
    const char *key;
    json_t *value;
    size_t n = 0;

    json_object_foreach (now, key, value) {
        const char *before = json_string_value(json_object_get(then, key));
        size_t i = 0;

        while (allowed[i] != NULL && strcmp(allowed[i], key) != 0)
            i++;
        if (allowed[i] != NULL || before == NULL ||
            strcmp(before, json_string_value(value)) == 0)
            continue;
        if (n++ < 5)
            text_addf(out, "%s%s is %.100s, the run had %.100s",
                      n > 1 ? "; " : "", key, json_string_value(value), before);
    }
    return n;
}

static int check_overrides(const struct recorded_run *run,
                           const struct experiment *base, struct m2_error *err)
{
    static const char *const allowed[] = {"data.path", "model.init_from",
                                          "device", "threads", NULL};
    const struct experiment *experiment = &run->experiment;
    json_t *now = settings_json(&experiment->schema, &experiment->config);
    json_t *then = settings_json(&base->schema, &base->config);
    struct text text = {0};
    int code = 0;

    if (now == NULL || then == NULL)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    else if (experiment->n_axes > 0 || experiment->sweep != NULL)
        code = m2_fail(err, M2_E_USAGE,
                       "reproduce: one run is repeated: no "
                       "lists of values, no sweep");
    else if (strcmp(experiment->config.device, "auto") == 0)
        code = m2_fail(err, M2_E_USAGE,
                       "reproduce: device=auto: say which device");
    else if (add_other_keys(now, then, allowed, &text) > 0)
        code =
            m2_fail(err, M2_E_USAGE,
                    "reproduce: a run is repeated as it was: only data.path, "
                    "model.init_from, device and threads can be given (%s); "
                    "`m2run run` trains another run",
                    text_string(&text));
    text_free(&text);
    json_decref(then);
    json_decref(now);
    return code;
}

/* ---- the identity -------------------------------------------------------- */

static int hash_init_from(const struct config *config,
                          char out[SHA256_HEX_SIZE], struct m2_error *err)
{
    uint8_t digest[SHA256_SIZE];
    int code;

    out[0] = '\0';
    if (config->model.init_from == NULL)
        return 0;
    if (!file_exists(config->model.init_from))
        return m2_fail(err, M2_E_DATA,
                       "model.init_from: there is no file %s, from which the "
                       "run began; model.init_from=FILE says where it is now",
                       config->model.init_from);
    code = sha256_file(config->model.init_from, M2_E_DATA, digest, err);
    if (code == 0)
        sha256_hex(digest, out);
    return code;
}

/* Which of identity, config.yaml and init_from does not fit the others. */
static int explain_identity(struct recorded_run *run,
                            const struct experiment *base, const char *found,
                            const char *init_sha256, struct m2_error *err)
{
    static const char *const allowed[] = {"name", "threads", "data.path",
                                          "model.init_from", NULL};
    json_t *now = settings_json(&base->schema, &base->config);
    struct text keys = {0};
    size_t n = add_other_keys(now, run_value(&run->entry, NULL, "config"),
                              allowed, &keys);
    int code = 0;

    if (now == NULL)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    else if (n == 0 && *init_sha256 != '\0')
        code = m2_fail(err, M2_E_DATA,
                       "model.init_from: %s (sha256 %s) is not the file that "
                       "the run began from: with it the identity is %.12s, the "
                       "run's is %.12s; model.init_from=FILE says where it is",
                       run->experiment.config.model.init_from, init_sha256,
                       found, run->identity);
    else if (n == 0)
        text_addf(&run->altered,
                  "run.json: its identity %.12s is not that of config.yaml and "
                  "data, %.12s: one of them was altered",
                  run->identity, found);
    else
        text_addf(&run->altered,
                  "config.yaml: does not fit the run's identity %.12s (it is "
                  "that of %.12s): %s%s",
                  run->identity, found, text_string(&keys),
                  n > 5 ? "; ..." : "");
    text_free(&keys);
    json_decref(now);
    return code != 0 ? code : text_check(&run->altered, err);
}

/* The identity of what will be computed, and of what is recorded: config.yaml
 * with `fingerprint`. */
static int hash_both(struct recorded_run *run, const struct experiment *base,
                     const char *fingerprint, const char *init_sha256,
                     char found[SHA256_HEX_SIZE], struct m2_error *err)
{
    const struct config *config = &run->experiment.config;
    struct identity_facts facts = {
        .init_sha256 = *init_sha256 != '\0' ? init_sha256 : NULL};
    struct text now = {0};
    int code = dataset_fingerprint(config, &now, err);

    facts.data = text_string(&now);
    if (code == 0)
        code = identity_hash(&run->experiment.schema, config, &facts,
                             run->new_identity, err);
    facts.data = fingerprint != NULL ? fingerprint : text_string(&now);
    if (code == 0)
        code = identity_hash(&base->schema, &base->config, &facts, found, err);
    text_free(&now);
    return code;
}

/* Data are those of the run by what run.json says of them, and that is proven
 * by the identity. */
static int check_identity(struct recorded_run *run,
                          const struct experiment *base, struct m2_error *err)
{
    const struct config *config = &run->experiment.config;
    const char *fingerprint = text_at(&run->entry, "data", "fingerprint");
    char init_sha256[SHA256_HEX_SIZE], found[SHA256_HEX_SIZE];
    struct m2_error cause;
    int code = hash_init_from(config, init_sha256, err);
    int data = reproduce_check_data(&config->data, fingerprint, &cause);

    if (code == 0 && data != 0 && data != M2_E_DATA)
        return m2_fail(err, data, "%s", cause.text);
    if (code == 0 && data == 0)
        code = hash_both(run, base, fingerprint, init_sha256, found, err);
    if (code == 0 && data != 0 &&
        hash_both(run, base, NULL, init_sha256, found, NULL) == 0 &&
        strcmp(found, run->identity) == 0)
        text_addf(&run->altered,
                  "run.json: its data are not those of its identity %.12s, "
                  "but the data found are",
                  run->identity);
    else if (code == 0 && data != 0)
        code = m2_fail(err, data, "%s", cause.text);
    else if (code == 0 && strcmp(found, run->identity) != 0)
        code = explain_identity(run, base, found, init_sha256, err);
    return code;
}

/* ---- the run ------------------------------------------------------------- */

static int check_config(struct recorded_run *run, const char *config,
                        struct m2_error *err)
{
    struct experiment base;
    int code = load_experiment(config, NULL, 0, &base, err);

    if (code == 0)
        code = check_overrides(run, &base, err);
    if (code == 0)
        code = check_identity(run, &base, err);
    experiment_free(&base);
    return code;
}

int recorded_run_open(const char *path, const char *const *overrides, size_t n,
                      struct recorded_run *out, struct m2_error *err)
{
    char *config = path_join(path, "config.yaml", err);
    int code = config == NULL ? M2_E_MEMORY : 0;

    *out = (struct recorded_run){0};
    if (code == 0)
        code = run_entry_load(path, &out->entry, err);
    if (code == 0)
        code = check_entry(out, err);
    if (code == 0)
        code = find_last_step(out, err);
    if (code == 0)
        code = file_check_regular(config, M2_E_RESULTS, err);
    if (code == 0)
        code = load_experiment(config, overrides, n, &out->experiment, err);
    if (code == 0)
        code = check_config(out, config, err);
    free(config);
    return code;
}

/* The run's own label, when its record has one. */
static char *find_label(const struct recorded_run *run, struct m2_error *err)
{
    const char *name = text_at(&run->entry, NULL, "run");
    const char *end = name != NULL ? strrchr(name, '-') : NULL;
    struct text label = {0};

    if (end != NULL && end - name <= RUN_LABEL_MAX)
        text_addf(&label, "%.*s", (int)(end - name), name);
    if (!run_label_is_valid(text_string(&label))) {
        text_clear(&label);
        text_add(&label, "run");
    }
    return text_steal(&label, err);
}

int recorded_run_record(const struct recorded_run *run, struct text *out,
                        char **label_out, struct m2_error *err)
{
    struct record_run one = {.label = find_label(run, err)};
    const struct sweep_record record = {&one, 1};
    int code = one.label == NULL ? M2_E_MEMORY : 0;

    memcpy(one.identity, run->new_identity, sizeof one.identity);
    if (code == 0)
        code = sweep_record_text(&run->experiment, &record, NULL, 0, out, err);
    if (code == 0) {
        *label_out = one.label;
        one.label = NULL;
    }
    record_run_free(&one);
    return code;
}
