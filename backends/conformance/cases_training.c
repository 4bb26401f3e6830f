/* Shapes for losses and optimiser. */
#include <math.h>

#include "backends/conformance/case.h"
#include "backends/conformance/generator.h"

/* scale is in thousandths, 0 for the op's default. */
static void build_loss(struct trial *t, const int64_t *p)
{
    struct m2_loss *a = &t->args.mse; /* one struct for all three */
    a->delta = 0.7;
    a->scale = (double)p[2] / 1000.0;
    trial_random(t, "pred", p[0], p[1], span_of(-2.0, 2.0));
    trial_random(t, "target", p[0], p[1], span_of(-2.0, 2.0));
    trial_output(t, "out", 1, 3);
    trial_output(t, "dpred", p[0], p[1]);
}

/* Targets of zero, predictions that are exact. */
static void build_loss_ties(struct trial *t, const int64_t *p)
{
    build_loss(t, p);
    double *pred = t->views[trial_find(t, "pred")].values;
    double *target = t->views[trial_find(t, "target")].values;
    for (int64_t i = 0; pred && target && i < p[0] * p[1]; i += 2) {
        target[i] = i % 4 ? 0.0 : target[i];
        pred[i] = i % 3 ? pred[i] : target[i];
    }
}

static const struct case_row loss_rows[] = {
    {.p = {1, 1, 0}},
    {.p = {7, 3, 0}},
    {.p = {7, 3, 0}, .without = "dpred"},
    {.p = {7, 3, 250}},
    {.p = {131, 33, 0}},
};
static const struct case_row loss_ties_rows[] = {
    {.p = {5, 9, 0}, .rough = true},
};

/* ignored: every n-th row; 1 leaves none.  ignore: the label that says so. */
static void build_xent(struct trial *t, const int64_t *p)
{
    int64_t T = p[0], V = p[1], ignored = p[2], ignore = p[5] ? p[5] : -100;
    struct generator random = generator_start(t->seed, "labels", 0, (double)V);
    t->args.xent.ignore = ignore;
    t->args.xent.scale = (double)p[3] / 1000.0;
    trial_random(t, "logits", T, V, span_of((double)-p[4], (double)p[4]));
    double *labels = trial_values(t, "labels", 1, T);
    for (int64_t i = 0; labels && i < T; i++) {
        labels[i] = floor(generator_at(&random, i));
        if (ignored && i % ignored == 0)
            labels[i] = (double)ignore;
    }
    trial_output(t, "out", 1, 3);
    trial_output(t, "dlogits", T, V);
}

static const struct case_row xent_rows[] = {
    {.p = {1, 1, 0, 0, 3}},
    {.p = {11, 9, 0, 0, 3}},
    {.p = {11, 9, 3, 0, 3}},
    {.p = {11, 9, 3, 0, 3}, .without = "dlogits"},
    {.p = {11, 9, 3, 125, 3}},
    {.p = {11, 9, 3, 0, 3, 4}},
    {.p = {6, 5, 1, 0, 3}},
    {.p = {6, 33, 2, 0, 900}, .rough = true},
    {.p = {130, 257, 4, 0, 8}, .rough = true},
    {.p = {5, 1030, 3, 0, 8}, .rough = true},
};

static void build_sumsq(struct trial *t, const int64_t *p)
{
    trial_random(t, "x", p[0], p[1], span_of(-1.0, 1.0));
    trial_output(t, "out", 1, 1);
}

static const struct case_row sumsq_rows[] = {
    {.p = {1, 1}},
    {.p = {7, 13}},
    {.p = {1, 5000}},
    {.p = {131, 67}},
};

enum clip_case {
    CLIP_ACTIVE,
    CLIP_EQUAL, /* the 1e-6 of the formula still clips */
    CLIP_BELOW, /* nothing is touched */
    CLIP_OFF,
    CLIP_NAN,
    CLIP_INFINITE,
};

/* The last of the values beside the norm. */
enum also_case { ALSO_FINITE, ALSO_NAN, ALSO_INFINITE };

static void build_clip(struct trial *t, const int64_t *p)
{
    static const double last[] = {-2.0, NAN, -INFINITY};
    static const double max_norm[] = {0.5, 2.5, 2.6, 0.0, 1.0, 1.0};
    static const double sumsq[] = {6.25, 6.25, 6.25, 6.25, NAN, INFINITY};
    t->args.clip.max_norm = max_norm[p[2]];
    trial_random(t, "x", p[0], p[1], span_of(-1.0, 1.0));
    double *value = trial_values(t, "sumsq", 1, 1);
    if (value)
        *value = sumsq[p[2]];
    trial_output(t, "out", 1, 3);
    trial_random(t, "also", p[4], p[5], span_of(-1e3, 1e3));
    double *also = t->views[trial_find(t, "also")].values;
    if (also)
        also[p[4] * p[5] - 1] = last[p[3]];
}

