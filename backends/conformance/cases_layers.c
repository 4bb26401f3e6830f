/* Shapes for the layers: linear, embed, norms, silu, convolution. */
#include <math.h>

#include "backends/conformance/case.h"
#include "backends/conformance/generator.h"

static void build_linear(struct trial *t, const int64_t *p)
{
    int64_t T = p[0], I = p[1], O = p[2];
    trial_random(t, "x", T, I, span_of(-1.0, 1.0));
    trial_random(t, "w", O, I, span_of(-1.0, 1.0));
    trial_random(t, "b", 1, O, span_of(-1.0, 1.0));
    trial_random(t, "residual", T, O, span_of(-1.0, 1.0));
    trial_output(t, "y", T, O);
}

static const struct case_row linear_rows[] = {
    {.p = {1, 1, 1}},
    {.p = {1, 64, 33}},
    {.p = {7, 5, 11}},
    {.p = {7, 5, 11}, .without = "b"},
    {.p = {7, 5, 11}, .without = "residual"},
    {.p = {7, 5, 11}, .without = "b residual"},
    {.p = {7, 5, 11}, .backward_without = "dx"},
    {.p = {7, 5, 11}, .backward_without = "dw"},
    {.p = {7, 5, 11}, .backward_without = "db"},
    {.p = {7, 5, 11}, .backward_without = "dx db w"},
    {.p = {7, 5, 11}, .backward_without = "dw x"},
    {.p = {7, 5, 11}, .backward_without = "dx dw x w"},
    {.p = {7, 5, 11}, .share = {"y", "residual"}},
    {.p = {2, 1, 9}},
    {.p = {13, 17, 3}},
    {.p = {3, 600, 5}},
    {.p = {97, 40, 51}, .without = "residual"},
    {.p = {193, 24, 130}, .share = {"y", "residual"}},
    {.p = {385, 70, 36}, .without = "b"},
    {.p = {1025, 9, 7}},
    {.p = {385, 256, 300}, .without = "b residual"},
    {.p = {60, 512, 65}, .without = "b"},
};

/* Ids repeat and leave rows of the table out. */
static void build_embed(struct trial *t, const int64_t *p)
{
    int64_t T = p[0], V = p[1], D = p[2];
    struct generator random = generator_start(t->seed, "ids", 0.0, (double)V);
    double *ids = trial_values(t, "ids", 1, T);
    for (int64_t i = 0; ids && i < T; i++)
        ids[i] = floor(generator_at(&random, i));
    trial_random(t, "w", V, D, span_of(-1.0, 1.0));
    trial_output(t, "y", T, D);
}

static const struct case_row embed_rows[] = {
    {.p = {1, 1, 1}},     {.p = {13, 7, 5}},    {.p = {5, 40, 33}},
    {.p = {300, 11, 65}}, {.p = {700, 600, 9}},
};

/* eps in thousandths, 0 for the usual one.  With one or two columns the
 * gradient would be a difference of nearly equal numbers without a large
 * one. */
static double norm_eps(int64_t thousandths)
{
    return thousandths ? (double)thousandths / 1000.0 : 1e-5;
}

static void build_rmsnorm(struct trial *t, const int64_t *p)
{
    int64_t T = p[0], I = p[1], groups = p[2];
    t->args.rmsnorm.groups = groups;
    t->args.rmsnorm.eps = norm_eps(p[3]);
    trial_random(t, "x", T, I, span_of(-2.0, 2.0));
    trial_random(t, "z", T, I, span_of(-3.0, 3.0));
    trial_random(t, "w", 1, I, span_of(0.5, 1.5));
    trial_output(t, "y", T, I);
    trial_output(t, "rs", T, groups);
}

static const struct case_row rmsnorm_rows[] = {
    {.p = {1, 1, 1, 500}},
    {.p = {1, 33, 1}},
    {.p = {7, 15, 1}, .without = "z"},
    {.p = {7, 15, 1}},
    {.p = {5, 18, 3}},
    {.p = {5, 18, 3}, .without = "z"},
    {.p = {4, 12, 12, 100}},
    {.p = {97, 65, 1}, .without = "z"},
    {.p = {259, 48, 2}},
    {.p = {60, 512, 1}},
    {.p = {3, 1060, 2}},
    {.p = {2, 5300, 1}},
};

static void build_layernorm(struct trial *t, const int64_t *p)
{
    int64_t T = p[0], I = p[1];
    t->args.layernorm.eps = norm_eps(p[2]);
    trial_random(t, "x", T, I, span_of(-1.0, 3.0));
    trial_random(t, "w", 1, I, span_of(0.5, 1.5));
    trial_random(t, "b", 1, I, span_of(-1.0, 1.0));
    trial_output(t, "y", T, I);
    trial_output(t, "stats", T, 2);
}

