/* The loader: three kinds of failure, each with its exact message; the order
 * of the search; what is taken although it is older or newer. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/ops.h"
#include "plugins/loader.h"
#include "plugins/m2_data.h"

/* Directories of this test run, absolute. */
static char *bad_dir; /* the modules of tests/bad_plugins */
static char *made_dir, *work_dir;

/* printf into a string that the caller frees. */
__attribute__((format(printf, 1, 2))) static char *text(const char *format, ...)
{
    va_list arguments;
    char *out;

    va_start(arguments, format);
    assert_true(vasprintf(&out, format, arguments) >= 0);
    va_end(arguments);
    return out;
}

static int set_up(void **state)
{
    const char *build = getenv("top_builddir");
    char *path;

    (void)state;
    path = text("%s/tests/bad_plugins/.libs", build != NULL ? build : ".");
    bad_dir = realpath(path, NULL);
    free(path);
    assert_non_null(bad_dir);
    made_dir = unit_make_dir();
    work_dir = realpath(made_dir, NULL);
    assert_non_null(work_dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(bad_dir);
    free(work_dir);
    unit_remove_dir(made_dir);
    return 0;
}

/* Copies the first `limit` bytes of a file. */
static void copy_file(const char *from, const char *to, long limit)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    int byte;

    assert_non_null(in);
    assert_non_null(out);
    while (limit-- > 0 && (byte = fgetc(in)) != EOF)
        fputc(byte, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

/* Loading dir/m2_NAME.so fails with exactly this text. */
static void assert_message(const char *dir, const char *name,
                           const char *message)
{
    char *path = text("%s/m2_%s.so", dir, name);
    char *expected = text("plugin %s %s", path, message);
    const struct plugin *plugin = NULL;
    struct m2_error err = {0};
    int rc = plugin_load(path, M2_PLUGIN_DATA, &plugin, &err);

    assert_string_equal(err.text, expected);
    assert_int_equal(rc, M2_E_DEVICE);
    assert_null(plugin);
    free(path);
    free(expected);
}

/* The same, where dlopen names the file in its own words. */
static void assert_dlerror(const char *dir, const char *name, const char *words)
{
    char *message = text("does not load: %s/m2_%s.so: %s", dir, name, words);

    assert_message(dir, name, message);
    free(message);
}

static void every_bad_module_is_refused_with_its_own_message(void **state)
{
    static const struct {
        const char *name, *message;
    } cases[] = {
        {"nosymbol",
         "refused: it does not define the symbol m2_plugin_query_v1"},
        {"borrowed",
         "refused: it does not define the symbol m2_plugin_query_v1"},
        {"nodescriptor", "refused: m2_plugin_query_v1 returned nothing"},
        {"wrongabi",
         "refused: it has plugin ABI 2, this m2run has plugin ABI 1"},
        {"smallsize",
         "refused: its descriptor has 48 bytes, this m2run needs 64"},
        {"wrongkind", "refused: unknown kind 7, this m2run knows 1 (backend) "
                      "and 2 (data plugin)"},
        {"othername",
         "refused: it calls itself someone_else, its file name says othername"},
        {"nobuild", "refused: it has no build string"},
        {"notable", "refused: it says 5 slots but has no table"},
        {"missingslot", "refused: slot NEXT is missing"},
        {"slotsize",
         "refused: slot OPEN has arguments of 56 bytes, this m2run has 48"},
        {"short", "refused: it is a backend, expected a data plugin"},
    };

    (void)state;
    assert_int_equal(sizeof(struct m2_data_open), 48);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_message(bad_dir, cases[i].name, cases[i].message);
}

static void an_unresolved_symbol_is_told_in_the_loaders_own_words(void **state)
{
    (void)state;
    assert_dlerror(bad_dir, "unresolved",
                   "undefined symbol: m2_function_that_nobody_defines");
}

static void what_is_no_module_does_not_load(void **state)
{
    (void)state;
    unit_write(unit_path(work_dir, "m2_empty.so"), "");
    assert_dlerror(work_dir, "empty", "file too short");
    unit_write(unit_path(work_dir, "m2_text.so"),
               "A text that is long enough to hold the header of a library, "
               "but does not begin like one.\n");
    assert_dlerror(work_dir, "text", "invalid ELF header");
    assert_int_equal(mkdir(unit_path(work_dir, "m2_directory.so"), 0700), 0);
    assert_message(work_dir, "directory",
                   "does not load: it is not a regular file");

    assert_int_equal(mkfifo(unit_path(work_dir, "m2_fifo.so"), 0600), 0);
    assert_message(work_dir, "fifo", "does not load: it is not a regular file");
}

/* Cut anywhere, the file must give a message: dlopen alone would be killed
 * by SIGBUS. */
static void a_truncated_module_does_not_load(void **state)
{
    const char *good = unit_path(bad_dir, "m2_good.so");
    const char *cut = unit_path(work_dir, "m2_cut.so");
    struct stat facts;
    struct m2_error err;
    int truncated = 0;

    (void)state;
    assert_int_equal(stat(good, &facts), 0);
    for (long size = 0; size < facts.st_size; size += facts.st_size / 37) {
        const struct plugin *plugin;

        copy_file(good, cut, size);
        err.text[0] = '\0';
        if (plugin_load(cut, M2_PLUGIN_DATA, &plugin, &err) == M2_OK)
            fail_msg("%ld of %ld bytes were loaded", size, (long)facts.st_size);
        truncated += strstr(err.text, "does not load: the file is truncated: "
                                      "it has ") != NULL;
        assert_int_equal(unlink(cut), 0);
    }
    assert_true(truncated > 10);
}

static void a_file_that_is_not_there_is_not_found(void **state)
{
    (void)state;
    assert_message(bad_dir, "nowhere", "not found: No such file or directory");
}

static void a_file_must_be_called_m2_name_so(void **state)
{
    char *path = text("%s/backend.so", work_dir);
    const struct plugin *plugin;
    struct m2_error err;
    char *expected =
        text("plugin %s refused: its file name is not m2_NAME.so", path);

    (void)state;
    copy_file(unit_path(bad_dir, "m2_good.so"), path, LONG_MAX);
    assert_int_equal(plugin_load(path, M2_PLUGIN_DATA, &plugin, &err),
                     M2_E_DEVICE);
    assert_string_equal(err.text, expected);
    free(path);
    free(expected);
}

static void a_name_that_is_nowhere_lists_every_directory_tried(void **state)
{
    const struct plugin *plugin;
    struct m2_error err;
    static const char first[] =
        "plugin nowhere not found: there is no m2_nowhere.so in\n"
        "  /does/not/exist (No such file or directory)\n  ";
    char *path;

    (void)state;
    setenv("M2RUN_PLUGIN_PATH", "/does/not/exist:some/where", 1);
    assert_int_equal(plugin_load("nowhere", M2_PLUGIN_DATA, &plugin, &err),
                     M2_E_DEVICE);
    assert_memory_equal(err.text, first, strlen(first));
    assert_non_null(strstr(err.text, "\n  some/where of M2RUN_PLUGIN_PATH was "
                                     "left out: it is not absolute"));
    path = plugin_search_path();
    assert_non_null(path);
    for (char *rest = path, *dir; (dir = strsep(&rest, ":")) != NULL;)
        assert_non_null(strstr(err.text, dir));
    free(path);
    assert_fails(plugin_load("", M2_PLUGIN_DATA, &plugin, &err), M2_E_DEVICE,
                 "name is empty", &err);
}

static void nothing_is_loaded_from_the_working_directory(void **state)
{
    static const char *const paths[] = {"", ":", ".", "./", ":.:", "sub", NULL};
    const struct plugin *plugin;
    struct m2_error err;
    char here[PATH_MAX];

    (void)state;
    copy_file(unit_path(bad_dir, "m2_good.so"),
              unit_path(work_dir, "m2_good.so"), LONG_MAX);
    assert_int_equal(mkdir(unit_path(work_dir, "sub"), 0700), 0);
    copy_file(unit_path(bad_dir, "m2_good.so"),
              unit_path(work_dir, "sub/m2_good.so"), LONG_MAX);
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(work_dir), 0);
    for (size_t i = 0; paths[i] != NULL; i++) {
        setenv("M2RUN_PLUGIN_PATH", paths[i], 1);
        assert_fails(plugin_load("good", M2_PLUGIN_DATA, &plugin, &err),
                     M2_E_DEVICE, "plugin good not found", &err);
    }
    unsetenv("M2RUN_PLUGIN_PATH");
    assert_fails(plugin_load("good", M2_PLUGIN_DATA, &plugin, &err),
                 M2_E_DEVICE, "plugin good not found", &err);
    /* Named as a file, it is the user's word. */
    assert_ok(plugin_load("./m2_good.so", M2_PLUGIN_DATA, &plugin, &err), &err);
    assert_string_equal(plugin->path, unit_path(work_dir, "m2_good.so"));
    assert_int_equal(chdir(here), 0);
}

/* Puts a copy of the good module into work_dir/SUB. */
static const char *make_good_dir(const char *sub)
{
    char file[64];

    assert_int_equal(mkdir(unit_path(work_dir, sub), 0700), 0);
    snprintf(file, sizeof file, "%s/m2_good.so", sub);
    copy_file(unit_path(bad_dir, "m2_good.so"), unit_path(work_dir, file),
              LONG_MAX);
    return unit_path(work_dir, sub);
}

static const char *path_of_good(void)
{
    const struct plugin *plugin;
    struct m2_error err;

    assert_ok(plugin_load("good", M2_PLUGIN_DATA, &plugin, &err), &err);
    return plugin->path;
}

static void command_line_beats_environment_in_order(void **state)
{
    char *value = text("%s/env1:%s/env2", work_dir, work_dir);
    struct m2_error err;

    (void)state;
    setenv("M2RUN_PLUGIN_PATH", value, 1);
    free(value);
    make_good_dir("env2");
    assert_string_equal(path_of_good(), unit_path(work_dir, "env2/m2_good.so"));
    make_good_dir("env1");
    assert_string_equal(path_of_good(), unit_path(work_dir, "env1/m2_good.so"));
    assert_ok(plugin_add_dir(make_good_dir("cli1"), &err), &err);
    assert_ok(plugin_add_dir(make_good_dir("cli2"), &err), &err);
    assert_string_equal(path_of_good(), unit_path(work_dir, "cli1/m2_good.so"));
    assert_int_equal(unlink(unit_path(work_dir, "cli1/m2_good.so")), 0);
    assert_string_equal(path_of_good(), unit_path(work_dir, "cli2/m2_good.so"));
    assert_int_equal(unlink(unit_path(work_dir, "cli2/m2_good.so")), 0);
}

static void a_plugin_dir_must_be_a_directory(void **state)
{
    struct m2_error err;

    (void)state;
    assert_fails(plugin_add_dir("/does/not/exist", &err), M2_E_USAGE,
                 "plugin directory /does/not/exist: No such file or directory",
                 &err);
    assert_fails(plugin_add_dir("/dev/null", &err), M2_E_USAGE,
                 "plugin directory /dev/null is not a directory", &err);
}

static void the_build_tree_is_searched_without_a_word(void **state)
{
    const struct plugin *plugin;
    struct m2_error err;

    (void)state;
    unsetenv("M2RUN_PLUGIN_PATH");
    assert_ok(plugin_load("ref", M2_PLUGIN_BACKEND, &plugin, &err), &err);
    assert_non_null(strstr(plugin->path, "/.libs/m2_ref.so"));
}

static void one_file_is_one_plugin_and_keeps_its_name(void **state)
{
    const struct plugin *first, *second;
    char *detour = text("%s/../.libs/m2_good.so", bad_dir);
    struct m2_error err;

    (void)state;
    assert_ok(plugin_load(unit_path(bad_dir, "m2_good.so"), M2_PLUGIN_DATA,
                          &first, &err),
              &err);
    assert_ok(plugin_load(detour, M2_PLUGIN_DATA, &second, &err), &err);
    assert_ptr_equal(first, second);
    free(detour);

    assert_int_equal(symlink(unit_path(bad_dir, "m2_good.so"),
                             unit_path(work_dir, "m2_alias.so")),
                     0);
    assert_message(work_dir, "alias",
                   "refused: it calls itself good, its file name says alias");
}

static void a_newer_module_with_more_slots_is_taken(void **state)
{
    const struct plugin *plugin;
    struct m2_error err;

    (void)state;
    assert_ok(plugin_load(unit_path(bad_dir, "m2_newer.so"), M2_PLUGIN_DATA,
                          &plugin, &err),
              &err);
    assert_int_equal(plugin->descriptor->n_slots, M2_DATA_N_SLOTS + 1);
}

static void an_older_module_is_taken_and_lacks_the_newer_ops(void **state)
{
    const struct plugin *plugin;
    struct m2_device *device;
    struct m2_buffer *buffer;
    struct m2_error err;

    (void)state;
    assert_ok(plugin_load(unit_path(bad_dir, "m2_short.so"), M2_PLUGIN_BACKEND,
                          &plugin, &err),
              &err);
    assert_null(plugin_slot(plugin, M2_SLOT_FIRST_OP + M2_OP_ssd_step));
    assert_ok(device_open(plugin, 0, M2_F32, 1, &device, &err), &err);
    assert_ok(buffer_alloc(device, 64, &buffer, &err), &err);
    struct m2_fill fill = {view_matrix(buffer, 0, 2, 2, 2, M2_F32), 1};
    struct m2_scale scale = {view_matrix(buffer, 0, 2, 2, 2, M2_F32), 2};
    struct m2_silu silu = {view_matrix(buffer, 0, 2, 2, 2, M2_F32),
                           view_matrix(buffer, 4, 2, 2, 2, M2_F32)};

    assert_ok(op_call(device, M2_OP_fill, &fill, &err), &err);
    assert_fails(op_call(device, M2_OP_scale, &scale, &err), M2_E_UNSUPPORTED,
                 "scale: backend short does not have this op", &err);
    assert_fails(op_prepare(device, M2_OP_silu, &silu, &err), M2_E_UNSUPPORTED,
                 "silu: backend short does not have this op", &err);
    assert_fails(op_run(device, M2_OP_silu, &silu, &err), M2_E_UNSUPPORTED,
                 "silu: backend short does not have this op", &err);
    buffer_free(device, buffer);
    device_close(device);
}

struct seen {
    char names[1024];
    int good, failed;
};

static int note(const char *name, const char *path, const struct plugin *plugin,
                const char *err_text, void *context)
{
    struct seen *seen = context;

    assert_true(path[0] == '/');
    assert_true((plugin == NULL) != (err_text == NULL));
    strcat(strcat(seen->names, name), " ");
    seen->good += plugin != NULL;
    seen->failed += err_text != NULL;
    return 0;
}

static void each_visits_sorted_names_with_plugin_or_reason(void **state)
{
    struct seen seen = {0};
    struct m2_error err;

    (void)state;
    setenv("M2RUN_PLUGIN_PATH", bad_dir, 1);
    assert_ok(plugin_each(M2_PLUGIN_BACKEND, note, &seen, &err), &err);
    assert_non_null(strstr(seen.names, "ref "));
    assert_non_null(strstr(seen.names, "short "));
    assert_true(strstr(seen.names, "ref ") < strstr(seen.names, "short "));
    assert_true(strstr(seen.names, "borrowed ") < strstr(seen.names, "ref "));
    assert_null(strstr(seen.names, "good ")); /* of the other kind */
    assert_int_equal(seen.failed, 12);
    assert_true(seen.good >= 2);
}

static void the_linked_in_reference_is_a_plugin(void **state)
{
    const struct plugin *plugin = plugin_builtin_ref();

    (void)state;
    assert_string_equal(plugin->descriptor->name, "ref");
    assert_non_null(plugin_slot(plugin, M2_SLOT_FIRST_OP + M2_OP_ssd));
    assert_null(plugin_slot(plugin, M2_SLOT_STEP_BEGIN));
    assert_null(plugin_slot(plugin, 4000000000u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_module_is_refused_with_its_own_message),
        cmocka_unit_test(an_unresolved_symbol_is_told_in_the_loaders_own_words),
        cmocka_unit_test(what_is_no_module_does_not_load),
        cmocka_unit_test(a_truncated_module_does_not_load),
        cmocka_unit_test(a_file_that_is_not_there_is_not_found),
        cmocka_unit_test(a_file_must_be_called_m2_name_so),
        cmocka_unit_test(a_name_that_is_nowhere_lists_every_directory_tried),
        cmocka_unit_test(nothing_is_loaded_from_the_working_directory),
        cmocka_unit_test(the_build_tree_is_searched_without_a_word),
        cmocka_unit_test(one_file_is_one_plugin_and_keeps_its_name),
        cmocka_unit_test(a_newer_module_with_more_slots_is_taken),
        cmocka_unit_test(an_older_module_is_taken_and_lacks_the_newer_ops),
        cmocka_unit_test(each_visits_sorted_names_with_plugin_or_reason),
        cmocka_unit_test(command_line_beats_environment_in_order),
        cmocka_unit_test(a_plugin_dir_must_be_a_directory),
        cmocka_unit_test(the_linked_in_reference_is_a_plugin),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
