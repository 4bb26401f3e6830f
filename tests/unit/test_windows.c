/* Numbers of windows of the published splits: every window is scored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "data/windows.h"

struct stack {
    struct dataset dataset;
    struct dataset_series series;
    struct split_part parts[N_PARTS];
    int64_t longest[N_PARTS];
};

/* One series of n rows at the times 0 .. n-1, all values there. */
static void make(struct stack *stack, const struct config_data *config,
                 int64_t n)
{
    struct m2_error err;
    struct dataset *d = &stack->dataset;

    *stack = (struct stack){0};
    stack->series.n = n;
    d->S = n;
    d->F = d->O = 1;
    d->series = &stack->series;
    d->n_series = 1;
    d->features = calloc((size_t)n, sizeof(double));
    d->targets = calloc((size_t)n, sizeof(double));
    d->times = calloc((size_t)n, sizeof(int64_t));
    d->starts = calloc((size_t)n, 1);
    for (int64_t t = 0; t < n; t++)
        d->times[t] = t;
    d->starts[0] = 1;
    assert_int_equal(split_make(config, d->times, n, false, stack->parts, &err),
                     M2_OK);
    struct windows_input input = {.dataset = d,
                                  .starts = d->starts,
                                  .parts = stack->parts,
                                  .config = config};
    assert_int_equal(windows_make(&input, d, stack->longest, &err), M2_OK);
}

static void drop(struct stack *stack)
{
    struct dataset *d = &stack->dataset;

    for (int p = 0; p < N_PARTS; p++)
        free(d->parts[p].starts);
    free(d->live.starts);
    free(d->features);
    free(d->targets);
    free(d->times);
    free(d->starts);
}

/* Look-back 96. ETTh: 17420 rows, of which 14400 are used; Exchange: 7588. */
static void published_splits_have_the_published_windows(void **state)
{
    static const struct {
        int64_t rows, horizon;
        struct split_bound train, val, test;
        int64_t windows[N_PARTS];
    } cases[] = {
        {17420,
         96,
         {BOUND_ROWS, 0, 8640, 0},
         {BOUND_ROWS, 0, 2880, 0},
         {BOUND_ROWS, 0, 2880, 0},
         {8449, 2785, 2785}},
        {17420,
         720,
         {BOUND_ROWS, 0, 8640, 0},
         {BOUND_ROWS, 0, 2880, 0},
         {BOUND_ROWS, 0, 2880, 0},
         {7825, 2161, 2161}},
        {7588,
         96,
         {BOUND_FRACTION, 0.7, 0, 0},
         {BOUND_FRACTION, 0.1, 0, 0},
         {BOUND_FRACTION, 0.2, 0, 0},
         {5120, 665, 1422}},
        {7588,
         720,
         {BOUND_FRACTION, 0.7, 0, 0},
         {BOUND_FRACTION, 0.1, 0, 0},
         {BOUND_FRACTION, 0.2, 0, 0},
         {4496, 41, 798}},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct config_data config = {.window = 96,
                                     .horizon = cases[k].horizon,
                                     .stride = 1,
                                     .eval_stride = 1};
        struct stack stack;
        config.split.train = cases[k].train;
        config.split.val = cases[k].val;
        config.split.test = cases[k].test;
        config.split.context = true;
        make(&stack, &config, cases[k].rows);
        for (int p = 0; p < N_PARTS; p++)
            assert_int_equal(stack.dataset.parts[p].n, cases[k].windows[p]);
        /* The look-back of the first one reaches into the part before, the
         * targets of the last one end with the part. */
        const struct dataset_windows *test = &stack.dataset.parts[PART_TEST];
        assert_int_equal(test->starts[0] + 96, stack.parts[PART_TEST].first_ns);
        assert_int_equal(test->starts[test->n - 1] + 95 + cases[k].horizon,
                         stack.parts[PART_TEST].last_ns);
        assert_int_equal(stack.longest[PART_TEST],
                         stack.parts[PART_TEST].n_rows + 96);
        drop(&stack);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_splits_have_the_published_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
