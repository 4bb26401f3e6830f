/* Random sweeps: draws that never change, and what they do not depend on. */
#include "sweep_fixture.h"

#include <math.h>

#include "sweep/draw.h"

/* weight_decay makes every trial another one: none is folded. */
#define PARAMS                                                                 \
    "  params:\n    weight_decay: {uniform: [0, 1]}\n    n_layer: {int: [1, "  \
    "12]}\n    lr: {loguniform: [1e-5, 1e-2]}\n"

/* What a run drew for a key; NULL: the sweep has no such key. */
static const char *drawn(const struct expanded *e, size_t run, const char *key)
{
    for (size_t i = 0; i < e->sweep.n_axes; i++)
        if (strcmp(e->sweep.runs[run].settings[i].key, key) == 0)
            return e->sweep.runs[run].settings[i].value;
    return NULL;
}

/* ---- golden ------------------------------------------------------------- */

/* One line of draws.txt: SEED KEY DISTRIBUTION ARGUMENTS = VALUES */
static void check_line(const char *line)
{
    char seed[24], key[40], distribution[16], arguments[40];
    double values[5];
    struct text text = {0};
    struct expanded e;

    assert_int_equal(sscanf(line, "%23s %39s %15s %39s = %lf %lf %lf %lf %lf",
                            seed, key, distribution, arguments, &values[0],
                            &values[1], &values[2], &values[3], &values[4]),
                     9);
    text_addf(&text,
              COLUMNS "sweep:\n  random: {n: 5, seed: %s}\n  params:\n"
                      "    %s: {%s: [%s]}\n    weight_decay: {uniform: [0, "
                      "1]}\n",
              seed, key, distribution, arguments);
    expand_ok(&e, text_string(&text), NULL, 0);
    assert_int_equal(e.sweep.n_runs, 5);
    for (size_t i = 0; i < 5; i++)
        if (strtod(drawn(&e, i, key), NULL) != values[i])
            fail_msg("trial %zu is %s: %s", i, drawn(&e, i, key), line);
    finish(&e);
    text_free(&text);
}

static void the_first_trials_of_every_distribution_never_change(void **state)
{
    const char *top = getenv("top_srcdir");
    char path[4096], line[512];
    size_t checked = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/golden/draws.txt",
             top != NULL ? top : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#')
            continue;
        check_line(line);
        checked++;
    }
    fclose(file);
    print_message("# %zu lines of golden draws\n", checked);
    assert_true(checked >= 17);
}

/* ---- what a draw does not depend on -------------------------------------- */

static void assert_same_draws(const struct expanded *a,
                              const struct expanded *b, size_t n)
{
    static const char *const keys[] = {"train.optimizer.weight_decay",
                                       "model.n_layer", "train.optimizer.lr"};

    assert_true(a->sweep.n_runs >= n && b->sweep.n_runs >= n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < COUNT_OF(keys); k++)
            assert_string_equal(drawn(a, i, keys[k]), drawn(b, i, keys[k]));
}

static void more_trials_keep_the_first_ones(void **state)
{
    static const char *const more[] = {"random.n=200"};
    struct expanded few, many;

    (void)state;
    expand_ok(&few, COLUMNS "sweep:\n  random: {n: 20, seed: 3}\n" PARAMS, NULL,
              0);
    expand_ok(&many, COLUMNS "sweep:\n  random: {n: 20, seed: 3}\n" PARAMS,
              more, 1);
    assert_int_equal(many.sweep.n_runs, 200);
    assert_same_draws(&few, &many, 20);
    for (size_t i = 0; i < 20; i++)
        assert_string_equal(few.sweep.runs[i].label, many.sweep.runs[i].label);
    finish(&few);
    finish(&many);
}

static void another_parameter_changes_no_draw(void **state)
{
    struct expanded before, after;

    (void)state;
    expand_ok(&before, COLUMNS "sweep:\n  random: {n: 20, seed: 3}\n" PARAMS,
              NULL, 0);
    expand_ok(&after,
              COLUMNS "sweep:\n  random: {n: 20, seed: 3}\n" PARAMS
                      "    d_state: {choice: [8, 16]}\n"
                      "    clip_norm: {uniform: [0.1, 2]}\n",
              NULL, 0);
    assert_same_draws(&before, &after, 20);
    finish(&before);
    finish(&after);
}

static void the_order_and_the_names_of_keys_do_not_matter(void **state)
{
    struct expanded one, other;

    (void)state;
    expand_ok(&one, COLUMNS "sweep:\n  random: {n: 9, seed: 3}\n" PARAMS, NULL,
              0);
    expand_ok(&other,
              COLUMNS
              "sweep:\n  random:\n    seed: 3\n    n: 9\n    params:\n"
              "      train.optimizer.lr: {loguniform: [0.00001, 1.0e-2]}\n"
              "      model.n_layer: {int: [1.0, 12.0]}\n"
              "      optimizer.weight_decay: {uniform: [0.0, 1.0]}\n",
              NULL, 0);
    assert_same_draws(&one, &other, 9);
    for (size_t i = 0; i < 9; i++)
        assert_string_equal(one.sweep.runs[i].label, other.sweep.runs[i].label);
    finish(&one);
    finish(&other);
}

