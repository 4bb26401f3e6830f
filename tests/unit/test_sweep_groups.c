/* Groups of a sweep: zip, list, exclude, seeds, and what the command line
 * makes of them. */
#include "sweep_fixture.h"

struct group_case {
    const char *text;
    const char *overrides[3];
    const char *labels[9]; /* NULL ends */
};

static void run_cases(const struct group_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct expanded e;
        size_t n_overrides = 0, n_labels = 0;
        struct text text = {0};

        while (n_overrides < 3 && cases[i].overrides[n_overrides] != NULL)
            n_overrides++;
        while (n_labels < 9 && cases[i].labels[n_labels] != NULL)
            n_labels++;
        text_addf(&text, COLUMNS "%s", cases[i].text);
        expand_ok(&e, text_string(&text), cases[i].overrides, n_overrides);
        assert_labels(&e, cases[i].labels, n_labels);
        finish(&e);
        text_free(&text);
    }
}

static void the_keys_of_a_zip_change_together(void **state)
{
    static const struct group_case cases[] = {
        {"sweep: {zip: [{d_model: [128, 256], batch_size: [64, 32]}]}",
         {NULL},
         {"d_model-128_batch_size-64_s0", "d_model-256_batch_size-32_s0"}},
        {"sweep: {grid: {lr: [0.1, 0.2]}, zip: [{d_state: [8, 16], expand: [2, "
         "4]}, {n_layer: [1, 2]}]}",
         {NULL},
         {"lr-0.1_d_state-8_expand-2_n_layer-1_s0",
          "lr-0.1_d_state-8_expand-2_n_layer-2_s0",
          "lr-0.1_d_state-16_expand-4_n_layer-1_s0",
          "lr-0.1_d_state-16_expand-4_n_layer-2_s0",
          "lr-0.2_d_state-8_expand-2_n_layer-1_s0",
          "lr-0.2_d_state-8_expand-2_n_layer-2_s0",
          "lr-0.2_d_state-16_expand-4_n_layer-1_s0",
          "lr-0.2_d_state-16_expand-4_n_layer-2_s0"}},
        /* a repeated pair is one point */
        {"sweep: {zip: [{d_state: [8, 16, 8], expand: [2, 2, 2]}]}",
         {NULL},
         {"d_state-8_expand-2_s0", "d_state-16_expand-2_s0"}},
        {"sweep: {zip: {d_state: 'range(8, 17, 8)', lr: 'range(0.1, 0.3, "
         "0.1)'}}",
         {NULL},
         {"d_state-8_lr-0.1_s0", "d_state-16_lr-0.2_s0"}},
    };

    (void)state;
    run_cases(cases, COUNT_OF(cases));
}

static void a_list_has_whole_points_and_labels(void **state)
{
    static const struct group_case cases[] = {
        {"sweep: {list: [{label: wide, expand: 4}, {label: base}, {d_state: "
         "64}]}",
         {NULL},
         {"wide_s0", "base_s0", "d_state-64_s0"}},
        {"sweep: {grid: {lr: [0.1, 0.2]}, list: [{label: a, expand: 4}, "
         "{expand: 2}]}",
         {NULL},
         {"lr-0.1_a_s0", "lr-0.1_expand-2_s0", "lr-0.2_a_s0",
          "lr-0.2_expand-2_s0"}},
    };
    struct expanded e;

    (void)state;
    run_cases(cases, COUNT_OF(cases));
    expand_ok(&e,
              COLUMNS "model: {expand: 3, headdim: 1}\ntrain: {epochs: 2}\n"
                      "sweep: {list: [{expand: 4, train.steps: 9}, {d_state: "
                      "64}, {epochs: 5}]}",
              NULL, 0);
    assert_int_equal(e.sweep.n_runs, 3);
    assert_int_equal(e.sweep.runs[0].config.train.steps, 9);
    assert_int_equal(e.sweep.runs[0].config.train.epochs, 0);
    assert_int_equal(e.sweep.runs[1].config.model.expand, 3);
    assert_int_equal(e.sweep.runs[1].config.train.epochs, 2);
    assert_int_equal(e.sweep.runs[2].config.train.epochs, 5);
    assert_int_equal(e.sweep.runs[2].config.train.steps, 0);
    assert_null(e.sweep.runs[1].settings[0].value);
    finish(&e);
}

