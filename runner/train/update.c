/* From the order of an epoch to changed parameters. */
#include "train/update.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "train/gradient_tree.h"
#include "train/lr_schedule.h"
#include "train/order.h"
#include "util/memory.h"

struct updater {
    const struct config *config;
    struct session *session;
    struct optimiser *optimiser;
    struct gradient_tree *tree; /* NULL: a batch is one microbatch */
    int64_t total_steps, n_windows, microbatch;
    int64_t order_epoch; /* whose order is loaded */
    size_t *order;       /* (n_windows) */
    int32_t *starts;     /* (batch_size) */
    /* Of several microbatches: the loss of each, on the device and read. */
    struct m2_buffer *losses;
    double *host_losses; /* (microbatches of a batch) */
};

/* Microbatches of a batch of n windows. */
static int64_t leaves_of(const struct updater *updater, int64_t n)
{
    return (n + updater->microbatch - 1) / updater->microbatch;
}

/* What a batch of several microbatches needs. */
static int allocate_leaves(struct updater *updater, int64_t n_leaves,
                           struct m2_error *err)
{
    struct session *session = updater->session;
    int code = gradient_tree_create(session->device,
                                    model_arena_size(session->model, NULL),
                                    n_leaves, &updater->tree, err);

    if (code == 0)
        code = buffer_alloc(session->device, (size_t)n_leaves * sizeof(double),
                            &updater->losses, err);
    if (code != 0)
        return code;
    updater->host_losses =
        memory_zeroed((size_t)n_leaves, sizeof *updater->host_losses, err);
    return updater->host_losses == NULL ? M2_E_MEMORY : 0;
}

static int allocate(struct updater *updater, struct m2_error *err)
{
    struct session *session = updater->session;
    int64_t B = updater->config->train.batch_size;
    int64_t n_leaves = leaves_of(updater, B);
    int code = optimiser_create(session->device, session->model,
                                updater->config, &updater->optimiser, err);

    if (code == 0 && n_leaves > 1)
        code = allocate_leaves(updater, n_leaves, err);
    if (code != 0)
        return code;
    updater->order =
        memory_zeroed((size_t)updater->n_windows, sizeof *updater->order, err);
    updater->starts = memory_zeroed((size_t)B, sizeof *updater->starts, err);
    return updater->order == NULL || updater->starts == NULL ? M2_E_MEMORY : 0;
}

int updater_create(struct session *session, int64_t total_steps,
                   struct updater **out, struct m2_error *err)
{
    struct updater *updater = memory_zeroed(1, sizeof *updater, err);
    int code;

    if (updater == NULL)
        return M2_E_MEMORY;
    *updater = (struct updater){
        .config = session->config,
        .session = session,
        .total_steps = total_steps,
        .n_windows = session->dataset.parts[PART_TRAIN].n,
        .microbatch = session->config->train.microbatch > 0
                          ? session->config->train.microbatch
                          : session->config->train.batch_size,
        .order_epoch = -1,
    };
    code = allocate(updater, err);
    if (code != 0) {
        updater_free(updater);
        return code;
    }
    *out = updater;
    return 0;
}

void updater_free(struct updater *updater)
{
    if (updater == NULL)
        return;
    gradient_tree_free(updater->tree);
    optimiser_free(updater->optimiser);
    if (updater->losses != NULL)
        buffer_free(updater->session->device, updater->losses);
    free(updater->host_losses);
    free(updater->order);
    free(updater->starts);
    free(updater);
}

struct optimiser *updater_optimiser(const struct updater *updater)
{
    return updater->optimiser;
}

double updater_learning_rate(const struct updater *updater, int64_t step)
{
    const struct config_train *train = &updater->config->train;

    return lr_schedule(train->schedule.type, step, updater->total_steps,
                       train->schedule.warmup_steps, train->optimizer.lr,
                       train->schedule.min_ratio);
}

static int load_order(struct updater *updater, int64_t epoch,
                      struct m2_error *err)
{
    if (updater->order_epoch == epoch)
        return 0;
    updater->order_epoch = epoch;
    return train_order(updater->config->seed, epoch, (size_t)updater->n_windows,
                       updater->order, err);
}

/* The windows of the batch at `cursor` into starts; returns how many. */
static int64_t take_batch(struct updater *updater, int64_t cursor)
{
    const int32_t *all = updater->session->dataset.parts[PART_TRAIN].starts;
    int64_t left = updater->n_windows - cursor;
    int64_t B = updater->config->train.batch_size;
    int64_t n = left < B ? left : B;

    for (int64_t i = 0; i < n; i++)
        updater->starts[i] = all[updater->order[cursor + i]];
    return n;
}

/* Op lists and memory of the microbatches of n windows: a training step
 * allocates nothing. */
static int prepare_batch(struct updater *updater, int64_t n,
                         struct m2_error *err)
{
    struct model *model = updater->session->model;
    int64_t size = updater->microbatch, rest = n % size;
    int code = n >= size ? model_prepare(model, size, err) : 0;

    return code == 0 && rest > 0 ? model_prepare(model, rest, err) : code;
}

/* Gradient of windows [first, first+b) of the batch into the arena, from
 * zero. */
static int microbatch_gradient(struct updater *updater, int64_t first,
                               int64_t b, double scale, struct m2_error *err)
{
    struct session *session = updater->session;
    struct m2_fill zero = {.y = model_gradients(session->model)};
    int code = op_call(session->device, M2_OP_fill, &zero, err);

    if (code == 0)
        code = batcher_gather(session->batcher, session->model,
                              updater->starts + first, b, true, err);
    return code != 0 ? code
                     : model_forward_backward(session->model, b, scale, err);
}