static const struct case_row layernorm_rows[] = {
    {.p = {1, 2, 500}}, {.p = {5, 13}},   {.p = {1, 33}},   {.p = {97, 65}},
    {.p = {259, 48}},   {.p = {40, 300}}, {.p = {3, 1030}},
};

static void build_silu(struct trial *t, const int64_t *p)
{
    trial_random(t, "x", p[0], p[1], span_of((double)-p[2], (double)p[2]));
    trial_output(t, "y", p[0], p[1]);
}

/* Beyond 745 exp of either sign leaves the range of a double. */
static const struct case_row silu_rows[] = {
    {.p = {1, 1, 1}},
    {.p = {1, 41, 8}},
    {.p = {7, 13, 3}},
    {.p = {130, 67, 30}},
    {.p = {9, 65, 900}, .rough = true},
};

static void build_conv(struct trial *t, const int64_t *p)
{
    int64_t B = p[0], L = p[1], K = p[2], C = p[3];
    t->args.conv1d_silu.B = B;
    t->args.conv1d_silu.L = L;
    t->args.conv1d_silu.K = K;
    trial_random(t, "x", B * L, C, span_of(-2.0, 2.0));
    trial_random(t, "w", C, K, span_of(-1.0, 1.0));
    trial_random(t, "b", 1, C, span_of(-1.0, 1.0));
    trial_random(t, "state", B, C * K, span_of(-2.0, 2.0));
    trial_output(t, "y", B * L, C);
    trial_output(t, "state_out", B, C * K);
}

static const struct case_row conv_rows[] = {
    {.p = {1, 1, 1, 1}},
    {.p = {3, 1, 2, 4}},
    {.p = {2, 2, 4, 3}},
    {.p = {2, 2, 4, 3}, .without = "state"},
    {.p = {2, 2, 4, 3}, .share = {"state_out", "state"}},
    {.p = {2, 11, 4, 5}},
    {.p = {2, 11, 4, 5}, .without = "b"},
    {.p = {2, 11, 4, 5}, .backward_without = "db"},
    {.p = {2, 11, 4, 5}, .without = "state"},
    {.p = {2, 11, 4, 5}, .without = "state_out"},
    {.p = {2, 11, 4, 5}, .without = "b state state_out"},
    {.p = {2, 11, 4, 5}, .backward_without = "dstate_out"},
    {.p = {2, 11, 4, 5}, .backward_without = "dstate"},
    {.p = {2, 11, 4, 5}, .share = {"state_out", "state"}},
    {.p = {1, 9, 3, 7}},
    {.p = {3, 61, 4, 70}, .without = "state state_out"},
    {.p = {2, 130, 5, 33}},
    {.p = {2, 60, 4, 544}, .without = "state state_out"},
};

static void build_conv_step(struct trial *t, const int64_t *p)
{
    int64_t B = p[0], K = p[1], C = p[2];
    t->args.conv1d_step.K = K;
    trial_random(t, "x", B, C, span_of(-2.0, 2.0));
    trial_random(t, "w", C, K, span_of(-1.0, 1.0));
    trial_random(t, "b", 1, C, span_of(-1.0, 1.0));
    trial_random(t, "state", B, C * K, span_of(-2.0, 2.0));
    trial_output(t, "y", B, C);
}

static const struct case_row conv_step_rows[] = {
    {.p = {1, 1, 1}},   {.p = {1, 4, 37}},
    {.p = {3, 4, 5}},   {.p = {3, 2, 5}, .without = "b"},
    {.p = {33, 3, 65}},
};

struct case_list cases_layers(void)
{
    static const struct case_family families[] = {
        CASE_FAMILY(M2_OP_linear, "T I O", build_linear, linear_rows),
        CASE_FAMILY(M2_OP_embed, "T V D", build_embed, embed_rows),
        CASE_FAMILY(M2_OP_rmsnorm, "T I groups eps", build_rmsnorm,
                    rmsnorm_rows),
        CASE_FAMILY(M2_OP_layernorm, "T I eps", build_layernorm,
                    layernorm_rows),
        CASE_FAMILY(M2_OP_silu, "R C range", build_silu, silu_rows),
        CASE_FAMILY(M2_OP_conv1d_silu, "B L K C", build_conv, conv_rows),
        CASE_FAMILY(M2_OP_conv1d_step, "B K C", build_conv_step,
                    conv_step_rows),
    };
    return (struct case_list){families, sizeof families / sizeof *families};
}
