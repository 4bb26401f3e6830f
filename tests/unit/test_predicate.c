/* Conditions over a config: what they mean.  What is wrong with them is said
 * in tests/cli/broken/sweep-exclude*.yaml. */
#include "sweep_fixture.h"

#include "sweep/predicate.h"

/* d_state 16, d_model 256, n_layer 6, lr 1e-3, ... : the defaults, and: */
#define BASE                                                                   \
    "data: {features: [close, volume], target: [close], options: {ic: 0.5, "   \
    "kind: bars}}\nmodel: {n_layer: 3, conv_bias: false}\n"                    \
    "train: {clip_norm: 0, loss: mae}\n"

/* 1: holds, 0: does not, -1: is wrong. */
static int evaluate(const char *condition)
{
    struct expanded e;
    struct predicate *predicate = NULL;
    struct node *node;
    bool failed = false;
    int result = -1;

    expand_ok(&e, BASE, NULL, 0);
    node =
        node_new_scalar(&e.sweep.tree, e.experiment.binding.whole, condition);
    assert_ok(
        predicate_parse(&(struct predicate_scope){&e.experiment.schema,
                                                  &e.experiment.config,
                                                  &e.sweep.tree, &e.messages},
                        node, &predicate, &e.err),
        &e.err);
    assert_int_equal(predicate == NULL, e.messages.n_errors > 0);
    if (predicate != NULL)
        result = predicate_holds(predicate, &e.experiment.config, &failed);
    assert_false(failed);
    predicate_free(predicate);
    finish(&e);
    return result;
}

static void conditions_mean_what_they_say(void **state)
{
    static const struct {
        const char *condition;
        int expected;
    } cases[] = {
        {"n_layer == 3", 1},
        {"model.n_layer != 3", 0},
        {"n_layer<4", 1},
        {"n_layer <= 3", 1},
        {"n_layer > 3", 0},
        {"n_layer >= 3.0", 1},
        {"lr == 0.001", 1},
        {"lr==1e-3", 1},
        {"lr >= 2e-3", 0},
        {"loss == mae", 1},
        {"loss != \"mse\"", 1},
        {"loss == 'mse'", 0},
        {"clip_norm == 0", 1},
        {"init_from == null", 1},
        {"conv_bias", 0},
        {"!conv_bias", 1},
        {"conv_bias == false", 1},
        {"data.options.ic == 0.5", 1},
        {"ic > 0.25 && data.options.kind == bars", 1},
        {"wrap", 0},
        {"features == [close, volume]", 1},
        {"features != [\"close\", 'volume']", 0},
        {"data.target == close", 1},
        {"early_stopping.patience == 0", 1},
        /* && before ||, ! before both */
        {"n_layer == 3 || n_layer == 4 && loss == mse", 1},
        {"(n_layer == 3 || n_layer == 4) && loss == mse", 0},
        {"!(n_layer == 3) || loss == mae", 1},
        {"!(n_layer == 3 || loss == mae)", 0},
        {"!(!(n_layer == 3))", 1},
        {"((n_layer == 3))", 1},
        {" \t n_layer\n==\n3 ", 1},
        {"n_layer == 3 && loss == mae && !conv_bias && lr < 1", 1},
        {"n_layer == 2 || loss == mse || conv_bias || lr > 1", 0},
        {"lr == -1", -1}, /* out of range */
        {"n_layer == 2.5", -1},
        {"n_layer", -1},
        {"n_layer == 3 &&", -1},
        {"&& n_layer == 3", -1},
        {"(n_layer == 3", -1},
        {"n_layer == 3)", -1},
        {"n_layer = 3", -1},
        {"n_layer == 3 n_layer == 3", -1},
        {"n_layer == n_layer", -1},
        {"device == 'cpu", -1},
        {"features == [close", -1},
        {"!", -1},
        {"", -1},
        {"[", -1},
        {"\"", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int result = evaluate(cases[i].condition);

        if (result != cases[i].expected)
            fail_msg("'%s' is %d, not %d", cases[i].condition, result,
                     cases[i].expected);
    }
}

/* The caret stands below the word that is wrong, in every kind of scalar. */
static void what_is_wrong_is_shown_where_it_stands(void **state)
{
    static const struct {
        const char *exclude, *place;
    } cases[] = {
        {"exclude: n_layer == x", "t.yaml:3:23: "},
        {"exclude: \"n_layer == x\"", "t.yaml:3:24: "},
        {"exclude: 'n_layer == x'", "t.yaml:3:24: "},
        {"exclude: [\"device == \xC3\xBC\", n_layer == x]", "t.yaml:3:24: "},
        {"exclude: |\n    n_layer == x", "t.yaml:3:12: "},
        {"exclude: \"n_layer\\x20== x\"", "t.yaml:3:12: "},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text text = {0}, said = {0};
        struct expanded e;

        text_addf(&text, COLUMNS "sweep:\n  %s\n", cases[i].exclude);
        expand(&e, text_string(&text), NULL, 0);
        assert_int_equal(e.code, M2_E_CONFIG);
        messages_print(&e.messages, &said);
        if (strstr(text_string(&said), cases[i].place) == NULL)
            fail_msg("%s\nnot at %s", text_string(&said), cases[i].place);
        finish(&e);
        text_free(&said);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_mean_what_they_say),
        cmocka_unit_test(what_is_wrong_is_shown_where_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
