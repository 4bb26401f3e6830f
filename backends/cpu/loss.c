/* loss.c: elementwise losses.  Sums in f64, per tile of rows, tiles in order.
 */
#include "backends/cpu/real.h"

enum loss_kind { LOSS_MSE, LOSS_MAE, LOSS_HUBER };
enum { TILE_ELEMENTS = 4096 };

struct loss_job {
    struct job job;
    const struct m2_loss *op;
    enum loss_kind kind;
    double scale;
    int64_t tile_rows;
    double *partial; /* (tiles, 2): sum, right signs */
};

/* Loss of the error e, and its derivative. */
static double loss_value(enum loss_kind kind, double e, double delta,
                         double *slope)
{
    switch (kind) {
    case LOSS_MSE:
        *slope = 2.0 * e;
        return e * e;
    case LOSS_MAE:
        *slope = e != e ? e : (double)((e > 0) - (e < 0));
        return fabs(e);
    default:
        *slope = e < -delta ? -delta : e > delta ? delta : e;
        return fabs(e) <= delta ? 0.5 * e * e : delta * (fabs(e) - 0.5 * delta);
    }
}

static void loss_tile(const struct job *base, int64_t task, char *scratch)
{
    const struct loss_job *job = (const struct loss_job *)(const void *)base;
    const struct m2_loss *op = job->op;
    int64_t end = min_i64((task + 1) * job->tile_rows, op->pred.rows);
    double sum = 0, right = 0;

    (void)scratch;
    for (int64_t i = task * job->tile_rows; i < end; i++) {
        const real *pred = view_real(&op->pred) + i * op->pred.ld;
        const real *target = view_real(&op->target) + i * op->target.ld;
        real *dpred = view_real(&op->dpred);

        if (dpred != NULL)
            dpred += i * op->dpred.ld;
        for (int64_t j = 0; j < op->pred.cols; j++) {
            double p = (double)pred[j], t = (double)target[j], slope;

            sum += loss_value(job->kind, p - t, op->delta, &slope);
            right += (p > 0 && t > 0) || (p < 0 && t < 0);
            if (dpred != NULL)
                dpred[j] = (real)(job->scale * slope);
        }
    }
    job->partial[2 * task] = sum;
    job->partial[2 * task + 1] = right;
}

static int64_t tile_rows(const struct m2_loss *op)
{
    return max_i64(1, TILE_ELEMENTS / op->pred.cols);
}

/* One for all three losses. */
size_t WORKSPACE(loss)(const struct handle *h, const void *args)
{
    const struct m2_loss *op = args;

    (void)h;
    return scratch_size(2 * ceil_div(op->pred.rows, tile_rows(op)),
                        sizeof(double));
}

static int loss_run(struct handle *h, const struct m2_loss *op,
                    enum loss_kind kind)
{
    double count = (double)op->pred.rows * (double)op->pred.cols;
    double *out = view_f64(&op->out);
    struct loss_job l = {.op = op,
                         .kind = kind,
                         .scale = op->scale == 0 ? 1.0 / count : op->scale,
                         .tile_rows = tile_rows(op),
                         .partial = (double *)(void *)h->scratch};

    l.job = (struct job){.tasks = ceil_div(op->pred.rows, l.tile_rows),
                         .work = 8.0 * count,
                         .run = loss_tile};
    parallel_run(h, &l.job);
    out[0] = 0;
    out[1] = count;
    out[2] = 0;
    for (int64_t i = 0; i < l.job.tasks; i++) {
        out[0] += l.partial[2 * i];
        out[2] += l.partial[2 * i + 1];
    }
    return M2_OK;
}

int OP(mse)(struct handle *h, const void *args, struct m2_error *err)
{
    (void)err;
    return loss_run(h, args, LOSS_MSE);
}
int OP(mae)(struct handle *h, const void *args, struct m2_error *err)
{
    (void)err;
    return loss_run(h, args, LOSS_MAE);
}
int OP(huber)(struct handle *h, const void *args, struct m2_error *err)
{
    (void)err;
    return loss_run(h, args, LOSS_HUBER);
}
