/* Which attempts a result is made of. */
#include "results/segments.h"

#include "tests/unit/unit.h"
#include "util/text.h"

/* "ATTEMPT:FROM-TO NUMERICS; " of every segment, the last one first. */
static bool write_segment(void *context, const struct segment *segment)
{
    text_addf(context, "%d:%d-%d %s; ", (int)segment->attempt,
              (int)segment->from_step, (int)segment->to_step,
              segment->numerics != NULL ? segment->numerics : "?");
    return true;
}

static void a_chain_is_followed_backwards(void **state)
{
    static const struct {
        const char *attempts, *expected;
        bool mixed;
    } cases[] = {
        {"[]", "", false},
        {"[{'attempt': 1, 'from_step': 0, 'to_step': 9, 'numerics': 'a'}]",
         "1:0-9 a; ", false},
        /* killed twice, the second time before its first checkpoint */
        {"[{'attempt': 1, 'from_step': 0, 'numerics': 'a'},"
         " {'attempt': 2, 'from_step': 4, 'from_attempt': 1, 'numerics': 'b'},"
         " {'attempt': 3, 'from_step': 4, 'from_attempt': 1, 'to_step': 9,"
         "  'numerics': 'a'}]",
         "3:4-9 a; 1:0-4 a; ", false},
        {"[{'attempt': 1, 'from_step': 0, 'numerics': 'a'},"
         " {'attempt': 2, 'from_step': 4, 'from_attempt': 1, 'numerics': 'b'},"
         " {'attempt': 3, 'from_step': 6, 'from_attempt': 2, 'to_step': 9,"
         "  'numerics': 'a'}]",
         "3:6-9 a; 2:4-6 b; 1:0-4 a; ", true},
        /* one that has only copied what it began from */
        {"[{'attempt': 1, 'from_step': 0, 'numerics': 'a'},"
         " {'attempt': 2, 'from_step': 4, 'from_attempt': 1, 'numerics': 'b'},"
         " {'attempt': 3, 'from_step': 4, 'from_attempt': 2, 'to_step': 9,"
         "  'numerics': 'a'}]",
         "3:4-9 a; 1:0-4 a; ", false},
        /* begun anew: what was before does not count */
        {"[{'attempt': 1, 'from_step': 0, 'numerics': 'a'},"
         " {'attempt': 2, 'from_step': 0, 'to_step': 9, 'numerics': 'b'}]",
         "2:0-9 b; ", false},
        /* of an earlier version */
        {"[{'attempt': 1, 'from_step': 0},"
         " {'attempt': 2, 'from_step': 5, 'to_step': 9}]",
         "2:5-9 ?; 1:0-5 ?; ", false},
        /* damaged: one that went on from itself */
        {"[{'attempt': 1, 'from_step': 5, 'from_attempt': 1, 'to_step': 9}]",
         "1:5-9 ?; ", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text text = {0};
        char copy[1000];
        json_t *attempts;

        snprintf(copy, sizeof copy, "%s", cases[i].attempts);
        for (char *c = copy; *c != '\0'; c++)
            if (*c == '\'')
                *c = '"';
        attempts = json_loads(copy, 0, NULL);
        assert_non_null(attempts);
        assert_true(segments_walk(attempts, write_segment, &text));
        assert_string_equal(text_string(&text), cases[i].expected);
        assert_int_equal(segments_are_mixed(attempts), cases[i].mixed);
        json_decref(attempts);
        text_free(&text);
    }
    assert_false(segments_are_mixed(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_followed_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
