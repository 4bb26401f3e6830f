/* Resolving an experiment into runs with identities. */
#include "cli/run_list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/device_ask.h"
#include "config/identity.h"
#include "data/dataset.h"
#include "results/store.h"
#include "util/file.h"
#include "util/json.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"

enum { MAX_DOUBLES_SHOWN = 3 };

void resolved_sweep_free(struct resolved_sweep *resolved)
{
    sweep_record_free(&resolved->record);
    sweep_free(&resolved->sweep);
    experiment_free(&resolved->experiment);
}

json_t *settings_json(const struct schema *schema, const struct config *config)
{
    struct json_builder object = json_build();
    struct text value = {0};

    for (size_t row = 0; row < schema->n_rows; row++) {
        enum key_type type = schema->rows[row].key->type;

        if (type == KEY_BLOCK || type == KEY_FORMAT)
            continue;
        text_clear(&value);
        config_write_value(schema, row, config, &value);
        object.failed = object.failed || text_check(&value, NULL) != 0;
        json_add(&object, schema->rows[row].path,
                 json_string(text_string(&value)));
    }
    text_free(&value);
    return json_built(&object);
}

int resolve_identity(const struct schema *schema, const struct config *config,
                     const char *fingerprint, char out[SHA256_HEX_SIZE],
                     struct m2_error *err)
{
    struct identity_facts facts = {.data = *fingerprint != '\0' ? fingerprint
                                                                : NULL};
    char hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];

    if (config->model.init_from != NULL) {
        int code =
            sha256_file(config->model.init_from, M2_E_CONFIG, digest, err);

        if (code != 0)
            return code;
        facts.init_sha256 = sha256_hex(digest, hex);
    }
    return identity_hash(schema, config, &facts, out, err);
}

static int add_setting(struct record_run *run, const char *key,
                       const char *value, struct m2_error *err)
{
    struct text text = {0};

    text_addf(&text, "%s=%s", key, value);
    return string_list_add_owned(&run->set, text_steal(&text, err), err);
}

/* A text that is no number or word of the schema, as YAML takes literally. */
static int add_text_setting(struct record_run *run, const char *key,
                            const char *value, struct m2_error *err)
{
    struct text quoted = {0};
    int code;

    text_add_char(&quoted, '\'');
    for (const char *p = value; *p != '\0'; p++) {
        if (*p == '\'')
            text_add_char(&quoted, '\'');
        text_add_char(&quoted, *p);
    }
    text_add_char(&quoted, '\'');
    code = text_check(&quoted, err);
    if (code == 0)
        code = add_setting(run, key, text_string(&quoted), err);
    text_free(&quoted);
    return code;
}

static int replace(char **slot, const char *value, struct m2_error *err)
{
    char *copy = memory_string(value, err);

    if (copy == NULL)
        return M2_E_MEMORY;
    free(*slot);
    *slot = copy;
    return 0;
}

/* `auto` becomes the backend it stands for, so that the run is the same
 * wherever it is continued. */
static int fix_device(struct resolved_sweep *resolved, size_t i,
                      struct m2_error *err)
{
    struct config *config = &resolved->sweep.runs[i].config;
    struct device_answer answer;
    int code = 0;

    if (strcmp(config->device, "auto") != 0)
        return 0;
    if (resolved->auto_why[0] == '\0') {
        code = device_ask("auto", &answer, err);
        if (code == 0 && answer.why[0] == '\0')
            code = m2_fail(err, M2_E_DEVICE, "%s", answer.reason);
        if (code != 0)
            return code;
        memcpy(resolved->auto_why, answer.why, sizeof resolved->auto_why);
        memcpy(resolved->auto_device, answer.backend,
               sizeof resolved->auto_device);
        log_info("%s", resolved->auto_why);
    }
    code = replace(&config->device, resolved->auto_device, err);
    return code != 0 ? code
                     : add_text_setting(&resolved->record.runs[i], "device",
                                        resolved->auto_device, err);
}

/* The best checkpoint of a run, or the last one of a run that keeps no best. */
static char *checkpoint_of(const char *dir, struct m2_error *err)
{
    char *best = path_join(dir, "checkpoints/best.safetensors", err);

    if (best == NULL || file_exists(best))
        return best;
    free(best);
    return path_join(dir, "checkpoints/last.safetensors", err);
}

/* init_from may name a run. */
static int fix_init_from(struct config *config, struct record_run *run,
                         const char *root, struct m2_error *err)
{
    char *dir = NULL, *file = NULL;
    int code;

    if (config->model.init_from == NULL ||
        (file_exists(config->model.init_from) &&
         !file_is_dir(config->model.init_from)))
        return 0;
    code = store_resolve(root, config->model.init_from, &dir, err);
    if (code == 0) {
        file = checkpoint_of(dir, err);
        code = file == NULL ? M2_E_MEMORY
                            : replace(&config->model.init_from, file, err);
    }
    if (code == 0 && !text_is_utf8(file))
        code = m2_fail(err, M2_E_CONFIG,
                       "model.init_from: %s: a file must have a name in "
                       "UTF-8, and so must its folders",
                       file);
    if (code == 0)
        code = add_text_setting(run, "model.init_from", file, err);
    free(file);
    free(dir);
    return code;
}

/* Runs that read the same data follow each other: hash it once. */
static bool same_data(const struct config_data *a, const struct config_data *b)
{
    if (strcmp(a->source, b->source) != 0 || a->n_paths != b->n_paths)
        return false;
    for (size_t i = 0; i < a->n_paths; i++)
        if (strcmp(a->paths[i], b->paths[i]) != 0)
            return false;
    return true;
}

