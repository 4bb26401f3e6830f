/* Words, conditions and order of `m2run ls`. */
#include "results/query.h"

#include "tests/unit/unit.h"
#include "util/memory.h"

static struct run_entry make_run(const char *run, const char *state,
                                 const char *record)
{
    struct run_entry entry = {
        .path = memory_string("/nowhere", NULL),
        .experiment = memory_string("exp", NULL),
        .run = memory_string(run, NULL),
        .record = json_loads(record, 0, NULL),
        .published = true,
    };

    snprintf(entry.state, sizeof entry.state, "%s", state);
    return entry;
}

static int make_list(void **state)
{
    struct run_list *list = calloc(1, sizeof *list);

    list->n = 4;
    list->entries = calloc(list->n, sizeof *list->entries);
    list->entries[0] = make_run(
        "lr-0.01_s0", "done",
        "{\"config\": {\"train.optimizer.lr\": \"0.01\", \"seed\": \"0\","
        " \"data.features\": \"[close]\", \"train.epochs\": \"2\","
        " \"train.batch_size\": \"32\", \"train.steps\": \"null\"},"
        " \"data\": {\"parts\": {\"train\": {\"windows\": 100}}},"
        " \"best\": {\"value\": 0.5, \"val/mse\": 0.5, \"step\": 7},"
        " \"test\": {\"test/mse\": 0.25}, \"final\": {\"train/loss\": 0.125},"
        " \"step\": 8, \"steps\": 8}");
    list->entries[1] = make_run(
        "lr-0.001_s0", "done",
        "{\"config\": {\"train.optimizer.lr\": \"0.001\", \"seed\": \"0\"},"
        " \"best\": {\"value\": 0.75}}");
    list->entries[2] = make_run("lr-1e-05_s1", "failed",
                                "{\"config\": {\"train.optimizer.lr\":"
                                " \"1e-05\", \"model.lr\": \"x\"}}");
    list->entries[3] = make_run("begun", "running", "{}");
    *state = list;
    return 0;
}

static int free_list(void **state)
{
    run_list_free(*state);
    free(*state);
    return 0;
}

static void check_value(const struct run_list *list, const char *word,
                        size_t run, const char *expected)
{
    struct run_key key;
    struct m2_error err;
    char buffer[NUMBER_TEXT_SIZE];
    const char *text;

    assert_ok(run_key_find(list, word, &key, &err), &err);
    text = run_key_text(&key, &list->entries[run], buffer);
    if (expected == NULL)
        assert_null(text);
    else
        assert_string_equal(text, expected);
}

static void a_word_is_a_fact_a_metric_or_a_key(void **state)
{
    const struct run_list *list = *state;

    check_value(list, "state", 2, "failed");
    check_value(list, "best", 0, "0.5");
    check_value(list, "best_step", 0, "7");
    check_value(list, "val/mse", 0, "0.5");
    check_value(list, "test/mse", 0, "0.25");
    check_value(list, "train/loss", 0, "0.125");
    check_value(list, "optimizer.lr", 1, "0.001");
    check_value(list, "seed", 1, "0");
    check_value(list, "features", 0, "[close]");
    check_value(list, "best", 3, NULL);
}

/* "null" < "5" as text; but nothing is no number. */
static void what_is_no_number_meets_no_number(void **state)
{
    static const char *const texts[] = {"train.steps<5", "train.steps>5",
                                        "train.steps=5", "train.steps>=0"};
    const struct run_list *list = *state;
    struct run_condition condition;
    struct m2_error err;

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_ok(run_condition_parse(list, texts[i], &condition, &err), &err);
        assert_false(run_condition_holds(&condition, &list->entries[0]));
    }
    assert_ok(run_condition_parse(list, "train.steps!=5", &condition, &err),
              &err);
    assert_true(run_condition_holds(&condition, &list->entries[0]));
    assert_ok(run_condition_parse(list, "train.steps=null", &condition, &err),
              &err);
    assert_true(run_condition_holds(&condition, &list->entries[0]));
}

