/* The gradient of the selective scan, running backward through time: the
 * recurrence of the specification's section 4.7.  The states inside a chunk
 * are recomputed from the saved one that enters it. */
#include <math.h>
#include <string.h>

#include "backends/ref/internal.h"

/* Scratch of one call. */
struct work {
    double *states; /* (q+1, P, N): before each step of a chunk, and after */
    double *lambda; /* (P, N): gradient of the state */
    double *x, *dy, *lb; /* (P): rows of this head, lambda b */
    double *b, *c;       /* (N): rows of this group */
    double *db, *dc;     /* (L, N): sums over the heads of one group */
    double *da_log, *dd; /* (H): sums over everything else */
};

static void carve(const struct m2_ssd_backward *a, double *scratch,
                  struct work *w)
{
    int64_t chunk = a->Q < a->L ? a->Q : a->L;
    w->states = scratch;
    w->lambda = w->states + (chunk + 1) * a->P * a->N;
    w->x = w->lambda + a->P * a->N;
    w->dy = w->x + a->P;
    w->lb = w->dy + a->P;
    w->b = w->lb + a->P;
    w->c = w->b + a->N;
    w->db = w->c + a->N;
    w->dc = w->db + a->L * a->N;
    w->da_log = w->dc + a->L * a->N;
    w->dd = w->da_log + a->H;
}

static void load_step(const struct m2_ssd_backward *a, const struct work *w,
                      int64_t row, int64_t h)
{
    int64_t group = h / (a->H / a->G);
    ref_load(&a->x, row, h * a->P, a->P, w->x);
    ref_load(&a->b, row, group * a->N, a->N, w->b);
    ref_load(&a->c, row, group * a->N, a->N, w->c);
}

/* The gradient of y at step t of sequence b: zero but for the last step when
 * only that one was computed. */
static void load_dy(const struct m2_ssd_backward *a, const struct work *w,
                    int64_t b, int64_t t, int64_t h)
{
    if (!a->last_only)
        ref_load(&a->dy, b * a->L + t, h * a->P, a->P, w->dy);
    else if (t == a->L - 1)
        ref_load(&a->dy, b, h * a->P, a->P, w->dy);
    else
        memset(w->dy, 0, (size_t)a->P * sizeof *w->dy);
}

static double head_A(const struct m2_ssd_backward *a, int64_t h)
{
    return -exp(ref_get(&a->a_log, 0, h));
}

/* states[i] is the state before step first + i of the chunk. */
static void recompute_chunk(const struct m2_ssd_backward *a,
                            const struct work *w, int64_t b, int64_t h,
                            int64_t first)
{
    int64_t size = a->P * a->N;
    int64_t saved = (first / a->Q * a->H + h) * size;
    ref_load(&a->states, b, saved, size, w->states);
    for (int64_t t = first; t < a->L && t < first + a->Q; t++) {
        const double *before = w->states + (t - first) * size;
        double *after = w->states + (t - first + 1) * size;
        double dt = ref_get(&a->dt, b * a->L + t, h);
        double decay = exp(dt * head_A(a, h));
        load_step(a, w, b * a->L + t, h);
        for (int64_t p = 0; p < a->P; p++)
            for (int64_t n = 0; n < a->N; n++)
                after[p * a->N + n] =
                    decay * before[p * a->N + n] + dt * w->x[p] * w->b[n];
    }
}

/* lambda += dy c^T; dc += after^T dy; lb = lambda b; db += dt lambda^T x;
 * returns <before, lambda>. */
static double step_products(const struct m2_ssd_backward *a,
                            const struct work *w, int64_t t,
                            const double *before, double dt)
{
    const double *after = before + a->P * a->N;
    double inner = 0.0;
    for (int64_t p = 0; p < a->P; p++) {
        w->lb[p] = 0.0;
        for (int64_t n = 0; n < a->N; n++) {
            int64_t at = p * a->N + n;
            w->lambda[at] += w->dy[p] * w->c[n];
            w->dc[t * a->N + n] += after[at] * w->dy[p];
            w->lb[p] += w->lambda[at] * w->b[n];
            w->db[t * a->N + n] += dt * w->lambda[at] * w->x[p];
            inner += before[at] * w->lambda[at];
        }
    }
    return inner;
}

static void step_backward(const struct m2_ssd_backward *a, const struct work *w,
                          int64_t b, int64_t t, int64_t h)
{
    int64_t row = b * a->L + t, size = a->P * a->N;
    double dt = ref_get(&a->dt, row, h), d = ref_get(&a->d, 0, h);
    double A = head_A(a, h), decay = exp(dt * A), ddt = 0.0;

    load_step(a, w, row, h);
    load_dy(a, w, b, t, h);
    /* q is the gradient of dt A, which enters through the decay. */
    double q = decay * step_products(a, w, t, w->states + t % a->Q * size, dt);
    for (int64_t p = 0; p < a->P; p++) {
        ref_set(&a->dx, row, h * a->P + p, d * w->dy[p] + dt * w->lb[p]);
        ddt += w->x[p] * w->lb[p];
        w->dd[h] += w->dy[p] * w->x[p];
    }
    ref_set(&a->ddt, row, h, ddt + A * q);
    w->da_log[h] += A * dt * q; /* d/d a_log = A d/dA */
    for (int64_t i = 0; i < size; i++)
        w->lambda[i] *= decay;
}

static void head_backward(const struct m2_ssd_backward *a, const struct work *w,
                          int64_t b, int64_t h)
{
    int64_t size = a->P * a->N;
    if (ref_present(&a->dh_final))
        ref_load(&a->dh_final, b, h * size, size, w->lambda);
    else
        memset(w->lambda, 0, (size_t)size * sizeof *w->lambda);
    for (int64_t t = a->L - 1; t >= 0; t--) {
        if (t == a->L - 1 || t % a->Q == a->Q - 1)
            recompute_chunk(a, w, b, h, t - t % a->Q);
        step_backward(a, w, b, t, h);
    }
    if (ref_present(&a->dh0))
        ref_store(&a->dh0, b, h * size, size, w->lambda);
}

static void group_backward(const struct m2_ssd_backward *a,
                           const struct work *w, int64_t b, int64_t group)
{
    int64_t heads = a->H / a->G;
    memset(w->db, 0, 2 * (size_t)(a->L * a->N) * sizeof *w->db);
    for (int64_t h = group * heads; h < (group + 1) * heads; h++)
        head_backward(a, w, b, h);
    for (int64_t t = 0; t < a->L; t++) {
        int64_t row = b * a->L + t, column = group * a->N;
        ref_store(&a->db, row, column, a->N, w->db + t * a->N);
        ref_store(&a->dc, row, column, a->N, w->dc + t * a->N);
    }
}

int ref_ssd_backward(void *handle, void *args, struct m2_error *err)
{
    const struct m2_ssd_backward *a = args;
    struct work w;
    double *scratch;
    int code = ref_scratch(handle, M2_OP_ssd_backward, args, &scratch, err);
    if (code)
        return code;
    carve(a, scratch, &w);
    memset(w.da_log, 0, 2 * (size_t)a->H * sizeof *w.da_log);
    for (int64_t b = 0; b < a->B; b++)
        for (int64_t group = 0; group < a->G; group++)
            group_backward(a, &w, b, group);
    ref_store_or_add(&a->da_log, 0, 1, w.da_log);
    ref_store_or_add(&a->dd, 0, 1, w.dd);
    return M2_OK;
}