static int describe_run(struct resolved_sweep *resolved, size_t i,
                        const char *root, struct m2_error *err)
{
    struct sweep_run *run = &resolved->sweep.runs[i];
    struct record_run *out = &resolved->record.runs[i];
    char seed[24];
    int code = 0;

    out->label = memory_string(run->label, err);
    if (out->label == NULL)
        return M2_E_MEMORY;
    for (size_t k = 0; code == 0 && k < resolved->sweep.n_axes; k++)
        if (run->settings[k].value != NULL)
            code = add_setting(out, run->settings[k].key,
                               run->settings[k].value, err);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->config.seed);
    if (code == 0)
        code = add_setting(out, "seed", seed, err);
    if (code == 0)
        code = fix_device(resolved, i, err);
    return code != 0 ? code : fix_init_from(&run->config, out, root, err);
}

static int resolve_runs(struct resolved_sweep *resolved, const char *root,
                        struct m2_error *err)
{
    struct sweep *sweep = &resolved->sweep;
    struct sweep_record *record = &resolved->record;
    struct text fingerprint = {0};
    int code = 0;

    record->runs = memory_zeroed(sweep->n_runs, sizeof *record->runs, err);
    if (record->runs == NULL)
        return M2_E_MEMORY;
    record->n_runs = sweep->n_runs;
    for (size_t i = 0; code == 0 && i < sweep->n_runs; i++) {
        struct config *config = &sweep->runs[i].config;

        code = describe_run(resolved, i, root, err);
        if (code == 0 &&
            (i == 0 ||
             !same_data(&config->data, &sweep->runs[i - 1].config.data))) {
            text_clear(&fingerprint);
            code = dataset_fingerprint(config, &fingerprint, err);
        }
        if (code == 0)
            code = resolve_identity(&resolved->experiment.schema, config,
                                    text_string(&fingerprint),
                                    record->runs[i].identity, err);
    }
    text_free(&fingerprint);
    return code;
}

/* ---- runs that are the same ---------------------------------------------- */

static int compare_identities(const void *left, const void *right,
                              void *context)
{
    const struct record_run *runs = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order = strcmp(runs[a].identity, runs[b].identity);

    return order != 0 ? order : a < b ? -1 : a > b;
}

/* same_as[i]: the first run with the identity of run i. */
static int find_doubles(const struct sweep_record *record, size_t *same_as,
                        struct m2_error *err)
{
    size_t n = record->n_runs;
    size_t *order = memory_zeroed(n, sizeof *order, err);

    if (order == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, compare_identities, record->runs);
    for (size_t i = 0; i < n; i++) {
        bool is_double =
            i > 0 && strcmp(record->runs[order[i]].identity,
                            record->runs[order[i - 1]].identity) == 0;

        same_as[order[i]] = is_double ? same_as[order[i - 1]] : order[i];
    }
    free(order);
    return 0;
}

/* How many, and the first few by name. */
static void tell_doubles(const struct sweep_record *record,
                         const size_t *same_as)
{
    struct text text = {0};
    size_t n = 0;

    for (size_t i = 0; i < record->n_runs; i++) {
        if (same_as[i] == i)
            continue;
        if (n++ < MAX_DOUBLES_SHOWN)
            text_addf(&text, "%s%s is %s", n == 1 ? "" : ", ",
                      record->runs[i].label, record->runs[same_as[i]].label);
    }
    if (n > 0)
        log_info("%zu run%s the same as another and left out: %s%s", n,
                 n == 1 ? " is" : "s are", text_string(&text),
                 n > MAX_DOUBLES_SHOWN ? ", ..." : "");
    text_free(&text);
}

/* Different settings may be one run: the same data under two names, or two
 * indices of a device. */
static int fold_doubles(struct resolved_sweep *resolved, struct m2_error *err)
{
    struct sweep_record *record = &resolved->record;
    size_t n = record->n_runs, kept = 0;
    size_t *same_as = memory_zeroed(n, sizeof *same_as, err);
    bool *is_double = memory_zeroed(n, sizeof *is_double, err);
    int code = same_as == NULL || is_double == NULL
                   ? M2_E_MEMORY
                   : find_doubles(record, same_as, err);

    if (code == 0) {
        tell_doubles(record, same_as);
        for (size_t i = 0; i < n; i++) {
            is_double[i] = same_as[i] != i;
            if (is_double[i])
                record_run_free(&record->runs[i]);
            else
                record->runs[kept++] = record->runs[i];
        }
        record->n_runs = kept;
        sweep_fold(&resolved->sweep, is_double);
    }
    free(is_double);
    free(same_as);
    return code;
}

int resolve_sweep(const char *path, const char *const *overrides,
                  size_t n_overrides, const char *root,
                  struct resolved_sweep *out, struct m2_error *err)
{
    const struct experiment_request request = {
        .path = path,
        .overrides = overrides,
        .n_overrides = n_overrides,
        .lookup = &source_lookup_plugins,
    };
    struct messages messages = {0};
    struct text text = {0};
    int code;

    *out = (struct resolved_sweep){0};
    code = sweep_load(&request, &out->experiment, &out->sweep, &messages, err);
    messages_print(&messages, &text);
    fputs(text_string(&text), stderr);
    text_free(&text);
    messages_free(&messages);
    if (code == 0)
        code = resolve_runs(out, root, err);
    return code != 0 ? code : fold_doubles(out, err);
}
