/* Rules between keys: what no table of single keys can say. */
#include <string.h>

#include "config/binding.h"
#include "config/value.h"
#include "util/suggest.h"

bool rules_can_check(const struct rules *rules, const char *const *paths)
{
    const struct binding *binding = rules->binding;

    for (; *paths != NULL; paths++)
        if (binding->is_wrong[schema_find(binding->schema, *paths)])
            return false;
    return true;
}

struct place rules_place(const struct rules *rules, const char *const *paths)
{
    const struct binding *binding = rules->binding;
    struct place place = binding->whole;
    bool found = false;

    for (; *paths != NULL; paths++) {
        const struct node *node =
            binding->nodes[schema_find(binding->schema, *paths)];

        if (node == NULL)
            continue;
        if (node->key == NULL)
            return node->place; /* a value of an axis: what changed last */
        if (!found)
            place = node->kind == NODE_MAP ? node->key->place : node->place;
        found = true;
    }
    return place;
}

bool rules_is_set(const struct rules *rules, const char *path)
{
    const struct binding *binding = rules->binding;

    return binding->nodes[schema_find(binding->schema, path)] != NULL;
}

/* ---- device ------------------------------------------------------------- */

/* A word of [a-z0-9_], then perhaps ":" and a number; or a file. */
static bool is_device(const char *device)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t length = strspn(device, word);
    const char *index = device + length + 1;

    if (strchr(device, '/') != NULL)
        return true;
    if (length == 0 || device[length] == '\0')
        return length > 0;
    return device[length] == ':' && *index != '\0' && strlen(index) < 6 &&
           index[strspn(index, "0123456789")] == '\0';
}

static void check_device(const struct rules *rules)
{
    static const char *const habits[][2] = {
        {"gpu gpu:0 nvidia cudnn", "cuda"},
        {"gpu:1", "cuda:1"},
        {"cpu:0 host x86 native", "cpu"},
        {"default best any auto:0 auto:1", "auto"},
        {"reference", "ref"},
    };
    const char *device = rules->config->device;
    struct place place = rules_place(rules, KEYS("device"));

    if (!rules_can_check(rules, KEYS("device")))
        return;
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++) {
        if (!suggest_is_listed(habits[i][0], device))
            continue;
        message_error(rules->messages, place,
                      "'device' cannot be '%s'; did you mean '%s'?", device,
                      habits[i][1]);
        return;
    }
    if (!is_device(device))
        message_error(rules->messages, place,
                      "'device' cannot be '%s'; it is cpu, cuda, cuda:1, auto, "
                      "ref, or the name or file of a backend plugin",
                      device);
}

/* TF32 is a way to compute with f32. */
static void check_tf32(const struct rules *rules)
{
    if (!rules_can_check(rules, KEYS("tf32", "dtype")) ||
        !rules->config->tf32 || rules->config->dtype == M2_F32)
        return;
    message_error(rules->messages, rules_place(rules, KEYS("tf32", "dtype")),
                  "'tf32' cannot be true with 'dtype' f64: it rounds the "
                  "factors of products of f32; leave one of them out");
}

/* ---- data --------------------------------------------------------------- */

static bool is_same_list(char *const *a, size_t n_a, char *const *b, size_t n_b)
{
    size_t i = 0;

    while (i < n_a && i < n_b && strcmp(a[i], b[i]) == 0)
        i++;
    return i == n_a && i == n_b;
}

static void check_columns(const struct rules *rules)
{
    const struct config_data *data = &rules->config->data;
    bool needed = rules->config->model.head == HEAD_FORECAST;

    if (!rules_can_check(rules,
                         KEYS("data.features", "data.target", "model.head")))
        return;
    if (needed && data->n_features == 0)
        message_error(rules->messages,
                      rules_place(rules, KEYS("data.features", "data")),
                      "'data.features' is needed: what the model sees, as "
                      "[log_return(close)]");
    if (needed && data->n_targets == 0)
        message_error(rules->messages,
                      rules_place(rules, KEYS("data.target", "data")),
                      "'data.target' is needed: what the model forecasts, as "
                      "[log_return(close)]");
    if (rules_can_check(rules, KEYS("data.channels")) &&
        data->channels == CHANNELS_INDEPENDENT && data->n_features > 0 &&
        data->n_targets > 0 &&
        !is_same_list(data->features, data->n_features, data->targets,
                      data->n_targets))
        message_error(rules->messages,
                      rules_place(rules, KEYS("data.channels", "data.target")),
                      "independent channels forecast themselves: "
                      "'data.target' must be the same list as "
                      "'data.features'");
}

static void check_paths(const struct rules *rules)
{
    const struct config_data *data = &rules->config->data;

    if (!rules_can_check(rules, KEYS("data.source", "data.path")) ||
        data->n_paths > 0)
        return;
    if (strcmp(data->source, "csv") == 0 || strcmp(data->source, "dbn") == 0)
        message_error(
            rules->messages,
            rules_place(rules, KEYS("data.path", "data.source", "data")),
            "'data.path' is needed: the file, pattern or directory "
            "that %s reads",
            data->source);
}

/* ---- train -------------------------------------------------------------- */

