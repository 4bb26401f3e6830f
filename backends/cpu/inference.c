/* inference.c: one step of the convolution and of the scan, with state. */
#include "backends/cpu/vector_math.h"

struct step_job {
    struct job job;
    const void *args;
};

#define STEP(job) ((const struct step_job *)(const void *)(job))

static void conv_step(const struct job *job, int64_t b, char *scratch)
{
    const struct m2_conv1d_step *op = STEP(job)->args;
    const real *x = view_real(&op->x) + b * op->x.ld;
    const real *w = view_real(&op->w), *bias = view_real(&op->b);
    real *state = view_real(&op->state) + b * op->state.ld;
    real *y = view_real(&op->y) + b * op->y.ld;

    (void)scratch;
    for (int64_t c = 0; c < op->x.cols; c++) {
        real *past = state + c * op->K;
        const real *tap = w + c * op->w.ld;
        real sum = bias == NULL ? 0 : bias[c];

        for (int64_t k = 0; k + 1 < op->K; k++) {
            past[k] = past[k + 1];
            sum = fma_real(tap[k], past[k], sum);
        }
        past[op->K - 1] = x[c];
        y[c] = fma_real(tap[op->K - 1], x[c], sum);
    }
#pragma omp simd
    for (int64_t c = 0; c < op->x.cols; c++)
        y[c] = silu_real(y[c]);
}

int OP(conv1d_step)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_conv1d_step *op = args;
    struct step_job s = {
        .args = op,
        .job = {.tasks = op->x.rows,
                .work = 10.0 * (double)op->x.rows * (double)op->x.cols,
                .run = conv_step}};

    (void)err;
    parallel_run(h, &s.job);
    return M2_OK;
}

/* h = a h + u B^T for one row of the state; returns h C. */
static real state_row(real *state, real a, real u, const real *b, const real *c,
                      int64_t N)
{
    real lane[LANES] = {0};

    for (int64_t n = 0; n < N; n += LANES) {
        int64_t width = min_i64(LANES, N - n);

#pragma omp simd
        for (int64_t l = 0; l < width; l++) {
            real value = fma_real(u, b[n + l], a * state[n + l]);

            state[n + l] = value;
            lane[l] = fma_real(value, c[n + l], lane[l]);
        }
    }
    return lanes_sum(lane);
}

static void ssd_step_head(const struct job *job, int64_t task, char *scratch)
{
    const struct m2_ssd_step *op = STEP(job)->args;
    int64_t b = task / op->H, head = task % op->H;
    int64_t group = head / (op->H / op->G);
    const real *x = view_real(&op->x) + b * op->x.ld + head * op->P;
    const real *in = view_real(&op->b) + b * op->b.ld + group * op->N;
    const real *out = view_real(&op->c) + b * op->c.ld + group * op->N;
    real *y = view_real(&op->y) + b * op->y.ld + head * op->P;
    real *state = view_real(&op->h) + b * op->h.ld + head * op->P * op->N;
    real dt = view_real(&op->dt)[b * op->dt.ld + head];
    real skip = view_real(&op->d)[head];
    double rate = -exp_f64((double)view_real(&op->a_log)[head]);
    real a = (real)exp_f64((double)dt * rate);

    (void)scratch;
    for (int64_t p = 0; p < op->P; p++) {
        real sum = state_row(state + p * op->N, a, dt * x[p], in, out, op->N);

        y[p] = fma_real(skip, x[p], sum);
    }
}

int OP(ssd_step)(struct handle *h, const void *args, struct m2_error *err)
{
    const struct m2_ssd_step *op = args;
    struct step_job s = {
        .args = op,
        .job = {.tasks = op->x.rows * op->H,
                .work = 3.0 * (double)op->h.rows * (double)op->h.cols,
                .run = ssd_step_head}};

    (void)err;
    parallel_run(h, &s.job);
    return M2_OK;
}
