/* Golden cases of training: schedules and whole short trainings, through the
 * optimiser that runs use. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "train/golden_kinds.h"
#include "train/golden_private.h"
#include "train/lr_schedule.h"
#include "util/memory.h"

static int schedule_of(const struct golden_case *c, const char *key,
                       enum schedule_kind *out, struct m2_error *err)
{
    static const char *const names[] = {[SCHEDULE_CONSTANT] = "constant",
                                        [SCHEDULE_LINEAR] = "linear",
                                        [SCHEDULE_COSINE] = "cosine"};
    const json_t *scalars = json_object_get(c->entry, "scalars");
    const char *text = json_string_value(json_object_get(scalars, key));

    for (int i = 0; text != NULL && i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum schedule_kind)i;
            return 0;
        }
    }
    return m2_fail(err, M2_E_DATA, "golden case %s: unknown schedule", c->name);
}

static int run_lr_schedule(struct golden_case *c, struct m2_error *err)
{
    enum schedule_kind kind;
    double total, warmup, peak, ratio, *rates;
    int result = schedule_of(c, "type", &kind, err);

    if (result == 0)
        result = golden_number(c, "total", &total, err);
    if (result == 0)
        result = golden_number(c, "warmup", &warmup, err);
    if (result == 0)
        result = golden_number(c, "peak", &peak, err);
    if (result == 0)
        result = golden_number(c, "final_ratio", &ratio, err);
    if (result != 0)
        return result;
    rates = memory_zeroed((size_t)total, sizeof *rates, err);
    if (rates == NULL)
        return M2_E_MEMORY;
    for (int64_t i = 0; i < (int64_t)total; i++)
        rates[i] =
            lr_schedule(kind, i, (int64_t)total, (int64_t)warmup, peak, ratio);
    golden_check(c, "lr", rates, (int64_t)total);
    free(rates);
    return 0;
}

/* The scalars of a case as the configuration of a run. */
static int train_config(const struct golden_case *c, struct config_train *out,
                        struct m2_error *err)
{
    double rho = golden_number_or(c, "rho", 0);
    double dt_ref = golden_number_or(c, "dt_ref", 0);

    *out = (struct config_train){
        .steps = (int64_t)golden_number_or(c, "steps", 0),
        .optimizer = {.lr = golden_number_or(c, "peak_lr", 0),
                      .betas = {golden_number_or(c, "beta1", 0),
                                golden_number_or(c, "beta2", 0)},
                      .eps = golden_number_or(c, "eps", 0),
                      .weight_decay = golden_number_or(c, "weight_decay", 0)},
        .schedule = {.warmup_steps = (int64_t)golden_number_or(c, "warmup", 0),
                     .min_ratio = golden_number_or(c, "final_ratio", 0)},
        .clip_norm = golden_number_or(c, "max_norm", 0),
        .spectral_radius = {.mode = rho == 0      ? SPECTRAL_OFF
                                    : dt_ref == 0 ? SPECTRAL_CONTINUOUS
                                                  : SPECTRAL_DISCRETE,
                            .rho = rho,
                            .dt_ref = dt_ref}};
    return schedule_of(c, "schedule", &out->schedule.type, err);
}

int golden_training_start(struct golden_case *c,
                          const struct golden_model *golden,
                          const struct golden_batches *batches,
                          struct model *model, struct golden_training *out,
                          struct m2_error *err)
{
    int result;

    *out =
        (struct golden_training){.c = c, .model = model, .batches = *batches};
    out->config.model = golden->config;
    result = train_config(c, &out->config.train, err);
    out->steps = out->config.train.steps;
    return result == 0 ? optimiser_create(c->device, model, &out->config,
                                          &out->optimiser, err)
                       : result;
}

void golden_training_end(struct golden_training *training)
{
    optimiser_free(training->optimiser);
    training->optimiser = NULL;
}

int golden_training_batch(const struct golden_training *training, int64_t i,
                          struct m2_error *err)
{
    const struct golden_batches *batches = &training->batches;
    struct m2_view input = model_input(training->model, batches->B);
    struct m2_view target = model_target(training->model, batches->B);
    int64_t n = input.rows * input.cols, m = target.rows * target.cols;
    int result =
        golden_upload(training->c, &input, batches->input + i * n, err);

    return result == 0 ? golden_upload(training->c, &target,
                                       batches->target + i * m, err)
                       : result;
}

