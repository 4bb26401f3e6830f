/* Opening and closing what a run computes with. */
#include "train/session.h"

#include <string.h>

#include "backends/select.h"
#include "data/scaling.h"
#include "data/target.h"
#include "plugins/loader.h"
#include "train/gradient_tree.h"
#include "util/capacity.h"
#include "util/log.h"
#include "util/number.h"

void session_model_spec(const struct config *config,
                        const struct dataset *dataset, bool training,
                        struct model_spec *out)
{
    *out = (struct model_spec){
        .config = &config->model,
        .n_features = dataset->F,
        .n_outputs = target_width(dataset, &config->data),
        .n_vocab = config->model.vocab_size,
        .B = config->train.microbatch > 0 && training
                 ? config->train.microbatch
                 : config->train.batch_size,
        .L = config->data.window,
        .loss = config->train.loss,
        .huber_delta = config->train.huber_delta,
        .training = training,
    };
}

/* slot as in struct session_request. */
static int open_device(const struct config *config, int threads, int slot,
                       struct session *session, struct m2_error *err)
{
    struct m2_open wanted = {
        .real = config->dtype,
        .threads = threads,
        .flags = config->tf32 ? M2_OPEN_TF32 : 0,
    };
    struct device_choice choice;
    char why[256];
    int code = device_choose(config->device, &choice, why, err);

    wanted.index = slot > 0 ? slot - 1 : choice.index;
    if (code == 0 && why[0] != '\0')
        log_info("%s", why);
    if (code == 0)
        code = device_load(&choice, &session->backend, err);
    if (code == 0)
        code =
            device_facts(session->backend, wanted.index, &session->facts, err);
    if (code == 0)
        code =
            device_open_with(session->backend, &wanted, &session->device, err);
    if (code == 0)
        snprintf(session->numerics, sizeof session->numerics, "%s %u, %.200s",
                 session->backend->descriptor->name,
                 session->backend->descriptor->numerics, session->facts.name);
    session->index = wanted.index;
    return code;
}

int session_open_device(const struct config *config, int threads,
                        struct session *session, struct m2_error *err)
{
    return open_device(config, threads, 0, session, err);
}

bool session_device_is_host(const struct session *session)
{
    const char *name = session->backend->descriptor->name;

    return strcmp(name, "cpu") == 0 || strcmp(name, "ref") == 0;
}

static int64_t n_leaves(const struct config_train *train)
{
    int64_t size =
        train->microbatch > 0 ? train->microbatch : train->batch_size;

    return (train->batch_size + size - 1) / size;
}

void session_needs(const struct config *config, const struct dataset *dataset,
                   const struct model_spec *spec, const struct model_plan *plan,
                   struct device_needs *out)
{
    int64_t leaves = spec->training ? n_leaves(&config->train) : 1;

    /* a batch of one microbatch needs no tree */
    out->tree = leaves > 1 ? (uint64_t)gradient_tree_arenas(leaves) *
                                 plan->parameter_bytes
                           : 0;
    out->series = batcher_bytes(dataset, config, spec->B);
    out->all = plan->parameter_bytes + plan->gradient_bytes +
               plan->moment_bytes + plan->activation_bytes +
               plan->workspace_bytes + out->tree + out->series;
}

/* "the run needs 5.2 GiB on cuda:0 (plan), 3.1 GiB are free" */
static void say_needs(const struct session *session, const char *when,
                      char *out, size_t size)
{
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];

    snprintf(out, size, "the run needs %s on %s (plan), %s %s",
             number_print_bytes(session->needs.all, needed),
             device_label(session->device),
             number_print_bytes(session->free_bytes, there), when);
}

int session_explain(const struct session *session, int code,
                    struct m2_error *err)
{
    struct m2_error cause;
    char needs[200];

    if (code != M2_E_MEMORY || err == NULL || session->needs.all == 0 ||
        session->free_bytes == 0 || session_device_is_host(session))
        return code;
    cause = *err;
    say_needs(session, "were free when it began", needs, sizeof needs);
    return m2_fail(err, code, "%s; %.1500s", needs, cause.text);
}

/* An accelerator that is full cannot even be opened, and its backend not be
 * asked for its scratch. */
