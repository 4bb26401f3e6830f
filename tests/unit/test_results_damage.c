/* What is damaged in a results folder is said, and never waited for. */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/csvlog.h"
#include "results/listing.h"
#include "results/owner.h"
#include "results/store.h"
#include "sweep/record.h"
#include "util/file.h"
#include "util/memory.h"

#define HASH "0123456789abcdef0123456789abcdef"

static void a_damaged_record_is_listed_with_its_damage(void **state)
{
    static const struct {
        const char *bytes, *damage;
    } cases[] = {
        {"", "/nowhere/run.json:1:0: not a run.json"},
        {"{\"state\": ", "/nowhere/run.json:1:10: not a run.json"},
        {"[1]", "not a run.json: no object"},
        {"{\"a\": \"\xff\"}", "not a run.json"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct run_entry entry = {.path = memory_string("/nowhere", NULL)};

        run_entry_parse(&entry, cases[i].bytes, strlen(cases[i].bytes));
        assert_null(entry.record);
        if (strstr(entry.damage, cases[i].damage) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].damage, entry.damage);
        run_entry_free(&entry);
    }
}

static void a_pipe_in_the_place_of_a_file_is_not_waited_for(void **state)
{
    const char *dir = *state;
    struct run_entry entry;
    struct csv_table table;
    struct owner owner;
    struct m2_error err;
    bool locked = true;
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY);

    assert_int_equal(mkfifo(unit_path(dir, "run.json"), 0600), 0);
    assert_int_equal(mkfifo(unit_path(dir, "owner.json"), 0600), 0);
    assert_int_equal(mkfifo(unit_path(dir, "metrics.csv"), 0600), 0);
    assert_ok(run_entry_load(dir, &entry, &err), &err);
    assert_non_null(strstr(entry.damage, "run.json: not a regular file"));
    run_entry_free(&entry);
    assert_fails(owner_read(dirfd, &owner, &locked, &err), M2_E_RESULTS,
                 "owner.json: cannot read", &err);
    assert_false(locked);
    assert_fails(csv_table_read(unit_path(dir, "metrics.csv"), &table, &err),
                 M2_E_RESULTS, "metrics.csv: not a regular file", &err);
    close(dirfd);
}

static void a_table_has_as_many_cells_as_its_bytes(void **state)
{
    enum { N = 100000 };
    char *bytes = malloc(2 * N);
    struct csv_table table;
    struct m2_error err;

    (void)state;
    memset(bytes, ',', N);
    memset(bytes + N, '\n', N);
    /* N columns times N lines would be 80 GB. */
    assert_fails(csv_table_parse("t.csv", bytes, 2 * N, &table, &err),
                 M2_E_RESULTS, "t.csv:2: expected 100001 columns", &err);
    assert_fails(
        csv_table_parse("t.csv", "a,b\n1,2\n1,2,3\n", 14, &table, &err),
        M2_E_RESULTS, "t.csv:3: expected 2 columns", &err);
    assert_fails(csv_table_parse("t.csv", "a,b", 3, &table, &err), M2_E_RESULTS,
                 "t.csv: has no header line", &err);
    assert_ok(csv_table_parse("t.csv", "a,b\n1,\n2,3\n4", 13, &table, &err),
              &err);
    assert_int_equal(table.n_rows, 2); /* the torn line is left out */
    assert_string_equal(table.cells[1], "");
    assert_string_equal(table.cells[3], "3");
    csv_table_free(&table);
    free(bytes);
}

static void labels_and_hashes_of_a_record_stay_in_the_folder(void **state)
{
    static const char *const runs[] = {
        "{\"run\": \"../x\", \"identity\": \"" HASH HASH "\"}",
        "{\"run\": \".x\", \"identity\": \"" HASH HASH "\"}",
        "{\"run\": \"\", \"identity\": \"" HASH HASH "\"}",
        "{\"run\": \"a\\nb\", \"identity\": \"" HASH HASH "\"}",
        "{\"run\": \"x\", \"identity\": \"" HASH "/" HASH "\"}",
        "{\"run\": \"x\", \"identity\": \"../" HASH HASH "\"}",
        "{\"run\": \"x\"}",
        "{\"run\": \"x\", \"identity\": \"" HASH,
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        char text[512];
        const struct record_text record = {"sweep.yaml", text};
        struct text base = {0};
        struct record_run run;
        struct m2_error err;

        snprintf(text, sizeof text, "base: |\n  name: x\nruns:\n- %s\n",
                 runs[i]);
        assert_fails(sweep_record_parse(&record, 0, &base, &run, &err),
                     M2_E_RESULTS, "sweep.yaml: damaged", &err);
        assert_fails(sweep_record_parse(&record, 1, &base, &run, &err),
                     M2_E_RESULTS, "no run number 1", &err);
        text_free(&base);
    }
}

static void a_damaged_record_of_a_sweep_is_an_error(void **state)
{
    struct text record = {0};
    struct m2_error err;
    char *path, *again;

    text_add(&record, "format: 1\n");
    assert_ok(sweep_record_write(*state, &record, &path, &err), &err);
    assert_ok(sweep_record_write(*state, &record, &again, &err), &err);
    assert_string_equal(path, again);
    free(again);
    unit_write(path, "form");
    assert_fails(sweep_record_write(*state, &record, &again, &err),
                 M2_E_RESULTS, "is not the record that its name says", &err);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(sweep_record_write(*state, &record, &again, &err),
                 M2_E_RESULTS, "not a regular file", &err);
    text_free(&record);
    free(path);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_record_is_listed_with_its_damage),
        cmocka_unit_test_setup_teardown(
            a_pipe_in_the_place_of_a_file_is_not_waited_for, make_dir,
            remove_dir),
        cmocka_unit_test(a_table_has_as_many_cells_as_its_bytes),
        cmocka_unit_test(labels_and_hashes_of_a_record_stay_in_the_folder),
        cmocka_unit_test_setup_teardown(a_damaged_record_of_a_sweep_is_an_error,
                                        make_dir, remove_dir),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