/* Sum of the losses of the microbatch that has just run: (1, 1). */
static struct m2_view loss_sum(const struct updater *updater)
{
    return view_columns(model_loss(updater->session->model), 0, 1);
}

/* The losses of all n_leaves microbatches: of one, where the model leaves it;
 * of several, (1, n_leaves). */
static struct m2_view batch_losses(const struct updater *updater,
                                   int64_t n_leaves)
{
    return n_leaves == 1
               ? loss_sum(updater)
               : view_matrix(updater->losses, 0, 1, n_leaves, n_leaves, M2_F64);
}

/* Gradient and loss of microbatch i of several into their places. */
static int keep_leaf(struct updater *updater, int64_t i, struct m2_error *err)
{
    struct m2_view gradient = model_gradients(updater->session->model);
    struct m2_copy copy = {
        .x = loss_sum(updater),
        .y = view_matrix(updater->losses, i, 1, 1, 1, M2_F64),
    };
    int code = op_call(updater->session->device, M2_OP_copy, &copy, err);

    return code != 0 ? code
                     : gradient_tree_add(updater->tree, i, &gradient, err);
}

/* Gradient of a batch: the fixed tree of its microbatches. */
static int batch_gradient(struct updater *updater, int64_t n, double scale,
                          struct m2_error *err)
{
    struct m2_view gradient = model_gradients(updater->session->model);
    int64_t size = updater->microbatch, n_leaves = leaves_of(updater, n);
    int code = 0;

    if (n_leaves == 1)
        return microbatch_gradient(updater, 0, n, scale, err);
    gradient_tree_begin(updater->tree, n_leaves);
    for (int64_t i = 0; code == 0 && i < n_leaves; i++) {
        int64_t first = i * size, b = n - first < size ? n - first : size;

        code = microbatch_gradient(updater, first, b, scale, err);
        if (code == 0)
            code = keep_leaf(updater, i, err);
    }
    return code != 0 ? code
                     : gradient_tree_finish(updater->tree, &gradient, err);
}

/* The sum of the losses of a batch, in the order of its microbatches. */
static int read_loss(struct updater *updater, int64_t n_leaves, double *out,
                     struct m2_error *err)
{
    struct m2_view losses = batch_losses(updater, n_leaves);
    double one = 0.0, *values = n_leaves == 1 ? &one : updater->host_losses;
    int code = view_download(updater->session->device, &losses, values, err);

    *out = 0;
    for (int64_t i = 0; code == 0 && i < n_leaves; i++)
        *out += values[i];
    return code;
}

/* Parameters are as they were before the step, so a bad one among them was
 * bad from the start; else the gradient went bad in this step. */
static int diverged(struct updater *updater, int64_t step,
                    const struct update *update, struct m2_error *err)
{
    struct model *model = updater->session->model;
    const char *parameter = NULL, *gradient = NULL;
    int code = model_first_not_finite(model, false, &parameter, err);

    if (code == 0)
        code = model_first_not_finite(model, true, &gradient, err);
    if (code != 0)
        return code;
    if (parameter != NULL)
        return m2_fail(err, M2_E_DIVERGED,
                       "step %" PRId64 ": parameter %s is not finite (loss "
                       "%g)",
                       step + 1, parameter, update->loss);
    return m2_fail(err, M2_E_DIVERGED,
                   "step %" PRId64 ": %s%s is not finite (loss %g, gradient "
                   "norm %g)",
                   step + 1, gradient != NULL ? "the gradient of " : "",
                   gradient != NULL ? gradient : "the loss", update->loss,
                   update->grad_norm);
}

/* Values that one window's loss is a mean over. */
static int64_t values_per_window(const struct updater *updater)
{
    struct m2_view target = model_target(updater->session->model, 1);

    return target.rows * target.cols;
}

/* Everything that the device is to do in a step: nothing is read back.  A
 * loss that is not finite ends the run, although its gradients may be finite:
 * it changes nothing. */
static int queue_step(struct updater *updater, int64_t step, int64_t n,
                      double scale, struct m2_error *err)
{
    struct m2_device *device = updater->session->device;
    struct m2_view losses = batch_losses(updater, leaves_of(updater, n));
    int code = device_step_begin(device, err);

    if (code == 0)
        code = batch_gradient(updater, n, scale, err);
    if (code == 0)
        code =
            optimiser_queue(updater->optimiser, step + 1,
                            updater_learning_rate(updater, step), &losses, err);
    return code != 0 ? code : device_step_end(device, err);
}

int updater_run(struct updater *updater, int64_t step, int64_t epoch,
                int64_t cursor, struct update *out, struct m2_error *err)
{
    struct optimiser_result result = {0};
    double scale;
    int code = load_order(updater, epoch, err);

    if (code != 0)
        return code;
    *out = (struct update){.n = take_batch(updater, cursor)};
    scale = 1.0 / (double)(out->n * values_per_window(updater));
    code = prepare_batch(updater, out->n, err);
    if (code == 0)
        code = queue_step(updater, step, out->n, scale, err);
    if (code == 0)
        code = read_loss(updater, leaves_of(updater, out->n), &out->loss, err);
    if (code == 0)
        code = optimiser_read(updater->optimiser, &result, err);
    out->loss *= scale;
    out->grad_norm = result.grad_norm;
    if (code == 0 && (!result.finite || !isfinite(out->loss)))
        return diverged(updater, step, out, err);
    return code;
}
