/* Which backend and device a word means. */
#include "backends/select.h"

#include <unistd.h>

#include "backends/ops.h"
#include "loader.h"
#include "tests/unit/unit.h"

static void a_word_names_a_backend_and_a_device(void **state)
{
    static const struct {
        const char *word, *backend;
        int index;
    } cases[] = {
        {"cpu", "cpu", 0},
        {"ref", "ref", 0},
        {"cuda", "cuda", 0},
        {"cuda:3", "cuda", 3},
        {"cuda:4095", "cuda", 4095},
        {"/opt/m2_mine.so", "/opt/m2_mine.so", 0},
        {"/opt/m2_mine.so:1", "/opt/m2_mine.so", 1},
        {"/opt/a:b/m2_mine.so:2", "/opt/a:b/m2_mine.so", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct device_choice choice;
        struct m2_error err;
        char why[256] = "untouched";

        assert_ok(device_choose(cases[i].word, &choice, why, &err), &err);
        assert_string_equal(choice.backend, cases[i].backend);
        assert_int_equal(choice.index, cases[i].index);
        assert_string_equal(why, "");
    }
}

static void a_file_with_a_colon_needs_no_number(void **state)
{
    struct device_choice choice;
    struct m2_error err;
    char why[256];

    (void)state;
    assert_ok(device_choose("/opt/a:b/m2_mine.so", &choice, why, &err), &err);
    assert_string_equal(choice.backend, "/opt/a:b/m2_mine.so");
    assert_int_equal(choice.index, 0);
}

static void other_words_are_device_errors(void **state)
{
    static const struct {
        const char *word, *part;
    } cases[] = {
        {"", "device '': no backend named"},
        {":1", "device ':1': no backend named"},
        {"cpu:", "device 'cpu:': expected a device number, at most 4095, "
                 "after ':'"},
        {"auto:1", "device 'auto:1': auto takes no number; cuda:1 has one"},
        {"cuda:-1", "device 'cuda:-1': expected a device number"},
        {"cuda:1.5", "device 'cuda:1.5': expected a device number"},
        {"cuda:4096", "device 'cuda:4096': expected a device number"},
        {"cuda:99999999999999999999", "expected a device number"},
        {"cuda:one", "device 'cuda:one': expected a device number"},
    };
    char lengthy[5000];
    struct device_choice choice;
    struct m2_error err;
    char why[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fails(device_choose(cases[i].word, &choice, why, &err),
                     M2_E_DEVICE, cases[i].part, &err);
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_fails(device_choose(lengthy, &choice, why, &err), M2_E_DEVICE,
                 "a name of 4999 characters is too long", &err);
}

static void auto_is_cpu_where_there_is_no_cuda(void **state)
{
    struct device_choice choice;
    const struct plugin *plugin;
    struct m2_error err;
    char why[256];
    int count = 0;

    (void)state;
    if (plugin_load("cuda", M2_PLUGIN_BACKEND, &plugin, &err) == 0 &&
        device_count(plugin, &count, &err) == 0 && count > 0)
        skip();
    assert_ok(device_choose("auto", &choice, why, &err), &err);
    assert_string_equal(choice.backend, "cpu");
    assert_int_equal(choice.index, 0);
    assert_non_null(strstr(why, "device auto: cpu (no cuda: "));
}

static void the_reference_backend_is_always_there(void **state)
{
    const struct device_choice choice = {.backend = "ref"};
    const struct plugin *plugin;
    struct m2_error err;

    (void)state;
    assert_ok(device_load(&choice, &plugin, &err), &err);
    assert_string_equal(plugin->descriptor->name, "ref");
    assert_ptr_equal(plugin, plugin_builtin_ref());
}

static void a_backend_that_is_not_there_is_a_device_error(void **state)
{
    const struct device_choice choice = {.backend = "nosuch"};
    const struct plugin *plugin;
    struct m2_error err;

    (void)state;
    assert_fails(device_load(&choice, &plugin, &err), M2_E_DEVICE,
                 "plugin nosuch not found", &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_names_a_backend_and_a_device),
        cmocka_unit_test(a_file_with_a_colon_needs_no_number),
        cmocka_unit_test(other_words_are_device_errors),
        cmocka_unit_test(auto_is_cpu_where_there_is_no_cuda),
        cmocka_unit_test(the_reference_backend_is_always_there),
        cmocka_unit_test(a_backend_that_is_not_there_is_a_device_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