#define NO_ALSO .without = "also"
static const struct case_row clip_rows[] = {
    {.p = {1, 1, CLIP_ACTIVE, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_ACTIVE, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_EQUAL, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_BELOW, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_OFF, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_NAN, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_INFINITE, 0, 1, 1}, NO_ALSO},
    {.p = {131, 67, CLIP_ACTIVE, 0, 1, 1}, NO_ALSO},
    {.p = {7, 13, CLIP_ACTIVE, ALSO_FINITE, 1, 1}},
    {.p = {7, 13, CLIP_ACTIVE, ALSO_FINITE, 5, 3}},
    {.p = {7, 13, CLIP_ACTIVE, ALSO_NAN, 1, 1}},
    {.p = {7, 13, CLIP_ACTIVE, ALSO_NAN, 5, 3}},
    {.p = {7, 13, CLIP_ACTIVE, ALSO_INFINITE, 1, 40}},
    {.p = {7, 13, CLIP_OFF, ALSO_INFINITE, 40, 1}},
    {.p = {7, 13, CLIP_NAN, ALSO_FINITE, 5, 3}},
};

/* decay in thousandths; finite 0 must leave everything as it is. */
static void build_adamw(struct trial *t, const int64_t *p)
{
    int64_t n = p[0];
    t->args.adamw.beta1 = 0.9;
    t->args.adamw.beta2 = 0.999;
    t->args.adamw.eps = 1e-8;
    t->args.adamw.weight_decay = (double)p[1] / 1000.0;
    trial_random(t, "p", 1, n, span_of(-1.0, 1.0));
    trial_random(t, "g", 1, n, span_of(-1.0, 1.0));
    trial_random(t, "m", 1, n, span_of(-0.1, 0.1));
    trial_random(t, "v", 1, n, span_of(1e-4, 0.1));
    double *step = trial_values(t, "step", 1, 3);
    double *finite = trial_values(t, "finite", 1, 1);
    if (step == NULL || finite == NULL)
        return;
    step[0] = 0.003;
    step[1] = 1.0 - pow(0.9, (double)p[2]);
    step[2] = 1.0 - pow(0.999, (double)p[2]);
    finite[0] = (double)p[3];
}

static const struct case_row adamw_rows[] = {
    {.p = {1, 0, 1, 1}},   {.p = {37, 0, 1, 1}},      {.p = {37, 50, 7, 1}},
    {.p = {37, 50, 7, 0}}, {.p = {5003, 10, 900, 1}},
};

static void build_spectral(struct trial *t, const int64_t *p)
{
    t->args.spectral.mode = (int)p[1];
    t->args.spectral.rho = 0.99;
    t->args.spectral.dt_ref = 0.01;
    trial_random(t, "a_log", 1, p[0], span_of((double)p[2], (double)p[3]));
    double *finite = trial_values(t, "finite", 1, 1);
    if (finite)
        *finite = (double)p[4];
}

/* Some above and some below the limit; all above; all below. */
#define NO_FINITE .without = "finite"
static const struct case_row spectral_rows[] = {
    {.p = {1, M2_SPECTRAL_DISCRETE, -1, 1}, NO_FINITE},
    {.p = {33, M2_SPECTRAL_DISCRETE, -2, 2}, NO_FINITE},
    {.p = {7, M2_SPECTRAL_DISCRETE, 1, 3}, NO_FINITE},
    {.p = {1, M2_SPECTRAL_CONTINUOUS, 0, 1}, NO_FINITE},
    {.p = {33, M2_SPECTRAL_CONTINUOUS, 0, 3}, NO_FINITE},
    {.p = {7, M2_SPECTRAL_CONTINUOUS, -5, -1}, NO_FINITE},
    {.p = {33, M2_SPECTRAL_DISCRETE, -2, 2, 1}},
    {.p = {33, M2_SPECTRAL_DISCRETE, -2, 2, 0}},
    {.p = {33, M2_SPECTRAL_CONTINUOUS, 0, 3, 1}},
    {.p = {33, M2_SPECTRAL_CONTINUOUS, 0, 3, 0}},
};

struct case_list cases_training(void)
{
    static const struct case_family families[] = {
        CASE_FAMILY(M2_OP_mse, "R C scale", build_loss, loss_rows),
        CASE_FAMILY(M2_OP_mse, "R C_ties scale", build_loss_ties,
                    loss_ties_rows),
        CASE_FAMILY(M2_OP_mae, "R C scale", build_loss, loss_rows),
        CASE_FAMILY(M2_OP_mae, "R C_ties scale", build_loss_ties,
                    loss_ties_rows),
        CASE_FAMILY(M2_OP_huber, "R C scale", build_loss, loss_rows),
        CASE_FAMILY(M2_OP_huber, "R C_ties scale", build_loss_ties,
                    loss_ties_rows),
        CASE_FAMILY(M2_OP_xent, "T V ignored scale range ignore", build_xent,
                    xent_rows),
        CASE_FAMILY(M2_OP_sumsq, "R C", build_sumsq, sumsq_rows),
        CASE_FAMILY(M2_OP_clip, "R C case also E W", build_clip, clip_rows),
        CASE_FAMILY(M2_OP_adamw, "n decay t finite", build_adamw, adamw_rows),
        CASE_FAMILY(M2_OP_spectral, "H mode low high finite", build_spectral,
                    spectral_rows),
    };
    return (struct case_list){families, sizeof families / sizeof *families};
}
