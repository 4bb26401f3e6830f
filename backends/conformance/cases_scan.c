/* Shapes for the scan and its step sizes. */
#include <math.h>

#include "backends/conformance/case.h"

/* Clamps: none; the usual one; one that most values meet. */
static void build_dt(struct trial *t, const int64_t *p)
{
    static const double low[] = {0.0, 1e-6, 0.3};
    static const double high[] = {INFINITY, 1.0, 2.0};
    int64_t T = p[0], H = p[1];
    t->args.dt.low = low[p[2]];
    t->args.dt.high = high[p[2]];
    trial_random(t, "raw", T, H, span_of((double)-p[3], (double)p[3]));
    trial_random(t, "bias", 1, H, span_of(-2.0, 2.0));
    trial_output(t, "dt", T, H);
}

/* Above 709 an exp without the identity branch overflows. */
static const struct case_row dt_rows[] = {
    {.p = {1, 1, 0, 3}},
    {.p = {14, 3, 0, 4}},
    {.p = {14, 3, 1, 4}},
    {.p = {14, 3, 2, 4}},
    {.p = {70, 5, 0, 40}, .rough = true},
    {.p = {70, 5, 1, 40}, .rough = true},
    {.p = {70, 5, 2, 900}, .rough = true},
    {.p = {259, 9, 0, 900}, .rough = true},
};

enum decay { DECAY_USUAL, DECAY_FAST, DECAY_SLOW };

/* a_log and dt by kind of decay.  FAST: |A| dt up to 1100, so that an
 * exponent of the wrong sign, or one that should have been masked, overflows.
 * SLOW: the state barely forgets. */
static void build_decay(struct trial *t, int64_t T, int64_t H, int64_t decay)
{
    static const double dt[][2] = {{0.01, 0.5}, {0.3, 1.0}, {0.003, 0.02}};
    static const double a_log[][2] = {{-1.0, 1.5}, {4.0, 7.0}, {-3.0, 0.0}};
    trial_random(t, "dt", T, H, span_of(dt[decay][0], dt[decay][1]));
    trial_random(t, "a_log", 1, H, span_of(a_log[decay][0], a_log[decay][1]));
}

static void build_ssd(struct trial *t, const int64_t *p)
{
    int64_t B = p[0], L = p[1], H = p[2], P = p[3], G = p[4], N = p[5];
    int64_t Q = p[6], T = B * L, chunks = (L + Q - 1) / Q;
    t->args.ssd =
        (struct m2_ssd){.B = B, .L = L, .H = H, .P = P, .G = G, .N = N, .Q = Q};
    t->args.ssd.last_only = p[8] != 0;
    build_decay(t, T, H, p[7]);
    trial_random(t, "x", T, H * P, span_of(-1.0, 1.0));
    trial_random(t, "b", T, G * N, span_of(-1.0, 1.0));
    trial_random(t, "c", T, G * N, span_of(-1.0, 1.0));
    trial_random(t, "d", 1, H, span_of(-1.0, 1.0));
    trial_random(t, "h0", B, H * P * N, span_of(-1.0, 1.0));
    trial_output(t, "y", p[8] ? B : T, H * P);
    trial_output(t, "h_final", B, H * P * N);
    trial_output(t, "states", B, chunks * H * P * N);
}

