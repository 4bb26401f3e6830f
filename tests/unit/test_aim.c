/* Kills are due between a run's first row and its last, each further on than
 * the one before, and the same for the same seed. */
#include "prove/aim.h"

#include "tests/unit/unit.h"
#include "util/file.h"

#define IDENTITY                                                               \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define HEADER "step,trace\n"

static int make_dir(void **state)
{
    *state = unit_make_dir();
    return 0;
}

static int remove_dir(void **state)
{
    unit_remove_dir(*state);
    return 0;
}

static struct run_place place_in(const char *root)
{
    return (struct run_place){root, "x", "run", IDENTITY};
}

/* metrics.csv of an attempt with a header and rows of ten bytes. */
static void write_rows(const char *root, int attempt, int rows)
{
    struct text path = {0}, text = {0};
    struct m2_error err;

    text_addf(&path, "%s/x/.active/%.12s/%04d", root, IDENTITY, attempt);
    assert_ok(file_make_dirs(text_string(&path), M2_E_RESULTS, &err), &err);
    text_add(&path, "/metrics.csv");
    text_add(&text, HEADER);
    for (int i = 0; i < rows; i++)
        text_addf(&text, "%04d,abcd\n", i);
    unit_write(text_string(&path), text_string(&text));
    text_free(&text);
    text_free(&path);
}

static void begin_with(struct aim *aim, size_t kills, uint64_t seed)
{
    const struct aim_request request = {
        .stream = random_stream(seed, IDENTITY),
        .final_bytes = (int64_t)strlen(HEADER) + 1000,
        .kills = kills,
    };

    aim_prepare(aim, &request);
}

static void a_kill_waits_for_its_part_of_the_file(void **state)
{
    const struct run_place place = place_in(*state);

    for (uint64_t seed = 0; seed < 50; seed++) {
        struct aim aim;
        int rows = 0;

        file_remove_tree(*state, M2_E_RESULTS, NULL);
        begin_with(&aim, 1, seed);
        aim_begin(&aim, &place);
        assert_false(aim_is_due(&aim, &place)); /* nothing is there */
        while (rows < 100 && !aim_is_due(&aim, &place))
            write_rows(*state, 1, ++rows);
        if (rows < 5 || rows > 95)
            fail_msg("seed %d: due after %d rows", (int)seed, rows);
        assert_true(aim_hit(&aim, &place));
        aim_begin(&aim, &place); /* no kill is left */
        write_rows(*state, 2, 100);
        assert_false(aim_is_due(&aim, &place));
    }
}

static void the_next_kill_is_further_on_and_in_a_new_attempt(void **state)
{
    const struct run_place place = place_in(*state);
    struct aim aim;
    int64_t first;

    begin_with(&aim, 2, 7);
    aim_begin(&aim, &place);
    first = aim.target;
    write_rows(*state, 1, 60);
    assert_true(aim_is_due(&aim, &place));
    assert_true(aim_hit(&aim, &place));
    write_rows(*state, 1, 90); /* the dead one had written more */
    aim_begin(&aim, &place);
    assert_true(aim.target > first);
    assert_true(aim.target > (int64_t)strlen(HEADER) + 600);
    assert_false(aim_is_due(&aim, &place));
    write_rows(*state, 2, 98);
    assert_true(aim_is_due(&aim, &place));
}

static void a_hit_without_rows_or_with_all_is_not_midway(void **state)
{
    static const struct {
        int rows;
        bool midway;
    } cases[] = {{-1, false}, {0, false}, {1, true}, {99, true}, {100, false}};
    const struct run_place place = place_in(*state);

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct aim aim;

        file_remove_tree(*state, M2_E_RESULTS, NULL);
        begin_with(&aim, 3, 1);
        aim_begin(&aim, &place);
        if (cases[i].rows >= 0)
            write_rows(*state, 1, cases[i].rows);
        assert_int_equal(aim_hit(&aim, &place), cases[i].midway);
    }
}

static void every_third_kill_is_due_at_the_beginning(void **state)
{
    const struct run_place place = place_in(*state);
    struct aim aim;

    begin_with(&aim, 7, 3);
    for (int i = 0; i < 7; i++) {
        aim_begin(&aim, &place);
        assert_int_equal(aim.target == 0, i % 3 == 2);
        aim_hit(&aim, &place);
    }
    aim_begin(&aim, &place);
    assert_int_equal(aim.target, -1);
}

static void a_seed_repeats_its_kills(void **state)
{
    const struct run_place place = place_in(*state);
    struct aim a, b, c;

    begin_with(&a, 5, 1);
    begin_with(&b, 5, 1);
    begin_with(&c, 5, 2);
    aim_begin(&a, &place);
    aim_begin(&b, &place);
    aim_begin(&c, &place);
    assert_int_equal(a.target, b.target);
    assert_int_not_equal(a.target, c.target);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kill_waits_for_its_part_of_the_file,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(
            the_next_kill_is_further_on_and_in_a_new_attempt, make_dir,
            remove_dir),
        cmocka_unit_test_setup_teardown(
            a_hit_without_rows_or_with_all_is_not_midway, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(
            every_third_kill_is_due_at_the_beginning, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_seed_repeats_its_kills, make_dir,
                                        remove_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
