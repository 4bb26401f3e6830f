/* Planning runs. */
#include "predict/planner.h"

#include <stdlib.h>
#include <string.h>

#include "data/target.h"
#include "plugins/loader.h"
#include "train/trainer.h"
#include "util/memory.h"
#include "util/process.h"

struct planner {
    struct session session; /* device and dataset of the last run */
    const struct config *config;
    bool has_dataset;
    uint64_t base;         /* resident bytes with the device open */
    uint64_t loading_peak; /* while the dataset was loaded */
};

int planner_create(struct planner **out, struct m2_error *err)
{
    *out = memory_zeroed(1, sizeof **out, err);
    return *out == NULL ? M2_E_MEMORY : 0;
}

void planner_free(struct planner *planner)
{
    if (planner == NULL)
        return;
    session_close(&planner->session);
    free(planner);
}

/* ---- what stays the same ------------------------------------------------ */

static bool same_texts(char *const *a, size_t n_a, char *const *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return true;
}

static bool same_options(const struct config_data *a,
                         const struct config_data *b)
{
    if (a->n_options != b->n_options)
        return false;
    for (size_t i = 0; i < a->n_options; i++)
        if (!same_texts(a->options[i].texts, a->options[i].n_texts,
                        b->options[i].texts, b->options[i].n_texts))
            return false;
    return true;
}

static bool same_bound(const struct split_bound *a, const struct split_bound *b)
{
    return a->kind == b->kind && a->fraction == b->fraction &&
           a->rows == b->rows && a->time_ns == b->time_ns;
}

/* Whether two configs give one dataset. */
static bool same_dataset(const struct config *left, const struct config *right)
{
    const struct config_data *a = &left->data, *b = &right->data;

    return left->seed == right->seed && strcmp(a->source, b->source) == 0 &&
           same_texts(a->paths, a->n_paths, b->paths, b->n_paths) &&
           same_options(a, b) &&
           same_texts(a->features, a->n_features, b->features, b->n_features) &&
           same_texts(a->targets, a->n_targets, b->targets, b->n_targets) &&
           a->window == b->window && a->horizon == b->horizon &&
           a->stride == b->stride && a->eval_stride == b->eval_stride &&
           a->channels == b->channels && a->max_gap == b->max_gap &&
           a->fill == b->fill && a->missing == b->missing &&
           same_bound(&a->split.train, &b->split.train) &&
           same_bound(&a->split.val, &b->split.val) &&
           same_bound(&a->split.test, &b->split.test) &&
           a->split.embargo == b->split.embargo &&
           a->split.context == b->split.context && a->scale == b->scale;
}

static int open_device(struct planner *planner, const struct config *config,
                       int threads, struct m2_error *err)
{
    struct session *session = &planner->session;
    int code = 0;

    if (session->device != NULL &&
        strcmp(planner->config->device, config->device) == 0 &&
        planner->config->dtype == config->dtype)
        return 0;
    device_close(session->device);
    session->device = NULL;
    code = session_open_device(config, threads, session, err);
    if (code == 0 && planner->base == 0)
        planner->base = process_memory().now;
    return code;
}

static int open_dataset(struct planner *planner, const struct config *config,
                        struct m2_error *err)
{
    const struct dataset_request request = {.config = config};
    struct session *session = &planner->session;
    int code;

    if (planner->has_dataset && same_dataset(planner->config, config))
        return 0;
    dataset_free(&session->dataset);
    planner->has_dataset = false;
    if (!process_memory_reset_peak())
        planner->loading_peak = 0;
    code = dataset_load(&request, &session->dataset, err);
    planner->loading_peak = process_memory().peak;
    planner->has_dataset = code == 0;
    return code;
}

/* ---- counting ---------------------------------------------------------- */

static uint64_t dataset_bytes(const struct dataset *d)
{
    uint64_t values = (uint64_t)(d->S * (d->F + 3 * d->O));
    uint64_t windows = (uint64_t)d->live.n;

    for (int p = 0; p < N_PARTS; p++)
        windows += (uint64_t)d->parts[p].n;
    return values * sizeof(double) + (uint64_t)d->S * (sizeof(int64_t) + 1) +
           windows * sizeof(int32_t);
}

/* Host memory of the loop: three arenas on their way to a checkpoint,
 * predictions of the largest part, the order of an epoch. */
static uint64_t copy_bytes(const struct dataset *d, const struct config *config,
                           uint64_t arena)
{
    int64_t most = d->parts[PART_VAL].n > d->parts[PART_TEST].n
                       ? d->parts[PART_VAL].n
                       : d->parts[PART_TEST].n;

    return 3 * arena +
           (uint64_t)(most * target_width(d, &config->data)) * sizeof(double) +
           (uint64_t)d->parts[PART_TRAIN].n * sizeof(size_t);
}

static void add_steps(const struct dataset *d, const struct config *config,
                      struct run_plan *out)
{
    int64_t B = config->train.batch_size, n = d->parts[PART_TRAIN].n;

    out->rows = d->S;
    for (int p = 0; p < N_PARTS; p++)
        out->windows[p] = d->parts[p].n;
    out->steps_per_epoch = (n + B - 1) / B;
    out->steps = train_total_steps(config, n);
    out->epochs = (double)out->steps / (double)out->steps_per_epoch;
}

static void add_memory(const struct planner *planner,
                       const struct config *config,
                       const struct model_spec *spec, struct run_plan *out)
{
    const struct session *session = &planner->session;
    const struct model_plan *model = &out->model;
    uint64_t arena = model->parameter_bytes;
    struct device_needs needs;

    session_needs(config, &session->dataset, spec, model, &needs);
    out->tree_bytes = needs.tree;
    out->series_bytes = needs.series;
    out->device_bytes = needs.all;
    out->device_limit = session->facts.memory_bytes;
    out->device_is_host = session_device_is_host(session);
    out->base_bytes = planner->base;
    out->dataset_bytes = dataset_bytes(&session->dataset);
    out->copy_bytes = copy_bytes(&session->dataset, config, arena);
    out->process_bytes = out->base_bytes + out->dataset_bytes + out->copy_bytes;
    if (out->device_is_host)
        out->process_bytes += out->device_bytes;
    if (out->process_bytes < planner->loading_peak)
        out->process_bytes = planner->loading_peak;
}

int planner_plan(struct planner *planner, const struct config *config,
                 int threads, struct run_plan *out, struct m2_error *err)
{
    struct model_spec spec;
    int code = open_device(planner, config, threads, err);

    *out = (struct run_plan){0};
    if (code == 0)
        code = open_dataset(planner, config, err);
    planner->config = config;
    if (code != 0)
        return code;
    session_model_spec(config, &planner->session.dataset, true, &spec);
    code = model_plan(&spec, planner->session.device, config->dtype,
                      &out->model, err);
    if (code != 0)
        return code;
    add_steps(&planner->session.dataset, config, out);
    add_memory(planner, config, &spec, out);
    return 0;
}

const char *planner_numerics(const struct planner *planner)
{
    return planner->session.numerics;
}
