/* What has changed between two sets of facts, in the order of how likely it
 * changes a result. */
#include "results/facts.h"

#include "tests/unit/unit.h"

static const char base[] =
    "{'data': {'files': [{'name': 'a.csv', 'sha256': 'aaaaaaaaaaaaaaaa'},"
    "                    {'name': 'b.csv', 'sha256': 'bbbbbbbbbbbbbbbb'}],"
    "          'plugin': {'numerics': 1, 'sha256': 'cccccccccccccccc'}},"
    " 'backend': {'name': 'cpu', 'numerics': 1, 'device_name': 'X (avx2)',"
    "             'facts': 'BLAS 1, core X', 'build': 'gcc 12',"
    "             'sha256': 'dddddddddddddddd', 'file': '/a/m2_cpu.so'},"
    " 'build': {'version': '1', 'commit': 'c1', 'dirty': false,"
    "           'difference': '', 'compiler': 'gcc', 'cflags': '-O2'},"
    " 'libraries': [{'name': 'libm.so.6', 'build_id': '11'},"
    "               {'name': 'libyaml-0.so.2', 'build_id': '22'}],"
    " 'host': {'name': 'here', 'machine': 'x86_64', 'cpu': 'X', 'isa': 'avx2',"
    "          'libc': 'glibc 2.36', 'threads': 2, 'cores': 8,"
    "          'release': '6.1'},"
    " 'environment': {'OMP_NUM_THREADS': '2'}}";

/* JSON with single quotes, and one text in it replaced by another. */
static json_t *facts_with(const char *from, const char *to)
{
    char text[4096] = "";
    const char *at = from != NULL ? strstr(base, from) : NULL;
    json_error_t error;
    json_t *facts;

    if (from != NULL && at == NULL)
        fail_msg("'%s' is not in the facts", from);
    if (at == NULL)
        snprintf(text, sizeof text, "%s", base);
    else
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - base), base, to,
                 at + strlen(from));
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    facts = json_loads(text, 0, &error);
    if (facts == NULL)
        fail_msg("%s: %s", text, error.text);
    return facts;
}

static void compare(json_t *then, json_t *now, struct fact_differences *out)
{
    struct m2_error err;

    assert_ok(facts_compare(then, now, out, &err), &err);
    json_decref(then);
    json_decref(now);
}

static void equal_facts_have_no_difference(void **state)
{
    struct fact_differences found;

    (void)state;
    compare(facts_with(NULL, NULL), facts_with(NULL, NULL), &found);
    assert_int_equal(found.n, 0);
    compare(NULL, facts_with(NULL, NULL), &found);
    assert_int_equal(found.n, 0);
    compare(json_array(), json_null(), &found);
    assert_int_equal(found.n, 0);
}