static void steps_are_those_of_the_record_or_of_the_plan(void **state)
{
    const struct run_list *list = *state;

    check_value(list, "progress", 0, "8/8");
    json_object_del(list->entries[0].record, "step");
    json_object_del(list->entries[0].record, "steps");
    check_value(list, "steps", 0, "8"); /* 2 epochs of 100 / 32 windows */
    check_value(list, "progress", 0, "0/8");
    check_value(list, "progress", 3, NULL);
    json_object_set_new(json_object_get(list->entries[0].record, "config"),
                        "train.epochs", json_string("9223372036854775807"));
    check_value(list, "steps", 0, NULL); /* beyond all numbers */
}

static void an_unknown_word_is_a_usage_error_with_a_suggestion(void **state)
{
    struct run_key key;
    struct m2_error err;

    assert_fails(run_key_find(*state, "stat", &key, &err), M2_E_USAGE,
                 "did you mean 'state'?", &err);
    assert_fails(run_key_find(*state, "batch_sise", &key, &err), M2_E_USAGE,
                 "did you mean 'batch_size'?", &err);
    assert_fails(run_key_find(*state, "lr", &key, &err), M2_E_USAGE,
                 "fits several keys", &err);
}

static void conditions_compare_numbers_as_numbers(void **state)
{
    static const struct {
        const char *text;
        const char *holds; /* one digit per run */
    } cases[] = {
        {"optimizer.lr<1e-3", "0010"},
        {"optimizer.lr<=1e-3", "0110"},
        {"optimizer.lr=1e-2", "1000"},
        {"optimizer.lr!=0.01", "0111"},
        {"state=done", "1100"},
        {"state!=done", "0011"},
        {"run=lr-*_s0", "1100"},
        {"run==begun", "0001"},
        {"best>0.5", "0100"},
        {"best>=0.5", "1100"},
        {"val/mse<1", "1000"},
        {"features=[close]", "1000"},
        {"seed=0", "1100"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct run_list *list = *state;
        struct run_condition condition;
        struct m2_error err;
        char holds[5] = "";

        assert_true(run_condition_is(cases[i].text));
        assert_ok(run_condition_parse(list, cases[i].text, &condition, &err),
                  &err);
        for (size_t r = 0; r < list->n; r++)
            holds[r] =
                run_condition_holds(&condition, &list->entries[r]) ? '1' : '0';
        if (strcmp(holds, cases[i].holds) != 0)
            fail_msg("%s: %s, expected %s", cases[i].text, holds,
                     cases[i].holds);
    }
}

/* As text "0.01" < "1e-3x", so a slip would keep every run. */
static void an_order_of_numbers_takes_a_number(void **state)
{
    static const char *const slips[] = {"optimizer.lr<1e-3x", "seed>=a",
                                        "best<good", "val/mse>0,5"};
    struct run_condition condition;
    struct m2_error err;

    for (size_t i = 0; i < COUNT_OF(slips); i++)
        assert_fails(run_condition_parse(*state, slips[i], &condition, &err),
                     M2_E_USAGE, "is a number, expected one in place of", &err);
    assert_fails(run_condition_parse(*state, "run<", &condition, &err),
                 M2_E_USAGE, "expected a value", &err);
    assert_ok(
        run_condition_parse(*state, "optimizer.lr=1e-*", &condition, &err),
        &err);
    assert_ok(run_condition_parse(*state, "run>lr", &condition, &err), &err);
    assert_ok(run_condition_parse(*state, "reason=", &condition, &err), &err);
}

static void a_score_by_a_wrong_name_is_no_score_to_come(void **state)
{
    static const char *const to_come[] = {"val/ic", "test/hit_rate",
                                          "train/loss"};
    struct run_key key;
    struct m2_error err;

    for (size_t i = 0; i < COUNT_OF(to_come); i++)
        assert_ok(run_key_find(*state, to_come[i], &key, &err), &err);
    assert_fails(run_key_find(*state, "val/los", &key, &err), M2_E_USAGE,
                 "did you mean 'val/loss'?", &err);
    assert_fails(run_key_find(*state, "train/mse", &key, &err), M2_E_USAGE,
                 "no run has a score 'train/mse'", &err);
    assert_fails(run_key_find(*state, "test/", &key, &err), M2_E_USAGE,
                 "no run has a score 'test/'", &err);
}

static void a_plain_word_is_no_condition(void **state)
{
    struct run_condition condition;
    struct m2_error err;

    assert_false(run_condition_is("quickstart"));
    assert_false(run_condition_is("=done"));
    assert_false(run_condition_is("state!"));
    assert_fails(run_condition_parse(*state, "=done", &condition, &err),
                 M2_E_USAGE, "is no condition", &err);
}

static void filtering_keeps_runs_that_meet_all_conditions(void **state)
{
    struct run_list *list = *state;
    struct run_condition conditions[2];
    struct m2_error err;

    assert_ok(run_condition_parse(list, "state=done", &conditions[0], &err),
              &err);
    assert_ok(run_condition_parse(list, "best<0.6", &conditions[1], &err),
              &err);
    run_list_filter(list, conditions, 2);
    assert_int_equal(list->n, 1);
    assert_string_equal(list->entries[0].run, "lr-0.01_s0");
}

static void check_order(struct run_list *list, const char *word,
                        bool descending, const char *const *runs)
{
    struct run_key key;
    struct m2_error err;

    assert_ok(run_key_find(list, word, &key, &err), &err);
    assert_ok(run_list_sort(list, &key, descending, &err), &err);
    for (size_t i = 0; i < list->n; i++)
        assert_string_equal(list->entries[i].run, runs[i]);
}

static void runs_without_the_value_come_last_in_either_order(void **state)
{
    const char *const rising[] = {"lr-1e-05_s1", "lr-0.001_s0", "lr-0.01_s0",
                                  "begun"};
    const char *const falling[] = {"lr-0.01_s0", "lr-0.001_s0", "lr-1e-05_s1",
                                   "begun"};

    check_order(*state, "optimizer.lr", false, rising);
    check_order(*state, "optimizer.lr", true, falling);
}

static void equal_runs_keep_their_order(void **state)
{
    const char *const order[] = {"lr-0.01_s0", "lr-0.001_s0", "lr-1e-05_s1",
                                 "begun"};

    check_order(*state, "state", false, order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_word_is_a_fact_a_metric_or_a_key,
                                        make_list, free_list),
        cmocka_unit_test_setup_teardown(
            steps_are_those_of_the_record_or_of_the_plan, make_list, free_list),
        cmocka_unit_test_setup_teardown(what_is_no_number_meets_no_number,
                                        make_list, free_list),
        cmocka_unit_test_setup_teardown(
            an_unknown_word_is_a_usage_error_with_a_suggestion, make_list,
            free_list),
        cmocka_unit_test_setup_teardown(conditions_compare_numbers_as_numbers,
                                        make_list, free_list),
        cmocka_unit_test_setup_teardown(an_order_of_numbers_takes_a_number,
                                        make_list, free_list),
        cmocka_unit_test_setup_teardown(
            a_score_by_a_wrong_name_is_no_score_to_come, make_list, free_list),
        cmocka_unit_test_setup_teardown(a_plain_word_is_no_condition, make_list,
                                        free_list),
        cmocka_unit_test_setup_teardown(
            filtering_keeps_runs_that_meet_all_conditions, make_list,
            free_list),
        cmocka_unit_test_setup_teardown(
            runs_without_the_value_come_last_in_either_order, make_list,
            free_list),
        cmocka_unit_test_setup_teardown(equal_runs_keep_their_order, make_list,
                                        free_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
