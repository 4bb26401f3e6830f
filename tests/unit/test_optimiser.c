/* One optimiser step, against the formulas written out in doubles. */
#include "train/optimiser.h"

#include <math.h>

#include "tests/unit/small_model.h"
#include "tests/unit/unit.h"

#define LR 0.01

struct fixture {
    struct config config;
    struct model *model;
    struct optimiser *optimiser;
    int64_t n, n_decayed;
    double *p, *g, *m, *v; /* (n): what must come out */
};

static const struct config_train usual = {
    .optimizer = {.betas = {0.9, 0.99}, .eps = 1e-6, .weight_decay = 0.1},
};

static void begin(struct fixture *f, const struct config_train *train)
{
    struct m2_error err;

    *f = (struct fixture){
        .config = {.model = small_config(READOUT_LAST), .train = *train}};
    f->model = small_model(&f->config.model, true);
    f->n = model_arena_size(f->model, &f->n_decayed);
    assert_ok(optimiser_create(small_device(), f->model, &f->config,
                               &f->optimiser, &err),
              &err);
    f->p = small_download(model_values(f->model));
    f->g = calloc((size_t)f->n, sizeof *f->g);
    f->m = calloc((size_t)f->n, sizeof *f->m);
    f->v = calloc((size_t)f->n, sizeof *f->v);
}

static void end(struct fixture *f)
{
    optimiser_free(f->optimiser);
    model_free(f->model);
    free(f->p);
    free(f->g);
    free(f->m);
    free(f->v);
}

/* A gradient of the given size; returns its norm. */
static double set_gradient(struct fixture *f, double size, int64_t first)
{
    struct m2_view view = model_gradients(f->model);
    double sum = 0;
    struct m2_error err;

    for (int64_t i = 0; i < f->n; i++) {
        f->g[i] = size * sin(1.1 * (double)(first + i));
        sum += f->g[i] * f->g[i];
    }
    assert_ok(view_upload(small_device(), &view, f->g, &err), &err);
    return sqrt(sum);
}

/* The specification's update of every parameter. */
static void expect_step(struct fixture *f, int64_t step, double norm)
{
    const struct config_train *train = &f->config.train;
    double b1 = train->optimizer.betas[0], b2 = train->optimizer.betas[1];
    double coefficient = train->clip_norm / (norm + 1e-6);

    if (train->clip_norm == 0 || coefficient > 1)
        coefficient = 1;
    for (int64_t i = 0; i < f->n; i++) {
        double g = coefficient * f->g[i];

        if (i < f->n_decayed)
            f->p[i] *= 1 - LR * train->optimizer.weight_decay;
        f->m[i] = b1 * f->m[i] + (1 - b1) * g;
        f->v[i] = b2 * f->v[i] + (1 - b2) * g * g;
        f->p[i] -= LR / (1 - pow(b1, (double)step)) * f->m[i] /
                   (sqrt(f->v[i]) / sqrt(1 - pow(b2, (double)step)) +
                    train->optimizer.eps);
    }
}

static void check(struct m2_view view, const double *expected, int64_t n)
{
    double *found = small_download(view);

    for (int64_t i = 0; i < n; i++)
        if (!(fabs(found[i] - expected[i]) <= 1e-13 * (1 + fabs(expected[i]))))
            fail_msg("element %lld: %.17g, expected %.17g", (long long)i,
                     found[i], expected[i]);
    free(found);
}

static void check_all(const struct fixture *f)
{
    check(model_values(f->model), f->p, f->n);
    check(optimiser_first_moment(f->optimiser), f->m, f->n);
    check(optimiser_second_moment(f->optimiser), f->v, f->n);
}

static struct optimiser_result step(struct fixture *f, int64_t number)
{
    struct optimiser_result result = {0};
    struct m2_error err;

    assert_ok(optimiser_step(f->optimiser, number, LR, &result, &err), &err);
    return result;
}

static void run_steps(const struct config_train *train, double size)
{
    struct fixture f;

    begin(&f, train);
    assert_true(f.n_decayed > 0 && f.n_decayed < f.n);
    check_all(&f);
    for (int64_t number = 1; number <= 3; number++) {
        double norm = set_gradient(&f, size, 1000 * number);
        struct optimiser_result result = step(&f, number);

        assert_true(result.finite);
        assert_true(fabs(result.grad_norm - norm) <= 1e-12 * norm);
        expect_step(&f, number, norm);
        check_all(&f);
    }
    end(&f);
}