static int explain_open(struct session *session, const struct model_spec *spec,
                        int code, struct m2_error *err)
{
    const struct config *config = session->config;
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];
    struct device_needs needs;
    struct model_plan plan;
    struct m2_error cause;

    if (code != M2_E_MEMORY || err == NULL || session->backend == NULL ||
        session_device_is_host(session) ||
        model_plan(spec, NULL, config->dtype, &plan, NULL) != 0)
        return code;
    cause = *err;
    session_needs(config, &session->dataset, spec, &plan, &needs);
    return m2_fail(err, code,
                   "the run needs %s on %s (plan) and scratch of the backend, "
                   "%s were free before it was opened; %.1500s",
                   number_print_bytes(needs.all, needed), config->device,
                   number_print_bytes(session->facts.memory_free_bytes, there),
                   cause.text);
}

/* What an accelerator has left with the device open, so that the run does not
 * take it piece by piece from others. */
static int check_free(struct session *session, struct m2_error *err)
{
    struct m2_device_facts now;
    int code = device_facts(session->backend, session->index, &now, err);
    char needs[200];

    if (code != 0)
        return code;
    session->free_bytes = now.memory_free_bytes;
    if (now.memory_free_bytes == 0 ||
        session->needs.all <= now.memory_free_bytes)
        return 0;
    say_needs(session, "are free", needs, sizeof needs);
    return m2_fail(err, M2_E_MEMORY, "%s; `m2run plan` tells what for", needs);
}

/* What is more than the host has at all would be granted piece by piece, and
 * the system would then end the process, or another one, without a word. */
static int check_host(const struct session *session, struct m2_error *err)
{
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];
    const struct device_needs *needs = &session->needs;
    uint64_t bytes = needs->all - needs->tree - needs->series;
    uint64_t has = session->facts.memory_bytes;
    uint64_t limit = memory_capacity().limit; /* a backend knows no cgroup */

    has = has == 0 || (limit > 0 && limit < has) ? limit : has;
    if (has == 0 || bytes <= has)
        return 0;
    return m2_fail(err, M2_E_MEMORY,
                   "the model needs %s, %s has %s; `m2run plan` tells what for",
                   number_print_bytes(bytes, needed), session->facts.name,
                   number_print_bytes(has, there));
}

static int check_memory(struct session *session, const struct model_spec *spec,
                        struct m2_error *err)
{
    struct model_plan plan;
    int code =
        model_plan(spec, session->device, session->config->dtype, &plan, err);

    if (code != 0)
        return code;
    session_needs(session->config, &session->dataset, spec, &plan,
                  &session->needs);
    return session_device_is_host(session) ? check_host(session, err)
                                           : check_free(session, err);
}

static int create(struct session *session, const struct model_spec *spec,
                  struct m2_error *err)
{
    int code = model_create(session->device, spec, &session->model, err);

    if (code == 0)
        code = batcher_create(session->device, &session->dataset,
                              session->config, spec->B, &session->batcher, err);
    return session_explain(session, code, err);
}

int session_open(const struct session_request *request, struct session *out,
                 struct m2_error *err)
{
    const struct dataset_request data = {
        .config = request->config,
        .scaling = request->scaling,
        .all_windows = request->all_windows,
    };
    struct model_spec spec;
    int code;

    *out = (struct session){.config = request->config};
    code = dataset_load(&data, &out->dataset, err);
    if (code == 0) {
        session_model_spec(request->config, &out->dataset, request->training,
                           &spec);
        code = open_device(request->config, request->threads,
                           request->device_slot, out, err);
        code = explain_open(out, &spec, code, err);
    }
    if (code == 0)
        code = check_memory(out, &spec, err);
    if (code == 0)
        code = create(out, &spec, err);
    if (code != 0)
        session_close(out);
    return code;
}

void session_close(struct session *session)
{
    batcher_free(session->batcher);
    model_free(session->model);
    device_close(session->device);
    dataset_free(&session->dataset);
    memset(session, 0, sizeof *session);
}

int session_scaling_text(const struct session *session, struct text *out,
                         struct m2_error *err)
{
    return scaling_table_print(session->dataset.scaling_table, out, err);
}

int session_initialise(struct session *session, struct m2_error *err)
{
    const struct config *config = session->config;

    if (config->model.init_from != NULL)
        return model_init_from(session->model, config->model.init_from, err);
    return model_initialise(session->model, config->seed, err);
}
