/* Experiments to ordered lists of runs. */
#include "sweep_fixture.h"

#include "sweep/label.h"

static void without_a_sweep_there_is_one_run(void **state)
{
    static const char *const labels[] = {"run"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS "seed: 7\nsweep:\n", NULL, 0);
    assert_labels(&e, labels, 1);
    assert_int_equal(e.sweep.runs[0].config.seed, 7);
    assert_int_equal(e.sweep.n_points, 1);
    finish(&e);
}

static void the_last_axis_varies_fastest_and_seeds_faster(void **state)
{
    static const char *const labels[] = {
        "lr-0.001_d_state-16_s5",  "lr-0.001_d_state-16_s6",
        "lr-0.001_d_state-64_s5",  "lr-0.001_d_state-64_s6",
        "lr-0.0001_d_state-16_s5", "lr-0.0001_d_state-16_s6",
        "lr-0.0001_d_state-64_s5", "lr-0.0001_d_state-64_s6",
    };
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS "seed: 5\nsweep:\n  seeds: 2\n  grid:\n"
                      "    train.optimizer.lr: [1e-3, 1e-4]\n"
                      "    model.d_state: [16, 64]\n",
              NULL, 0);
    assert_labels(&e, labels, COUNT_OF(labels));
    assert_int_equal(e.sweep.n_points, 4);
    assert_int_equal(e.sweep.n_seeds, 2);
    for (size_t i = 0; i < 8; i++) {
        const struct sweep_run *run = &e.sweep.runs[i];

        assert_int_equal(run->config.seed, 5 + i % 2);
        assert_int_equal(run->point, i / 2);
        assert_int_equal(run->config.model.d_state, i / 2 % 2 ? 64 : 16);
        assert_true(run->config.train.optimizer.lr == (i < 4 ? 1e-3 : 1e-4));
        assert_string_equal(run->settings[0].key, "train.optimizer.lr");
        assert_string_equal(run->settings[1].value, i / 2 % 2 ? "64" : "16");
    }
    finish(&e);
}

static void axes_of_the_command_line_come_last_or_replace(void **state)
{
    static const char *const overrides[] = {"n_layer=1,2", "lr=0.5,0.25",
                                            "d_state=32", "~scale"};
    static const char *const labels[] = {
        "lr-0.5_n_layer-1_s0", "lr-0.5_n_layer-2_s0", "lr-0.25_n_layer-1_s0",
        "lr-0.25_n_layer-2_s0"};
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS "sweep:\n  grid:\n"
                      "    lr: [1e-3, 1e-4, 1e-5]\n"
                      "    d_state: [16, 64]\n"
                      "    scale: [none, minmax]\n",
              overrides, COUNT_OF(overrides));
    assert_labels(&e, labels, COUNT_OF(labels));
    assert_int_equal(e.sweep.runs[0].config.model.d_state, 32);
    assert_int_equal(e.sweep.runs[0].config.data.scale, SCALE_ZSCORE);
    finish(&e);
}

static void seeds_of_the_command_line_count(void **state)
{
    static const char *const overrides[] = {"seeds=3"};
    static const char *const labels[] = {"s0", "s1", "s2"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS, overrides, 1);
    assert_labels(&e, labels, 3);
    finish(&e);
}

static void a_swept_key_excludes_its_pair(void **state)
{
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS "train: {epochs: 3}\n"
                      "sweep: {grid: {train.steps: [100, 200]}}\n",
              NULL, 0);
    assert_int_equal(e.sweep.runs[1].config.train.steps, 200);
    assert_int_equal(e.sweep.runs[1].config.train.epochs, 0);
    finish(&e);
}

static void doubles_are_left_out_with_a_word(void **state)
{
    static const char *const labels[] = {"lr-0.001_s0", "lr-0.002_s0"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS "sweep: {grid: {lr: [1e-3, 0.001, 2e-3, 1.0e-3]}}\n",
              NULL, 0);
    assert_labels(&e, labels, 2);
    assert_int_equal(e.messages.n_warnings, 2);
    finish(&e);
}