static void check_batch(const struct rules *rules)
{
    const struct config_train *train = &rules->config->train;

    if (!rules_can_check(rules, KEYS("train.microbatch", "train.batch_size")) ||
        train->microbatch == 0 || train->batch_size % train->microbatch == 0)
        return;
    message_error(
        rules->messages,
        rules_place(rules, KEYS("train.microbatch", "train.batch_size")),
        "'train.microbatch' %lld does not divide "
        "'train.batch_size' %lld",
        (long long)train->microbatch, (long long)train->batch_size);
}

static void check_length(const struct rules *rules)
{
    const struct config_train *train = &rules->config->train;
    const char *const *paths = KEYS("train.epochs", "train.steps");

    if (rules_can_check(rules, paths) && train->epochs == 0 &&
        train->steps == 0)
        message_error(rules->messages, rules_place(rules, paths),
                      "'train.epochs' or 'train.steps' is needed; both are "
                      "null");
}

static void check_loss(const struct rules *rules)
{
    bool is_lm = rules->config->model.head == HEAD_LM;
    bool is_entropy = rules->config->train.loss == LOSS_CROSS_ENTROPY;
    const char *const *paths = KEYS("train.loss", "model.head");

    if (!rules_can_check(rules, paths) || is_lm == is_entropy)
        return;
    if (is_entropy)
        message_error(rules->messages, rules_place(rules, paths),
                      "'train.loss' cross_entropy needs 'model.head' lm; a "
                      "forecast has mse, mae or huber");
    else
        message_error(rules->messages, rules_place(rules, paths),
                      "'model.head' lm needs 'train.loss' cross_entropy");
}

static void check_metric(const struct rules *rules)
{
    const struct config *config = rules->config;
    const struct split_bound *val = &config->data.split.val;
    const char *const *paths = KEYS("data.split.val", "metric");

    if (!rules_can_check(rules, paths))
        return;
    if (strncmp(config->metric, "val/", 4) == 0 &&
        val->kind == BOUND_FRACTION && val->fraction == 0)
        message_error(rules->messages, rules_place(rules, paths),
                      "'metric' is %s, but 'data.split.val' is 0: give a "
                      "validation part, or metric: train/loss",
                      config->metric);
    if (rules_can_check(rules, KEYS("model.head")) &&
        config->model.head == HEAD_LM &&
        strstr(config->metric, "/loss") == NULL)
        message_error(rules->messages,
                      rules_place(rules, KEYS("metric", "model.head")),
                      "'metric' %s is for forecasts; 'model.head' lm has "
                      "val/loss and train/loss",
                      config->metric);
}

static void check_schedule(const struct rules *rules)
{
    const struct config_train *train = &rules->config->train;
    const char *const *paths =
        KEYS("train.schedule.warmup_steps", "train.steps");

    if (rules_can_check(rules, paths) && train->steps > 0 &&
        train->schedule.warmup_steps >= train->steps)
        message_warning(rules->messages, rules_place(rules, paths),
                        "'train.schedule.warmup_steps' %lld leaves nothing of "
                        "'train.steps' %lld: the learning rate never reaches "
                        "its height",
                        (long long)train->schedule.warmup_steps,
                        (long long)train->steps);
}

/* A setting that has no effect is a mistake more often than not. */
static void warn_idle(const struct rules *rules, const char *path, bool is_used,
                      const char *reason)
{
    const struct schema *schema = rules->binding->schema;
    size_t row = schema_find(schema, path);

    if (is_used || !rules_is_set(rules, path) ||
        value_is_default(schema, row, rules->config) ||
        rules->binding->is_wrong[row])
        return;
    message_warning(rules->messages, rules->binding->nodes[row]->place,
                    "'%s' has no effect: %s", path, reason);
}

static void check_idle(const struct rules *rules)
{
    const struct config *config = rules->config;
    bool is_lm = config->model.head == HEAD_LM;
    enum spectral_kind mode = config->train.spectral_radius.mode;

    warn_idle(rules, "train.huber_delta", config->train.loss == LOSS_HUBER,
              "'train.loss' is not huber");
    warn_idle(rules, "train.spectral_radius.rho", mode != SPECTRAL_OFF,
              "'train.spectral_radius.mode' is off");
    warn_idle(rules, "train.spectral_radius.dt_ref", mode == SPECTRAL_DISCRETE,
              "'train.spectral_radius.mode' is not discrete");
    warn_idle(rules, "train.early_stopping.min_delta",
              config->train.early_stopping.patience > 0,
              "'train.early_stopping.patience' is 0");
    warn_idle(rules, "train.schedule.min_ratio",
              config->train.schedule.type != SCHEDULE_CONSTANT,
              "'train.schedule.type' is constant");
    warn_idle(rules, "tf32",
              strcmp(config->device, "cpu") != 0 &&
                  strcmp(config->device, "ref") != 0,
              "'device' is not cuda");
    warn_idle(rules, "model.vocab_size", is_lm, "'model.head' is not lm");
    warn_idle(rules, "model.tie_embedding", is_lm, "'model.head' is not lm");
}

void binding_check_rules(const struct binding *binding,
                         const struct config *config, struct messages *messages)
{
    struct rules rules = {binding, config, messages};

    check_device(&rules);
    check_tf32(&rules);
    check_columns(&rules);
    check_paths(&rules);
    rules_check_split(&rules);
    rules_check_model(&rules);
    check_batch(&rules);
    check_length(&rules);
    check_loss(&rules);
    check_metric(&rules);
    check_schedule(&rules);
    check_idle(&rules);
}