static const struct case_row ssd_rows[] = {
    {.p = {1, 1, 1, 1, 1, 1, 1, DECAY_USUAL, 0}},
    {.p = {1, 1, 2, 3, 1, 2, 4, DECAY_USUAL, 0}},
    {.p = {1, 1, 2, 3, 1, 2, 4, DECAY_USUAL, 1}},
    {.p = {2, 5, 2, 3, 1, 2, 1, DECAY_USUAL, 0}},
    {.p = {2, 5, 2, 3, 1, 2, 2, DECAY_USUAL, 0}, .without = "h0"},
    {.p = {2, 5, 2, 3, 1, 2, 2, DECAY_USUAL, 0}, .backward_without = "dh0"},
    {.p = {2, 5, 2, 3, 1, 2, 2, DECAY_USUAL, 0},
     .backward_without = "dh_final"},
    {.p = {2, 5, 2, 3, 1, 2, 2, DECAY_USUAL, 0}, .without = "h_final"},
    {.p = {2, 5, 2, 3, 1, 2, 2, DECAY_USUAL, 0}, .without = "h0 h_final"},
    {.p = {2, 5, 2, 3, 1, 2, 2, DECAY_USUAL, 1}, .without = "h0 h_final"},
    {.p = {2, 5, 2, 3, 1, 2, 5, DECAY_USUAL, 1}},
    {.p = {2, 5, 2, 3, 1, 2, 99, DECAY_USUAL, 0}},
    {.p = {2, 11, 6, 5, 3, 7, 4, DECAY_USUAL, 0}},
    {.p = {2, 11, 6, 5, 3, 7, 4, DECAY_USUAL, 1}},
    {.p = {3, 9, 3, 2, 3, 9, 3, DECAY_SLOW, 0}},
    {.p = {2, 13, 4, 3, 2, 5, 5, DECAY_FAST, 0}, .rough = true},
    {.p = {1, 40, 2, 3, 1, 4, 16, DECAY_FAST, 0}, .rough = true},
    {.p = {1, 70, 2, 8, 1, 16, 64, DECAY_FAST, 1}, .rough = true},
    {.p = {1, 70, 2, 8, 1, 16, 64, DECAY_SLOW, 0},
     .without = "h0 h_final",
     .rough = true},
    {.p = {2, 61, 4, 16, 2, 16, 16, DECAY_USUAL, 0}},
    {.p = {2, 60, 8, 64, 1, 16, 64, DECAY_USUAL, 0}, .without = "h0 h_final"},
    {.p = {2, 60, 8, 64, 1, 16, 32, DECAY_USUAL, 1}, .without = "h0 h_final"},
    {.p = {1, 130, 3, 33, 1, 17, 64, DECAY_USUAL, 0}, .without = "h0"},
    {.p = {1, 257, 2, 4, 2, 24, 128, DECAY_USUAL, 1}, .without = "h0 h_final"},
    {.p = {1, 300, 3, 40, 1, 24, 256, DECAY_SLOW, 0}, .without = "h0 h_final"},
    /* heads and states wider than 64 columns */
    {.p = {1, 33, 2, 70, 1, 40, 32, DECAY_USUAL, 0}, .rough = true},
    {.p = {1, 75, 2, 130, 2, 70, 70, DECAY_USUAL, 1}, .rough = true},
};

/* The forward need not save the states. */
static const struct case_row ssd_inference_rows[] = {
    {.p = {2, 13, 4, 3, 2, 5, 4, DECAY_USUAL, 0},
     .without = "states",
     .forward_only = true},
    {.p = {2, 13, 4, 3, 2, 5, 4, DECAY_USUAL, 1},
     .without = "states h0 h_final",
     .forward_only = true},
};

static void build_ssd_step(struct trial *t, const int64_t *p)
{
    int64_t B = p[0], H = p[1], P = p[2], G = p[3], N = p[4];
    t->args.ssd_step = (struct m2_ssd_step){.H = H, .P = P, .G = G, .N = N};
    build_decay(t, B, H, p[5]);
    trial_random(t, "x", B, H * P, span_of(-1.0, 1.0));
    trial_random(t, "b", B, G * N, span_of(-1.0, 1.0));
    trial_random(t, "c", B, G * N, span_of(-1.0, 1.0));
    trial_random(t, "d", 1, H, span_of(-1.0, 1.0));
    trial_random(t, "h", B, H * P * N, span_of(-1.0, 1.0));
    trial_output(t, "y", B, H * P);
}

static const struct case_row ssd_step_rows[] = {
    {.p = {1, 1, 1, 1, 1, DECAY_USUAL}},
    {.p = {3, 6, 5, 3, 7, DECAY_USUAL}},
    {.p = {1, 8, 33, 1, 17, DECAY_SLOW}},
    {.p = {5, 4, 3, 2, 16, DECAY_FAST}},
};

#define SSD_PARAMETERS "B L H P G N Q decay last_only"

struct case_list cases_scan(void)
{
    static const struct case_family families[] = {
        CASE_FAMILY(M2_OP_dt, "T H clamp range", build_dt, dt_rows),
        CASE_FAMILY(M2_OP_ssd, SSD_PARAMETERS, build_ssd, ssd_rows),
        CASE_FAMILY(M2_OP_ssd, SSD_PARAMETERS, build_ssd, ssd_inference_rows),
        CASE_FAMILY(M2_OP_ssd_step, "B H P G N decay", build_ssd_step,
                    ssd_step_rows),
    };
    return (struct case_list){families, sizeof families / sizeof *families};
}