static void another_slot_is_no_difference(void **state)
{
    static const struct {
        const char *facts; /* of now */
        size_t n;
    } cases[] = {
        {"BLAS 1, PCI 0000:81:00.0, core X", 0},
        {"BLAS 1, PCI 0000:81:00.0, core Y", 1},
        {"BLAS 2, PCI 0000:01:00.0, core X", 1},
        {"BLAS 1, core X", 1},
        {"BLAS 1, PCI 0000:01:00.0", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fact_differences found;

        compare(
            facts_with("BLAS 1, core X", "BLAS 1, PCI 0000:01:00.0, core X"),
            facts_with("BLAS 1, core X", cases[i].facts), &found);
        if (found.n != cases[i].n)
            fail_msg("%s: %zu differences", cases[i].facts, found.n);
        fact_differences_free(&found);
    }
}

static void every_difference_is_told_in_words(void **state)
{
    static const struct {
        const char *from, *to; /* in the facts of now */
        const char *what, *then, *now;
        bool may_change_bits;
    } cases[] = {
        {"'aaaaaaaaaaaaaaaa'", "'eeeeeeeeeeeeeeee'", "data file a.csv",
         "sha256 aaaaaaaaaaaa", "sha256 eeeeeeeeeeee", true},
        {",                    {'name': 'b.csv', 'sha256': 'bbbbbbbbbbbbbbbb'}",
         "", "data file b.csv", "sha256 bbbbbbbbbbbb", "not there", true},
        {"'files': [", "'files': [{'name': 'n.csv', 'sha256': 'ff'},",
         "data file n.csv", "not there", "sha256 ff", true},
        {"'name': 'cpu', 'numerics': 1", "'name': 'cpu', 'numerics': 2",
         "numerics number of the backend", "1", "2", true},
        {"'cpu', ", "'ref', ", "backend", "cpu", "ref", true},
        {"X (avx2)", "X (base)", "device", "X (avx2)", "X (base)", true},
        {"core X", "core Y", "libraries and driver of the backend",
         "BLAS 1, core X", "BLAS 1, core Y", true},
        {"'gcc 12'", "'gcc 13'", "build of the backend", "gcc 12", "gcc 13",
         true},
        {"dddddddddddddddd", "0123456789abcdef", "file of the backend",
         "sha256 dddddddddddd", "sha256 0123456789ab", true},
        {"'c1'", "'c2'", "commit of m2run", "c1", "c2", true},
        {"-O2", "-O3", "compiler flags of m2run", "-O2", "-O3", true},
        {"'11'", "'12'", "library libm.so.6", "build 11", "build 12", true},
        {"'22'", "'23'", "library libyaml-0.so.2", "build 22", "build 23",
         false},
        {"'isa': 'avx2'", "'isa': 'avx'", "vector instructions", "avx2", "avx",
         true},
        {"{'OMP", "{'OPENBLAS_CORETYPE': 'Haswell', 'OMP",
         "environment variable OPENBLAS_CORETYPE", "not set", "Haswell", true},
        {"{'OMP_NUM_THREADS': '2'}", "{}",
         "environment variable OMP_NUM_THREADS", "2", "not set", false},
        {"'threads': 2", "'threads': 3", "threads", "2", "3", false},
        {"'here'", "'there'", "host", "here", "there", false},
        {"'6.1'", "'6.2'", "kernel", "6.1", "6.2", false},
        {"/a/m2_cpu.so", "/b/m2_cpu.so", "place of the backend", "/a/m2_cpu.so",
         "/b/m2_cpu.so", false},
        {"'plugin': {'numerics': 1", "'plugin': {'numerics': 2",
         "numerics number of the data plugin", "1", "2", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fact_differences found;

        compare(facts_with(NULL, NULL), facts_with(cases[i].from, cases[i].to),
                &found);
        if (found.n != 1)
            fail_msg("%s: %zu differences", cases[i].what, found.n);
        assert_string_equal(found.items[0].what, cases[i].what);
        assert_string_equal(found.items[0].then, cases[i].then);
        assert_string_equal(found.items[0].now, cases[i].now);
        assert_int_equal(found.items[0].may_change_bits,
                         cases[i].may_change_bits);
        fact_differences_free(&found);
    }
}

static void what_one_side_does_not_know_is_no_difference(void **state)
{
    static const char *const unknown[] = {
        "'numerics': 1, 'device_name': 'X (avx2)',",
        "'sha256': 'dddddddddddddddd',",
        "{'name': 'libm.so.6', 'build_id': '11'},",
        ", 'isa': 'avx2'",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        struct fact_differences found;

        compare(facts_with(unknown[i], ""), facts_with(NULL, NULL), &found);
        assert_int_equal(found.n, 0);
        compare(facts_with(NULL, NULL), facts_with(unknown[i], ""), &found);
        assert_int_equal(found.n, 0);
    }
}

static void what_changes_bits_comes_first(void **state)
{
    struct fact_differences found;
    struct text lines = {0};
    json_t *now = facts_with("'threads': 2", "'threads': 1");

    (void)state;
    json_object_set_new(json_object_get(now, "backend"), "numerics",
                        json_integer(7));
    json_object_set_new(json_object_get(now, "host"), "libc",
                        json_string("glibc 3"));
    json_object_set_new(
        json_array_get(json_object_get(json_object_get(now, "data"), "files"),
                       1),
        "sha256", json_string("9999"));
    compare(facts_with(NULL, NULL), now, &found);
    assert_int_equal(found.n, 4);
    assert_int_equal(facts_that_change_bits(&found), 3);
    facts_write(&found, "  ", &lines);
    assert_string_equal(
        text_string(&lines),
        "  data file b.csv: sha256 bbbbbbbbbbbb, now sha256 9999\n"
        "  numerics number of the backend: 1, now 7\n"
        "  C library: glibc 2.36, now glibc 3\n");
    assert_string_equal(found.items[3].what, "threads");
    text_free(&lines);
    fact_differences_free(&found);
}

static void files_of_one_name_are_told_apart_by_their_order(void **state)
{
    struct fact_differences found;

    (void)state;
    compare(facts_with("b.csv", "a.csv"), facts_with("b.csv", "a.csv"), &found);
    assert_int_equal(found.n, 0);
    compare(facts_with("'b.csv', 'sha256': 'bb", "'a.csv', 'sha256': 'xx"),
            facts_with("b.csv", "a.csv"), &found);
    assert_int_equal(found.n, 1);
    assert_string_equal(found.items[0].now, "sha256 bbbbbbbbbbbb");
    fact_differences_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_facts_have_no_difference),
        cmocka_unit_test(another_slot_is_no_difference),
        cmocka_unit_test(every_difference_is_told_in_words),
        cmocka_unit_test(what_one_side_does_not_know_is_no_difference),
        cmocka_unit_test(what_changes_bits_comes_first),
        cmocka_unit_test(files_of_one_name_are_told_apart_by_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