static void another_seed_draws_other_trials(void **state)
{
    static const char *const seed[] = {"sweep.random.seed=4"};
    struct expanded one, other;

    (void)state;
    expand_ok(&one, COLUMNS "sweep:\n  random: {n: 5, seed: 3}\n" PARAMS, NULL,
              0);
    expand_ok(&other, COLUMNS "sweep:\n  random: {n: 5, seed: 3}\n" PARAMS,
              seed, 1);
    for (size_t i = 0; i < 5; i++)
        assert_string_not_equal(drawn(&one, i, "train.optimizer.lr"),
                                drawn(&other, i, "train.optimizer.lr"));
    finish(&one);
    finish(&other);
}

/* ---- what draws are ------------------------------------------------------ */

static void an_integer_key_draws_integers_whatever_the_spelling(void **state)
{
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS "sweep: {random: {n: 40}, params: {n_layer: {uniform: "
                      "[1.0, 4.0]}, weight_decay: {uniform: [0, 1]}}}",
              NULL, 0);
    for (size_t i = 0; i < 40; i++) {
        assert_null(strchr(drawn(&e, i, "model.n_layer"), '.'));
        assert_true(e.sweep.runs[i].config.model.n_layer >= 1);
        assert_true(e.sweep.runs[i].config.model.n_layer <= 4);
        assert_true(e.sweep.runs[i].config.train.optimizer.weight_decay > 0);
        assert_true(e.sweep.runs[i].config.train.optimizer.weight_decay < 1);
    }
    finish(&e);
}

static void few_values_end_the_trials_early_with_a_word(void **state)
{
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS "sweep: {random: {n: 200}, params: {n_layer: {int: [1, "
                      "3]}, d_state: {choice: [8, 16]}}, seeds: 2}",
              NULL, 0);
    assert_int_equal(e.sweep.n_points, 6);
    assert_int_equal(e.sweep.n_runs, 12);
    assert_int_equal(e.messages.n_warnings, 1);
    assert_non_null(strstr(e.messages.items[0].text,
                           "200 random trials are 6 different points"));
    finish(&e);
}

/* Mean of a distribution over many trials, in units of its own error. */
static void distributions_have_their_means(void **state)
{
    enum { N = 20000 };
    static const struct {
        struct draw draw;
        double mean, deviation;
    } cases[] = {
        {{DRAW_UNIFORM, false, 2, 4, 0, 0}, 3, 0.57735},
        {{DRAW_LOGUNIFORM, false, 1, 100, 0, 0}, 21.497, 24.96},
        {{DRAW_QUNIFORM, false, 0, 1, 0.25, 0}, 0.5, 0.35355},
        {{DRAW_NORMAL, false, 5, 2, 0, 0}, 5, 2},
        {{DRAW_INT, true, 1, 6, 0, 0}, 3.5, 1.70783},
        {{DRAW_UNIFORM, true, 1, 6, 0, 0}, 3.5, 1.70783},
        {{DRAW_NORMAL, true, 50, 10, 0, 0}, 50, 10.004},
        /* P(1) = log 2 / log 4, P(2) = log 1.5 / log 4, P(3) the rest */
        {{DRAW_LOGUNIFORM, true, 1, 3, 0, 0}, 1.7075, 0.79},
        {{DRAW_CHOICE, false, 0, 0, 0, 3}, 1, 0.8165},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double sum = 0, error = cases[i].deviation / sqrt(N);

        for (uint64_t trial = 0; trial < N; trial++)
            sum += draw_number(&cases[i].draw, 11, "key", trial);
        if (fabs(sum / N - cases[i].mean) > 4 * error)
            fail_msg("case %zu: mean %g, not %g", i, sum / N, cases[i].mean);
    }
}

static void draws_keep_to_their_bounds(void **state)
{
    static const struct draw draws[] = {
        {DRAW_UNIFORM, false, 0.1, 0.10000000001, 0, 0},
        {DRAW_LOGUNIFORM, false, 1e-300, 1e300, 0, 0},
        {DRAW_QUNIFORM, false, 0.1, 0.4, 0.1, 0},
        {DRAW_LOGUNIFORM, true, 1, 2, 0, 0},
        {DRAW_INT, true, -3, 3, 0, 0},
        {DRAW_INT, true, -9007199254740991.0, 9007199254740991.0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(draws); i++)
        for (uint64_t trial = 0; trial < 2000; trial++) {
            double value = draw_number(&draws[i], 5, "key", trial);

            assert_true(value >= draws[i].low && value <= draws[i].high);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_trials_of_every_distribution_never_change),
        cmocka_unit_test(more_trials_keep_the_first_ones),
        cmocka_unit_test(another_parameter_changes_no_draw),
        cmocka_unit_test(the_order_and_the_names_of_keys_do_not_matter),
        cmocka_unit_test(another_seed_draws_other_trials),
        cmocka_unit_test(an_integer_key_draws_integers_whatever_the_spelling),
        cmocka_unit_test(few_values_end_the_trials_early_with_a_word),
        cmocka_unit_test(distributions_have_their_means),
        cmocka_unit_test(draws_keep_to_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
