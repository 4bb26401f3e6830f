/* Scoring the parts of a dataset with a model as it is. */
#include "train/evaluate.h"

#include <math.h>

#include "data/target.h"
#include "tests/unit/small_experiment.h"
#include "tests/unit/unit.h"

struct fixture {
    struct experiment experiment;
    struct session session;
    struct evaluator *evaluator;
};

static void begin(struct fixture *f, const char *overrides)
{
    struct session_request request = {.threads = 1, .training = true};
    struct m2_error err;

    *f = (struct fixture){0};
    small_experiment(&f->experiment, overrides);
    request.config = &f->experiment.config;
    assert_ok(session_open(&request, &f->session, &err), &err);
    assert_ok(session_initialise(&f->session, &err), &err);
    assert_ok(evaluator_create(&f->session, &f->evaluator, &err), &err);
}

static void end(struct fixture *f)
{
    evaluator_free(f->evaluator);
    session_close(&f->session);
    experiment_free(&f->experiment);
}

static struct score run(struct fixture *f, enum part part)
{
    struct score score;
    struct m2_error err;

    assert_ok(evaluator_run(f->evaluator, part, &score, &err), &err);
    return score;
}

static double value(const struct score *score, const char *name)
{
    double out = NAN;

    if (!score_find(score, name, &out))
        fail_msg("no score %s", name);
    return out;
}

/* Mean over the windows of a part, one window predicted at a time. */
static double mean_of(struct fixture *f, enum part part,
                      double (*loss)(double error))
{
    const struct dataset *dataset = &f->session.dataset;
    const struct dataset_windows *windows = &dataset->parts[part];
    int64_t width = target_width(dataset, &f->experiment.config.data);
    double sum = 0, predicted[8], truth[8];
    struct m2_error err;

    assert_true(width <= 8 && windows->n > 0);
    for (int64_t i = 0; i < windows->n; i++) {
        assert_ok(predict_windows(f->session.batcher, f->session.model,
                                  &windows->starts[i], 1, predicted, &err),
                  &err);
        target_true(dataset, &f->experiment.config.data, windows->starts[i],
                    truth);
        for (int64_t j = 0; j < width; j++)
            sum += loss(predicted[j] - truth[j]);
    }
    return sum / (double)(windows->n * width);
}

static double square(double error)
{
    return error * error;
}

static double huber(double error) /* delta 0.5 */
{
    return fabs(error) < 0.5 ? 0.5 * error * error : 0.5 * fabs(error) - 0.125;
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", actual, expected);
}

static void the_loss_is_the_one_that_is_trained(void **state)
{
    static const struct {
        const char *overrides;
        double (*loss)(double error);
    } cases[] = {
        {"loss=mse", square},
        {"loss=mae horizon=3", fabs},
        {"loss=huber huber_delta=0.5 horizon=2", huber},
        {"loss=mse readout=all horizon=2", square},
        {"loss=mae readout=mean window_norm=zscore", fabs},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;

        begin(&f, cases[i].overrides);
        for (enum part part = PART_VAL; part <= PART_TEST; part++) {
            struct score score = run(&f, part);

            assert_near(value(&score, "loss"),
                        mean_of(&f, part, cases[i].loss));
            assert_near(value(&score, "mse"), mean_of(&f, part, square));
            assert_near(value(&score, "mae"), mean_of(&f, part, fabs));
        }
        end(&f);
    }
}

static void returns_have_scores_of_their_own(void **state)
{
    struct fixture f;
    struct score score;
    double ignored;

    (void)state;
    begin(&f, "");
    score = run(&f, PART_VAL);
    assert_true(value(&score, "hit_n") ==
                (double)f.session.dataset.parts[PART_VAL].n);
    assert_true(fabs(value(&score, "ic")) <= 1);
    end(&f);
    begin(&f, "target=[close] features=[close]");
    score = run(&f, PART_VAL);
    assert_false(score_find(&score, "ic", &ignored));
    assert_false(score_find(&score, "hit_rate", &ignored));
    end(&f);
}

static void skill_is_beside_the_best_naive_forecast(void **state)
{
    struct fixture f;
    struct score score;
    const struct baseline_scores *naive;

    (void)state;
    begin(&f, "");
    score = run(&f, PART_TEST);
    naive = evaluator_baselines(f.evaluator, PART_TEST);
    assert_near(value(&score, "skill"),
                1 - value(&score, "mse") / naive->best_mse);
    for (int i = 0; i < N_BASELINES; i++)
        assert_true(!naive->valid[i] || naive->mse[i] >= naive->best_mse);
    end(&f);
}

static void an_empty_part_has_no_scores(void **state)
{
    struct fixture f;
    struct score names;

    (void)state;
    begin(&f, "split.val=0 split.train=0.8 metric=train/loss");
    assert_int_equal(run(&f, PART_VAL).n, 0);
    assert_true(run(&f, PART_TEST).n > 0);
    evaluator_names(f.evaluator, &names);
    assert_int_equal(names.n, 0);
    end(&f);
}

static void the_names_are_known_before_the_first_evaluation(void **state)
{
    struct fixture f;
    struct score names, score;

    (void)state;
    begin(&f, "");
    evaluator_names(f.evaluator, &names);
    score = run(&f, PART_VAL);
    assert_int_equal(names.n, score.n);
    for (size_t i = 0; i < names.n; i++)
        assert_string_equal(names.items[i].name, score.items[i].name);
    end(&f);
}

static void scores_do_not_depend_on_what_ran_before(void **state)
{
    struct fixture f;
    struct score first, again;

    (void)state;
    begin(&f, "");
    first = run(&f, PART_VAL);
    run(&f, PART_TEST);
    again = run(&f, PART_VAL);
    for (size_t i = 0; i < first.n; i++)
        assert_memory_equal(&first.items[i].value, &again.items[i].value,
                            sizeof(double));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_loss_is_the_one_that_is_trained),
        cmocka_unit_test(returns_have_scores_of_their_own),
        cmocka_unit_test(skill_is_beside_the_best_naive_forecast),
        cmocka_unit_test(an_empty_part_has_no_scores),
        cmocka_unit_test(the_names_are_known_before_the_first_evaluation),
        cmocka_unit_test(scores_do_not_depend_on_what_ran_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
