/* The selective scan, forward, and one step of it for inference: the
 * recurrence of the specification's section 4.7. */
#include <math.h>
#include <string.h>

#include "backends/ref/internal.h"

/* One step of head h: state = decay state + dt x b^T, y = state c + d x.
 * state (P, N) is followed by scratch for b and c (N). */
static void scan_step(const struct m2_ssd *a, int64_t b, int64_t t, int64_t h,
                      double *state)
{
    int64_t row = b * a->L + t, group = h / (a->H / a->G);
    double *bt = state + a->P * a->N, *ct = bt + a->N;
    double dt = ref_get(&a->dt, row, h);
    double decay = exp(dt * -exp(ref_get(&a->a_log, 0, h)));

    ref_load(&a->b, row, group * a->N, a->N, bt);
    ref_load(&a->c, row, group * a->N, a->N, ct);
    for (int64_t p = 0; p < a->P; p++) {
        double x = ref_get(&a->x, row, h * a->P + p);
        double y = ref_get(&a->d, 0, h) * x;
        for (int64_t n = 0; n < a->N; n++) {
            double *s = &state[p * a->N + n];
            *s = decay * *s + dt * x * bt[n];
            y += *s * ct[n];
        }
        if (!a->last_only)
            ref_set(&a->y, row, h * a->P + p, y);
        else if (t == a->L - 1)
            ref_set(&a->y, b, h * a->P + p, y);
    }
}

static void scan_head(const struct m2_ssd *a, int64_t b, int64_t h,
                      double *state)
{
    int64_t size = a->P * a->N;
    if (ref_present(&a->h0))
        ref_load(&a->h0, b, h * size, size, state);
    else
        memset(state, 0, (size_t)size * sizeof *state);
    for (int64_t t = 0; t < a->L; t++) {
        if (ref_present(&a->states) && t % a->Q == 0)
            ref_store(&a->states, b, (t / a->Q * a->H + h) * size, size, state);
        scan_step(a, b, t, h, state);
    }
    if (ref_present(&a->h_final))
        ref_store(&a->h_final, b, h * size, size, state);
}

int ref_ssd(void *handle, void *args, struct m2_error *err)
{
    const struct m2_ssd *a = args;
    double *state;
    int code = ref_scratch(handle, M2_OP_ssd, args, &state, err);
    if (code)
        return code;
    for (int64_t b = 0; b < a->B; b++)
        for (int64_t h = 0; h < a->H; h++)
            scan_head(a, b, h, state);
    return M2_OK;
}

/* A scan of length 1 whose final state replaces the initial one. */
int ref_ssd_step(void *handle, void *args, struct m2_error *err)
{
    const struct m2_ssd_step *s = args;
    const struct m2_ssd scan = {
        .B = s->x.rows,
        .L = 1,
        .H = s->H,
        .P = s->P,
        .G = s->G,
        .N = s->N,
        .Q = 1,
        .x = s->x,
        .dt = s->dt,
        .a_log = s->a_log,
        .b = s->b,
        .c = s->c,
        .d = s->d,
        .h0 = s->h,
        .y = s->y,
        .h_final = s->h,
    };
    double *state;
    int code = ref_scratch(handle, M2_OP_ssd_step, args, &state, err);
    if (code)
        return code;
    for (int64_t b = 0; b < scan.B; b++)
        for (int64_t h = 0; h < scan.H; h++)
            scan_head(&scan, b, h, state);
    return M2_OK;
}
