/* Shapes for elementwise ops and data movement. */
#include "backends/conformance/case.h"

static void build_add(struct trial *t, const int64_t *p)
{
    trial_random(t, "a", p[0], p[1], span_of(-1.0, 1.0));
    trial_random(t, "b", p[0], p[1], span_of(-1.0, 1.0));
    trial_output(t, "y", p[0], p[1]);
}

static const struct case_row add_rows[] = {
    {.p = {1, 1}},
    {.p = {7, 13}},
    {.p = {7, 13}, .share = {"y", "a"}},
    {.p = {7, 13}, .share = {"y", "b"}},
    {.p = {131, 67}},
};

static void build_scale(struct trial *t, const int64_t *p)
{
    t->args.scale.factor = 0.37;
    trial_random(t, "y", p[0], p[1], span_of(-1.0, 1.0));
}

static const struct case_row shape_rows[] = {
    {.p = {1, 1}},
    {.p = {1, 37}},
    {.p = {7, 13}},
    {.p = {131, 67}},
};

static void build_fill(struct trial *t, const int64_t *p)
{
    t->args.fill.value = -2.75;
    trial_output(t, "y", p[0], p[1]);
}

static void build_fill_f64(struct trial *t, const int64_t *p)
{
    build_fill(t, p);
    t->views[trial_find(t, "y")].dtype = M2_F64;
}

static void build_copy(struct trial *t, const int64_t *p)
{
    trial_random(t, "x", p[0], p[1], span_of(-9.0, 9.0));
    trial_output(t, "y", p[0], p[1]);
}

static void build_copy_as(struct trial *t, const int64_t *p,
                          enum m2_dtype dtype)
{
    build_copy(t, p);
    t->views[trial_find(t, "x")].dtype = dtype;
    t->views[trial_find(t, "y")].dtype = dtype;
}

static void build_copy_f64(struct trial *t, const int64_t *p)
{
    build_copy_as(t, p, M2_F64);
}

static void build_copy_i32(struct trial *t, const int64_t *p)
{
    build_copy_as(t, p, M2_I32);
    double *x = t->views[trial_find(t, "x")].values;
    for (int64_t i = 0; x && i < p[0] * p[1]; i++)
        x[i] = (double)(i * 1234567 - 987654);
}

static void build_mean_time(struct trial *t, const int64_t *p)
{
    int64_t B = p[0], L = p[1], D = p[2];
    t->args.mean_time.B = B;
    t->args.mean_time.L = L;
    trial_random(t, "x", B * L, D, span_of(-1.0, 1.0));
    trial_output(t, "y", B, D);
}

static const struct case_row mean_time_rows[] = {
    {.p = {1, 1, 1}},  {.p = {1, 7, 3}},    {.p = {3, 1, 5}},
    {.p = {3, 11, 5}}, {.p = {5, 130, 33}},
};

/* Windows overlap, repeat, and touch both ends of the series. */
static void build_gather(struct trial *t, const int64_t *p)
{
    int64_t B = p[0], L = p[1], F = p[2], O = p[3], horizon = p[4];
    int64_t last = 3 * L, rows = last + L + horizon;
    struct m2_gather_windows *a = &t->args.gather_windows;
    a->B = B;
    a->L = L;
    a->horizon = horizon;
    a->horizon_mode = (int)p[5];
    a->window_norm = (int)p[6];
    a->eps = 1e-8;
    trial_random(t, "features", rows, F, span_of(1.0, 3.0));
    trial_random(t, "targets", rows, O, span_of(-3.0, -1.0));
    double *starts = trial_values(t, "starts", 1, B);
    for (int64_t b = 0; starts && b < B; b++)
        starts[b] = b == 0 ? (double)last : (double)((b - 1) * 7 % (last + 1));
    trial_output(t, "x", B * L, F);
    trial_output(t, "y", B, p[5] == M2_HORIZON_PATH ? horizon * O : O);
    trial_output(t, "norms", B, 2 * O);
}

static const struct case_row gather_rows[] = {
    {.p = {1, 1, 1, 1, 1, M2_HORIZON_PATH, M2_NORM_NONE}},
    {.p = {3, 5, 4, 2, 1, M2_HORIZON_LAST, M2_NORM_NONE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_PATH, M2_NORM_NONE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_LAST, M2_NORM_NONE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_SUM, M2_NORM_NONE}},
    {.p = {1, 1, 1, 1, 1, M2_HORIZON_PATH, M2_NORM_LAST}},
    {.p = {3, 5, 4, 2, 1, M2_HORIZON_LAST, M2_NORM_LAST}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_PATH, M2_NORM_LAST}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_LAST, M2_NORM_LAST}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_SUM, M2_NORM_LAST}},
    {.p = {1, 1, 1, 1, 1, M2_HORIZON_PATH, M2_NORM_ZSCORE}},
    {.p = {3, 5, 4, 2, 1, M2_HORIZON_LAST, M2_NORM_ZSCORE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_PATH, M2_NORM_ZSCORE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_LAST, M2_NORM_ZSCORE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_SUM, M2_NORM_ZSCORE}},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_PATH, M2_NORM_ZSCORE}, .without = "norms"},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_PATH, M2_NORM_LAST}, .without = "y"},
    {.p = {3, 5, 4, 2, 3, M2_HORIZON_SUM, M2_NORM_ZSCORE},
     .without = "y norms"},
    {.p = {33, 60, 17, 1, 2, M2_HORIZON_SUM, M2_NORM_ZSCORE}},
};

struct case_list cases_data(void)
{
    static const struct case_family families[] = {
        CASE_FAMILY(M2_OP_add, "R C", build_add, add_rows),
        CASE_FAMILY(M2_OP_scale, "R C", build_scale, shape_rows),
        CASE_FAMILY(M2_OP_fill, "R C", build_fill, shape_rows),
        CASE_FAMILY(M2_OP_fill, "R_f64 C", build_fill_f64, shape_rows),
        CASE_FAMILY(M2_OP_copy, "R C", build_copy, shape_rows),
        CASE_FAMILY(M2_OP_copy, "R_f64 C", build_copy_f64, shape_rows),
        CASE_FAMILY(M2_OP_copy, "R_i32 C", build_copy_i32, shape_rows),
        CASE_FAMILY(M2_OP_mean_time, "B L D", build_mean_time, mean_time_rows),
        CASE_FAMILY(M2_OP_gather_windows, "B L F O horizon mode norm",
                    build_gather, gather_rows),
    };
    return (struct case_list){families, sizeof families / sizeof *families};
}