static void a_step_is_adamw_with_decay_of_matrices_only(void **state)
{
    (void)state;
    run_steps(&usual, 0.01);
}

static void a_gradient_above_the_limit_is_scaled_to_it(void **state)
{
    struct config_train train = usual;

    (void)state;
    train.clip_norm = 0.5;
    run_steps(&train, 10);
}

static void a_gradient_below_the_limit_stays_as_it_is(void **state)
{
    struct config_train train = usual;

    (void)state;
    train.clip_norm = 1e6;
    run_steps(&train, 0.01);
}

static void a_gradient_that_is_not_finite_changes_nothing(void **state)
{
    static const double bad[] = {NAN, INFINITY};
    struct config_train train = usual;

    (void)state;
    train.spectral_radius.mode = SPECTRAL_DISCRETE; /* would raise a_log */
    train.spectral_radius.rho = 0.9;
    train.spectral_radius.dt_ref = 0.01;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct fixture f;
        struct m2_view view;
        struct optimiser_result result;
        struct m2_error err;

        begin(&f, &train);
        set_gradient(&f, 0.1, 0);
        view = view_columns(model_gradients(f.model), f.n - 1, 1);
        assert_ok(view_upload(small_device(), &view, &bad[i], &err), &err);
        result = step(&f, 1);
        assert_false(result.finite);
        assert_false(isfinite(result.grad_norm));
        check_all(&f);
        end(&f);
    }
}

/* As a loss that overflowed, with gradients that did not. */
static void a_value_beside_that_is_not_finite_changes_nothing(void **state)
{
    static const double beside[][2] = {{1, 2}, {1, NAN}, {-INFINITY, 2}};
    struct config_train train = usual;

    (void)state;
    train.clip_norm = 0.01;
    train.spectral_radius.mode = SPECTRAL_DISCRETE; /* would raise a_log */
    train.spectral_radius.rho = 0.9;
    train.spectral_radius.dt_ref = 0.01;
    for (size_t i = 0; i < COUNT_OF(beside); i++) {
        struct optimiser_result result = {0};
        struct m2_buffer *buffer;
        struct m2_view also;
        struct fixture f;
        struct m2_error err;
        double norm;

        begin(&f, &train);
        norm = set_gradient(&f, 0.1, 0);
        assert_ok(buffer_alloc(small_device(), sizeof beside[i], &buffer, &err),
                  &err);
        also = view_matrix(buffer, 0, 1, 2, 2, M2_F64);
        assert_ok(view_upload(small_device(), &also, beside[i], &err), &err);
        assert_ok(optimiser_queue(f.optimiser, 1, LR, &also, &err), &err);
        assert_ok(optimiser_read(f.optimiser, &result, &err), &err);
        assert_int_equal(result.finite, i == 0);
        assert_true(fabs(result.grad_norm - norm) <= 1e-12 * norm);
        if (i > 0) {
            check_all(&f);
            check(model_gradients(f.model), f.g, f.n);
        }
        buffer_free(small_device(), buffer);
        end(&f);
    }
}

static void the_spectral_radius_is_limited_after_the_step(void **state)
{
    struct config_train train = usual;
    double floor = log(-log(0.9) / 0.01);
    struct fixture f;

    (void)state;
    train.spectral_radius.mode = SPECTRAL_DISCRETE;
    train.spectral_radius.rho = 0.9;
    train.spectral_radius.dt_ref = 0.01;
    begin(&f, &train);
    set_gradient(&f, 0.01, 0);
    step(&f, 1);
    for (int64_t layer = 0; layer < f.config.model.n_layer; layer++) {
        struct m2_view a_log = model_a_log(f.model, layer);
        double *values = small_download(a_log);

        for (int64_t h = 0; h < a_log.cols; h++)
            assert_true(values[h] >= floor - 1e-12);
        free(values);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_adamw_with_decay_of_matrices_only),
        cmocka_unit_test(a_gradient_above_the_limit_is_scaled_to_it),
        cmocka_unit_test(a_gradient_below_the_limit_stays_as_it_is),
        cmocka_unit_test(a_gradient_that_is_not_finite_changes_nothing),
        cmocka_unit_test(a_value_beside_that_is_not_finite_changes_nothing),
        cmocka_unit_test(the_spectral_radius_is_limited_after_the_step),
    };

    return cmocka_run_group_tests(tests, small_open, small_close);
}
