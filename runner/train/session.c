/* Opening and closing what a run computes with. */
#include "train/session.h"

#include <string.h>

#include "backends/select.h"
#include "data/scaling.h"
#include "data/target.h"
#include "plugins/loader.h"
#include "util/capacity.h"
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

int session_open_device(const struct config *config, int threads,
                        struct session *session, struct m2_error *err)
{
    struct device_choice choice;
    char why[256];
    int code = device_choose(config->device, &choice, why, err);

    if (code == 0)
        code = device_load(&choice, &session->backend, err);
    if (code == 0)
        code =
            device_facts(session->backend, choice.index, &session->facts, err);
    if (code == 0)
        code = device_open(session->backend, choice.index, config->dtype,
                           threads, &session->device, err);
    if (code == 0)
        snprintf(session->numerics, sizeof session->numerics, "%s %u, %.200s",
                 session->backend->descriptor->name,
                 session->backend->descriptor->numerics, session->facts.name);
    return code;
}

bool session_device_is_host(const struct session *session)
{
    const char *name = session->backend->descriptor->name;

    return strcmp(name, "cpu") == 0 || strcmp(name, "ref") == 0;
}

/* What is more than the device has at all would be granted piece by piece, and
 * the system would then end the process, or another one, without a word. */
static int check_memory(const struct session *session,
                        const struct model_spec *spec, struct m2_error *err)
{
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];
    uint64_t bytes, has = session->facts.memory_bytes;
    struct model_plan plan;
    int code =
        model_plan(spec, session->device, session->config->dtype, &plan, err);

    if (code != 0)
        return code;
    bytes = plan.parameter_bytes + plan.gradient_bytes + plan.moment_bytes +
            plan.activation_bytes + plan.workspace_bytes;
    if (session_device_is_host(session)) { /* which knows of no cgroup */
        uint64_t limit = memory_capacity().limit;

        has = has == 0 || (limit > 0 && limit < has) ? limit : has;
    }
    if (has == 0 || bytes <= has)
        return 0;
    return m2_fail(err, M2_E_MEMORY,
                   "the model needs %s, %s has %s; `m2run plan` tells what for",
                   number_print_bytes(bytes, needed), session->facts.name,
                   number_print_bytes(has, there));
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
    if (code == 0)
        code = session_open_device(request->config, request->threads, out, err);
    if (code == 0) {
        session_model_spec(request->config, &out->dataset, request->training,
                           &spec);
        code = check_memory(out, &spec, err);
    }
    if (code == 0)
        code = model_create(out->device, &spec, &out->model, err);
    if (code == 0)
        code = batcher_create(out->device, &out->dataset, request->config,
                              spec.B, &out->batcher, err);
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