static void the_command_line_replaces_keys_of_every_group(void **state)
{
    static const struct group_case cases[] = {
        {"sweep: {zip: [{d_state: [8, 16], expand: [2, 4]}]}",
         {"d_state=32"},
         {"expand-2_s0", "expand-4_s0"}},
        {"sweep: {zip: [{d_state: [8, 16], expand: [2, 4]}]}",
         {"~expand", "d_state=1,2,3"},
         {"d_state-1_s0", "d_state-2_s0", "d_state-3_s0"}},
        {"sweep: {list: [{expand: 4, d_state: 8}, {expand: 4, d_state: 16}]}",
         {"d_state=4"},
         {"expand-4_s0"}},
        {"sweep: {list: [{label: a, expand: 4}, {label: b, d_state: 16}]}",
         {"expand=1,2"},
         {"a_expand-1_s0", "a_expand-2_s0", "b_expand-1_s0", "b_expand-2_s0"}},
        {"sweep: {random: {n: 2}, params: {lr: {uniform: [0.1, 1]}, d_state: "
         "{choice: [8]}}}",
         {"lr=0.5,0.25"},
         {"d_state-8_lr-0.5_s0", "d_state-8_lr-0.25_s0"}},
        {"sweep: {grid: {lr: [0.1, 0.2]}, seeds: 3}", {"~sweep"}, {"run"}},
        {"sweep: {grid: {lr: [0.1]}, seeds: 3}", {"~seeds"}, {"lr-0.1_s0"}},
        {"sweep: {grid: {lr: [0.1]}}",
         {"seeds=7,9"},
         {"lr-0.1_s7", "lr-0.1_s9"}},
        {"", {"seeds=range(2,8,3)"}, {"s2", "s5"}},
        {"seed: 4", {"seeds=4,5"}, {"s4", "s5"}},
        /* what stands later counts */
        {"", {"lr=0.1,0.2", "lr=0.3"}, {"run"}},
        {"", {"lr=0.3", "lr=0.1,0.2"}, {"lr-0.1_s0", "lr-0.2_s0"}},
        {"", {"lr=0.1,0.2", "~lr"}, {"run"}},
        {"", {"~lr", "lr=0.1,0.2"}, {"lr-0.1_s0", "lr-0.2_s0"}},
        {"", {"lr=0.1,0.2", "lr=0.3,0.4"}, {"lr-0.3_s0", "lr-0.4_s0"}},
    };

    (void)state;
    run_cases(cases, COUNT_OF(cases));
}

static void seeds_may_be_listed(void **state)
{
    static const struct group_case cases[] = {
        {"sweep: {seeds: [3, 18446744073709551615]}",
         {NULL},
         {"s3", "s18446744073709551615"}},
        {"sweep: {seeds: [5]}", {NULL}, {"s5"}},
        {"seed: 5\nsweep: {seeds: [5, 5]}", {NULL}, {"run"}},
        {"sweep:\n  seeds: range(0, 3)\n", {NULL}, {"s0", "s1", "s2"}},
    };

    (void)state;
    run_cases(cases, COUNT_OF(cases));
}

static void exclude_leaves_points_out_before_rules_are_checked(void **state)
{
    static const struct group_case cases[] = {
        {"sweep: {grid: {d_state: [16, 64], d_model: [128, 256]}, exclude: "
         "[\"d_state == 64 && d_model == 256\"]}",
         {NULL},
         {"d_state-16_d_model-128_s0", "d_state-16_d_model-256_s0",
          "d_state-64_d_model-128_s0"}},
        /* headdim 64 does not divide 2 * 100 */
        {"sweep: {grid: {d_model: [100, 128]}, exclude: d_model == 100}",
         {NULL},
         {"d_model-128_s0"}},
        {"sweep: {grid: {d_state: [1, 2, 3]}, exclude: [d_state == 1, d_state "
         "> 2], seeds: 2}",
         {NULL},
         {"d_state-2_s0", "d_state-2_s1"}},
        /* about keys that are not swept, too */
        {"sweep: {list: [{expand: 4}, {label: base}], exclude: expand == 2}",
         {NULL},
         {"expand-4_s0"}},
    };
    struct expanded e;

    (void)state;
    run_cases(cases, COUNT_OF(cases));
    expand_ok(&e,
              COLUMNS "sweep: {grid: {d_state: [1, 2, 3]}, exclude: d_state >= "
                      "2, seeds: 2}",
              NULL, 0);
    assert_int_equal(e.sweep.n_points, 1);
    assert_int_equal(e.sweep.n_excluded, 2);
    assert_int_equal(e.sweep.runs[1].point, 0);
    finish(&e);
}

static void more_runs_need_a_word(void **state)
{
    static const char *const overrides[] = {"d_state=range(1,102)", "seeds=100",
                                            "max_runs=10100"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS, overrides, 3);
    assert_int_equal(e.sweep.n_runs, 10100);
    finish(&e);
}

static void folded_runs_leave_the_order_and_the_points(void **state)
{
    static const bool is_double[6] = {false, true, true, true, false, false};
    static const char *const labels[] = {"lr-0.1_s0", "lr-0.3_s0", "lr-0.3_s1"};
    struct expanded e;

    (void)state;
    expand_ok(&e, COLUMNS "sweep: {grid: {lr: [0.1, 0.2, 0.3]}, seeds: 2}",
              NULL, 0);
    sweep_fold(&e.sweep, is_double);
    assert_labels(&e, labels, 3);
    assert_int_equal(e.sweep.n_points, 2);
    assert_int_equal(e.sweep.n_folded, 3);
    finish(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_keys_of_a_zip_change_together),
        cmocka_unit_test(a_list_has_whole_points_and_labels),
        cmocka_unit_test(the_command_line_replaces_keys_of_every_group),
        cmocka_unit_test(seeds_may_be_listed),
        cmocka_unit_test(exclude_leaves_points_out_before_rules_are_checked),
        cmocka_unit_test(more_runs_need_a_word),
        cmocka_unit_test(folded_runs_leave_the_order_and_the_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