int golden_training_gradients(const struct golden_training *training,
                              double *loss, struct m2_error *err)
{
    struct m2_device *device = training->c->device;
    struct m2_view view = model_loss(training->model);
    struct m2_fill zero = {.y = model_gradients(training->model)};
    double out[3];
    int result = op_call(device, M2_OP_fill, &zero, err);

    if (result == 0)
        result = model_forward_backward(training->model, training->batches.B, 0,
                                        err);
    if (result == 0)
        result = view_download(device, &view, out, err);
    if (result == 0)
        *loss = out[1] > 0 ? out[0] / out[1] : 0;
    return result;
}

/* Step s; its loss, gradient norm and rate go to rows[0..2][s]. */
static int one_step(struct golden_training *training, int64_t s,
                    double *const rows[3], struct m2_error *err)
{
    const struct config_train *config = &training->config.train;
    struct optimiser_result result;
    int code = golden_training_batch(training, s % training->batches.nb, err);

    if (code == 0)
        code = golden_training_gradients(training, &rows[0][s], err);
    rows[2][s] = lr_schedule(config->schedule.type, s, training->steps,
                             config->schedule.warmup_steps,
                             config->optimizer.lr, config->schedule.min_ratio);
    if (code == 0)
        code = optimiser_step(training->optimiser, s + 1, rows[2][s], &result,
                              err);
    if (code == 0)
        rows[1][s] = result.grad_norm;
    return code;
}

int golden_training_run(struct golden_training *training, const char *prefix,
                        struct m2_error *err)
{
    static const char *const names[] = {"loss", "grad_norm", "lr"};
    size_t n = (size_t)training->steps;
    double *all = memory_zeroed(3 * n, sizeof *all, err);
    double *const rows[] = {all, all + n, all + 2 * n};
    int result = all == NULL ? M2_E_MEMORY : 0;

    for (int64_t s = 0; s < training->steps && result == 0; s++)
        result = one_step(training, s, rows, err);
    for (int i = 0; i < 3 && result == 0; i++) {
        char name[32];

        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        golden_check(training->c, name, rows[i], training->steps);
    }
    free(all);
    return result;
}

/* Parameters and moments at the end. */
static int check_arenas(struct golden_training *training, struct m2_error *err)
{
    const struct {
        const char *prefix;
        struct m2_view arena;
    } arenas[] = {
        {"param.", model_values(training->model)},
        {"adam_m.", optimiser_first_moment(training->optimiser)},
        {"adam_v.", optimiser_second_moment(training->optimiser)},
    };
    int result = 0;

    for (int i = 0; i < 3 && result == 0; i++)
        result = golden_check_arena(training->c, arenas[i].prefix,
                                    training->model, &arenas[i].arena, err);
    return result;
}

static int run_train(struct golden_case *c, struct m2_error *err)
{
    struct golden_model golden;
    struct golden_training training = {0};
    struct golden_batches batches;
    const struct golden_tensor *x, *y;
    struct model *model = NULL;
    bool lm;
    int result = golden_model_of(c, &golden, err);

    if (result != 0)
        return result;
    lm = golden.config.head == HEAD_LM;
    result = golden_need(c, lm ? "in.ids" : "in.x", &x, err);
    if (result == 0)
        result = golden_need(c, lm ? "in.labels" : "in.target", &y, err);
    if (result != 0)
        return result;
    batches = (struct golden_batches){.nb = x->shape[0],
                                      .B = x->shape[1],
                                      .L = x->shape[2],
                                      .input = x->values,
                                      .target = y->values};
    result = golden_model_create(c, &golden, batches.B, batches.L, &model, err);
    if (result == 0)
        result = golden_upload_parameters(c, model, err);
    if (result == 0)
        result =
            golden_training_start(c, &golden, &batches, model, &training, err);
    if (result == 0)
        result = golden_training_run(&training, "", err);
    if (result == 0)
        result = check_arenas(&training, err);
    golden_training_end(&training);
    model_free(model);
    return result;
}

void golden_kinds(struct golden_kind out[N_GOLDEN_KINDS])
{
    static const struct golden_kind own[] = {
        {"lr_schedule", run_lr_schedule, NULL},
        {"train", run_train, NULL},
        {"seed_model", golden_run_seed_model, NULL},
    };
    size_t n;
    const struct golden_kind *of_models = model_golden_kinds(&n);

    assert(n + sizeof own / sizeof *own == N_GOLDEN_KINDS);
    memcpy(out, of_models, n * sizeof *out);
    memcpy(out + n, own, sizeof own);
}