static void lists_and_options_can_be_axes(void **state)
{
    static const char *const labels[] = {
        "features-close_ic-0_s0", "features-close_ic-0.1_s0",
        "features-log_ratio-high-low-volume_ic-0_s0",
        "features-log_ratio-high-low-volume_ic-0.1_s0"};
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS
              "sweep:\n  grid:\n"
              "    features: [close, [\"log_ratio(high,low)\", volume]]\n"
              "    data.options.ic: [0, 0.1]\n",
              NULL, 0);
    assert_labels(&e, labels, 4);
    assert_int_equal(e.sweep.runs[0].config.data.n_features, 1);
    assert_int_equal(e.sweep.runs[3].config.data.n_features, 2);
    assert_true(e.sweep.runs[0].config.data.options[2].number == 0);
    assert_true(e.sweep.runs[1].config.data.options[2].number == 0.1);
    finish(&e);
}

static void rules_hold_for_each_run_not_for_the_base(void **state)
{
    struct expanded e;

    (void)state;
    expand_ok(&e,
              COLUMNS "model: {d_model: 100}\n"
                      "sweep: {grid: {d_model: [64, 128]}}\n",
              NULL, 0);
    finish(&e);
    expand(&e, COLUMNS "sweep: {grid: {d_model: [64, 100]}}\n", NULL, 0);
    assert_int_equal(e.code, M2_E_CONFIG);
    assert_int_equal(e.messages.n_errors, 1);
    assert_non_null(strstr(e.messages.items[0].text, "t.yaml:2:30: error: "
                                                     "'model.headdim' 64"));
    finish(&e);
}

static void ten_thousand_runs_are_allowed_and_no_more(void **state)
{
    static const char *const most[] = {"d_state=range(1,101)", "seeds=100"};
    static const char *const more[] = {"d_state=range(1,102)", "seeds=100"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS, most, 2);
    assert_int_equal(e.sweep.n_runs, 10000);
    assert_string_equal(e.sweep.runs[9999].label, "d_state-100_s99");
    finish(&e);
    expand(&e, COLUMNS, more, 2);
    assert_int_equal(e.code, M2_E_CONFIG);
    assert_int_equal(e.sweep.n_runs, 0);
    finish(&e);
}

static void the_largest_seed_leaves_no_room(void **state)
{
    static const char *const fits[] = {"seed=18446744073709551600", "seeds=3"};
    static const char *const over[] = {"seed=18446744073709551615", "seeds=3"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS, fits, 2);
    assert_true(e.sweep.runs[2].config.seed == UINT64_C(18446744073709551602));
    finish(&e);
    expand(&e, COLUMNS, over, 2);
    assert_int_equal(e.code, M2_E_CONFIG);
    finish(&e);
}

static void labels_are_clean_and_short(void **state)
{
    static const struct {
        const char *value, *label;
    } cases[] = {
        {"1e-05", "k-1e-05_s3"},
        {"[log_return(close), x]", "k-log_return-close-x_s3"},
        {"\"/data/a b.csv\"", "k-data-a-b.csv_s3"},
        {"\xC3\xBC", "k-_s3"},
    };
    struct text label = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text_clear(&label);
        label_add(&label, "k", cases[i].value);
        label_add_seed(&label, 3);
        assert_string_equal(text_string(&label), cases[i].label);
    }
    text_clear(&label);
    for (int i = 0; i < 20; i++)
        label_add(&label, "long_name", "0.123");
    label_add_seed(&label, UINT64_MAX);
    assert_int_equal(label.length, RUN_LABEL_MAX);
    assert_non_null(strstr(text_string(&label), "_s18446744073709551615"));
    text_free(&label);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_sweep_there_is_one_run),
        cmocka_unit_test(the_last_axis_varies_fastest_and_seeds_faster),
        cmocka_unit_test(axes_of_the_command_line_come_last_or_replace),
        cmocka_unit_test(seeds_of_the_command_line_count),
        cmocka_unit_test(a_swept_key_excludes_its_pair),
        cmocka_unit_test(doubles_are_left_out_with_a_word),
        cmocka_unit_test(lists_and_options_can_be_axes),
        cmocka_unit_test(rules_hold_for_each_run_not_for_the_base),
        cmocka_unit_test(ten_thousand_runs_are_allowed_and_no_more),
        cmocka_unit_test(the_largest_seed_leaves_no_room),
        cmocka_unit_test(labels_are_clean_and_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
