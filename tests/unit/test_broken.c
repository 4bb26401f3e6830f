/* Broken experiment files: each has its complete messages beside it.
 *
 * tests/cli/broken/X.yaml is loaded, with the overrides of its first lines
 * ("# override: lr=fast"), and what is said must equal X.expected to the
 * byte.  With M2_UPDATE=1 in the environment the files are written instead:
 * read them before they are committed. */
#include <dirent.h>
#include <unistd.h>

#include "unit.h"

#include "option_tables.h"
#include "sweep/sweep.h"
#include "util/file.h"
#include "util/path.h"

enum { MAX_OVERRIDES = 8 };

/* The overrides that a file asks for. */
static size_t read_overrides(char *bytes, const char **overrides)
{
    static const char mark[] = "# override: ";
    size_t count = 0;

    while (strncmp(bytes, mark, strlen(mark)) == 0 && count < MAX_OVERRIDES) {
        char *end = strchr(bytes, '\n');

        assert_non_null(end);
        *end = '\0';
        overrides[count++] = bytes + strlen(mark);
        bytes = end + 1;
    }
    return count;
}

/* All that is said about a file, and the result of loading it. */
static void load(const char *name, struct text *out)
{
    const char *overrides[MAX_OVERRIDES];
    struct experiment_request request = {
        .path = name, .overrides = overrides, .lookup = &test_lookup};
    struct messages messages = {0};
    struct experiment experiment;
    struct sweep sweep;
    struct text bytes = {0};
    struct m2_error err = {0};
    int code;

    assert_ok(file_read(name, 1 << 20, M2_E_CONFIG, &bytes, &err), &err);
    request.n_overrides =
        bytes.length == 0 ? 0 : read_overrides(bytes.bytes, overrides);
    code = sweep_load(&request, &experiment, &sweep, &messages, &err);
    messages_print(&messages, out);
    text_addf(out, "exit %d: %s\n", -code, code == 0 ? "accepted" : err.text);
    assert_true(code != 0);
    assert_true(messages.n_errors > 0);
    sweep_free(&sweep);
    experiment_free(&experiment);
    messages_free(&messages);
    text_free(&bytes);
}

static void check(const char *name)
{
    struct text said = {0}, expected = {0};
    struct m2_error err;
    char path[256];

    snprintf(path, sizeof path, "%.*s.expected", (int)strlen(name) - 5, name);
    load(name, &said);
    if (getenv("M2_UPDATE") != NULL)
        assert_ok(
            file_write_atomic(path, said.bytes, said.length, M2_E_FAILED, &err),
            &err);
    assert_ok(file_read(path, 1 << 20, M2_E_FAILED, &expected, &err), &err);
    if (strcmp(text_string(&said), text_string(&expected)) != 0)
        fail_msg("%s\n---- said\n%s---- expected\n%s", name, text_string(&said),
                 text_string(&expected));
    text_free(&said);
    text_free(&expected);
}

static void every_broken_file_says_all_that_is_wrong(void **state)
{
    struct string_list names = {0};
    struct m2_error err;
    size_t checked = 0;

    (void)state;
    assert_ok(path_list(".", M2_E_FAILED, &names, &err), &err);
    for (size_t i = 0; i < names.count; i++) {
        size_t length = strlen(names.items[i]);

        if (length < 5 || strcmp(names.items[i] + length - 5, ".yaml") != 0)
            continue;
        check(names.items[i]);
        checked++;
    }
    print_message("# %zu broken files\n", checked);
    assert_true(checked >= 60);
    string_list_free(&names);
}

int main(void)
{
    const char *top = getenv("top_srcdir");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_broken_file_says_all_that_is_wrong),
    };

    if (chdir(top != NULL ? top : ".") != 0 || chdir("tests/cli/broken") != 0) {
        perror("$top_srcdir/tests/cli/broken");
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
