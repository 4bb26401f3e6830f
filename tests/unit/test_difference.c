/* Two computations of one run: what differs, where, and whether it was altered
 * or computed. */
#include "reproduce/difference.h"

#include <sys/stat.h>
#include <unistd.h>

#include "model/safetensors.h"
#include "reproduce/trace_file.h"
#include "tests/unit/unit.h"
#include "util/file.h"

#define HEADER "step,epoch,lr,train/loss,train/grad_norm,val/loss,trace\n"

/* Rows of a run with one row every ten steps. */
#define ROW1 "10,1,0.1,1.5,2.5,3.5,1111111111111111\n"
#define ROW2 "20,2,0.1,1.25,2.25,3.25,2222222222222222\n"
#define ROW3 "30,3,0.1,1.125,2.125,3.125,3333333333333333\n"
#define ROWS HEADER ROW1 ROW2 ROW3

#define RECORD                                                                 \
    "{\"state\": \"done\", \"step\": 30, \"reason\": \"\", \"early_stopped\":" \
    " false, \"final\": {\"val/loss\": 3.125}, \"best\": {\"step\": 30,"       \
    " \"val/loss\": 3.125}, \"test\": {\"test/loss\": 4.5, \"test/mae\": 5.5," \
    " \"test/mse\": 6.5}}"

struct fixture {
    char *dir;
    char recorded[300], again[300], traces[300];
};

static void write_file(const char *dir, const char *name, const char *bytes)
{
    char path[400];
    struct m2_error err;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_ok(file_write_atomic(path, bytes, strlen(bytes), M2_E_RESULTS, &err),
              &err);
}

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    const char *dirs[] = {f->recorded, f->again};

    f->dir = unit_make_dir();
    snprintf(f->recorded, sizeof f->recorded, "%.200s/recorded", f->dir);
    snprintf(f->again, sizeof f->again, "%.200s/again", f->dir);
    snprintf(f->traces, sizeof f->traces, "%.200s/trace.txt", f->dir);
    for (size_t i = 0; i < 2; i++) {
        char path[400];

        assert_int_equal(mkdir(dirs[i], 0777), 0);
        snprintf(path, sizeof path, "%s/checkpoints", dirs[i]);
        assert_int_equal(mkdir(path, 0777), 0);
        write_file(dirs[i], "metrics.csv", ROWS);
        write_file(dirs[i], "run.json", RECORD);
    }
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    unit_remove_dir(f->dir);
    free(f);
    return 0;
}

/* ---- checkpoints --------------------------------------------------------- */

struct fake {
    const char *name, *step, *trace, *bytes, *identity;
    float parameter, moment;
};

static const struct fake whole = {.name = "last.safetensors",
                                  .step = "30",
                                  .trace = "3333333333333333",
                                  .identity = "me",
                                  .parameter = 0.5F,
                                  .moment = 0.25F};

static void write_checkpoint(const char *dir, struct fake fake)
{
    const float parameters[3] = {1, fake.parameter, 2};
    const float moments[3] = {3, fake.moment, 4};
    const int64_t shape[1] = {3};
    char bytes[24], path[400];
    const char *const metadata[][2] = {
        {"m2run.format", "1"},          {"m2run.identity", fake.identity},
        {"m2run.step", fake.step},      {"m2run.trace", fake.trace},
        {"m2run.metrics_bytes", bytes}, {"m2run.epoch", "3"},
        {"m2run.cursor", "0"},          {"m2run.row_loss", "0"},
        {"m2run.row_norm", "0"},        {"m2run.row_steps", "0"},
        {"m2run.best_value", "3.125"},  {"m2run.best_step", "30"},
        {"m2run.bad_evaluations", "0"},
    };
    struct st_writer *writer = st_writer_new();
    struct m2_error err;

    snprintf(bytes, sizeof bytes, "%zu", strlen(ROWS));
    snprintf(path, sizeof path, "%s/checkpoints/%s", dir, fake.name);
    assert_non_null(writer);
    for (size_t i = 0; i < COUNT_OF(metadata); i++)
        assert_ok(st_add_metadata(
                      writer, metadata[i][0],
                      strcmp(metadata[i][0], "m2run.metrics_bytes") == 0 &&
                              fake.bytes != NULL
                          ? fake.bytes
                          : metadata[i][1],
                      &err),
                  &err);
    assert_ok(st_add(writer, "w", ST_F32, shape, 1, parameters, &err), &err);
    assert_ok(st_add(writer, "adam_m.w", ST_F32, shape, 1, moments, &err),
              &err);
    assert_ok(st_seal(writer, "m2run.sha256", &err), &err);
    assert_ok(st_write(writer, path, &err), &err);
    st_writer_free(writer);
}

/* Changes a byte near the end of the recorded file: of its last tensor. */
static void damage(const struct fixture *f)
{
    char path[400];
    FILE *file;

    snprintf(path, sizeof path, "%s/checkpoints/last.safetensors", f->recorded);
    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -12, SEEK_END), 0);
    fputc(0x7b, file);
    fclose(file);
}

/* ---- comparing ----------------------------------------------------------- */

static void find(const struct fixture *f, struct difference_request request,
                 struct difference *out)
{
    struct m2_error err;

    request.recorded = f->recorded;
    request.again = f->again;
    assert_ok(difference_find(&request, out, &err), &err);
}

/* The first finding is of this kind and says this. */
static void check_first(const struct difference *difference,
                        enum finding_kind kind, const char *part)
{
    assert_true(difference->n_findings > 0);
    if (strstr(difference->findings[0].text, part) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", part, difference->findings[0].text);
    assert_int_equal(difference->findings[0].kind, kind);
    assert_true(difference->differs == (kind != FINDING_NOTE));
}

static void the_same_files_are_identical(void **state)
{
    const struct fixture *f = *state;
    struct difference difference;

    write_checkpoint(f->recorded, whole);
    write_checkpoint(f->again, whole);
    find(f, (struct difference_request){.identity = "me"}, &difference);
    assert_false(difference.differs);
    assert_int_equal(difference.n_rows, 3);
    assert_int_equal(difference.last_step, 30);
    assert_int_equal(difference.n_tensors, 2);
    assert_int_equal(strlen(difference.parameters), 64);
    assert_int_equal(difference.n_findings, 0);
    difference_free(&difference);
}

struct row_case {
    const char *rows; /* of the recorded run */
    enum finding_kind kind;
    int64_t step;
    const char *text;
};

static const struct row_case row_cases[] = {
    /* later traces agree: the cell was altered */
    {HEADER "10,1,0.1,1.75,2.5,3.5,1111111111111111\n" ROW2 ROW3,
     FINDING_ALTERED, 10, "train/loss 1.75 vs 1.5: the trace of step 30"},
    {HEADER ROW1 "20,2,0.1,1.25,2.25,3.25,aaaaaaaaaaaaaaaa\n" ROW3,
     FINDING_ALTERED, 20, "trace aaaaaaaaaaaaaaaa vs 2222222222222222"},
    {HEADER ROW1 ROW2 "30,3,0.2,1.125,2.125,3.125,3333333333333333\n",
     FINDING_ALTERED, 30, "lr 0.2 vs 0.1"},
    {HEADER ROW1 "20,7,0.1,1.25,2.25,3.25,2222222222222222\n" ROW3,
     FINDING_ALTERED, 20, "epoch 7 vs 2"},
    {HEADER ROW1 "21,2,0.1,1.25,2.25,3.25,2222222222222222\n" ROW3,
     FINDING_ALTERED, 20, "step 21 vs 20"},
    {HEADER ROW1 ROW2 "40,3,0.1,1.125,2.125,3.125,3333333333333333\n",
     FINDING_ALTERED, 30, "step 40 vs 30"},
    {HEADER "10,1,0.10,1.5,2.5,3.5,1111111111111111\n" ROW2 ROW3,
     FINDING_ALTERED, 10, "the same number in digits that no run writes"},
    {HEADER ROW1 ROW2 "30,3,0.1,1.125,2.125,3.125,33333333\n", FINDING_ALTERED,
     30, "trace 33333333 vs"},
    {HEADER ROW1 "20,2,0.1,1.25,2.25,9.25,2222222222222222\n" ROW3,
     FINDING_ALTERED, 20, "val/loss 9.25 vs 3.25"},
    {HEADER ROW1 "20,2,0.1,\t\x01,2.25,3.25,2222222222222222\n" ROW3,
     FINDING_ALTERED, 20, "train/loss ?? vs 1.25"},
    {HEADER ROW1 "20,2,0.1,,2.25,3.25,2222222222222222\n" ROW3, FINDING_ALTERED,
     20, "train/loss (empty) vs 1.25"},
    {HEADER ROW1 ROW3, FINDING_ALTERED, 20, "the row of this step is missing"},
    {HEADER ROW1 ROW2, FINDING_ALTERED, 30, "the row of this step is missing"},
    {HEADER ROW1 "15,1,0.1,1,1,1,4444444444444444\n" ROW2 ROW3, FINDING_ALTERED,
     15, "line 3 is none that this run writes"},
    {"step,epoch,lr,train/lass,train/grad_norm,val/loss,trace\n" ROW1 ROW2 ROW3,
     FINDING_ALTERED, -1, "column 4 is called 'train/lass', not train/loss"},
    {HEADER ROW1 ROW2 "30,3,0.1", FINDING_ALTERED, -1, "in the middle of line"},
    {HEADER ROW1 "20,2\n" ROW3, FINDING_ALTERED, -1, "expected 7 columns"},
    {"a,b\n1,2\n", FINDING_ALTERED, -1, "has no column step"},
    {"", FINDING_ALTERED, -1, "has no header line"},
    /* traces part and do not meet again: computed */
    {HEADER ROW1 "20,2,0.1,1.75,2.25,3.25,aaaaaaaaaaaaaaaa\n"
                 "30,3,0.1,1.5,2.125,3.125,bbbbbbbbbbbbbbbb\n",
     FINDING_COMPUTED, 20,
     "train/loss 1.75 vs 1.25; the first step that differs is one of 11 to 20"},
    {HEADER ROW1 ROW2 "30,3,0.1,1.125,2.125,3.125,bbbbbbbbbbbbbbbb\n",
     FINDING_COMPUTED, 30, "though every number of this row agrees"},
    {HEADER "10,1,0.1,1.5,2.5,3.75,1111111111111111\n"
            "20,2,0.1,1.25,2.25,3.75,2222222222222222\n"
            "30,3,0.1,1.125,2.125,3.75,3333333333333333\n",
     FINDING_COMPUTED, 10, "the validation was computed differently"},
    {HEADER ROW1 ROW2 ROW3 "40,4,0.1,1,1,1,4444444444444444\n",
     FINDING_COMPUTED, 40, "the new one ended after step 30"},
};

static void rows_are_altered_or_computed(void **state)
{
    const struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(row_cases); i++) {
        const struct row_case *c = &row_cases[i];
        struct difference difference;

        write_file(f->recorded, "metrics.csv", c->rows);
        find(f, (struct difference_request){.recorded = ""}, &difference);
        check_first(&difference, c->kind, c->text);
        assert_int_equal(difference.findings[0].step, c->step);
        assert_string_equal(difference.findings[0].file, "metrics.csv");
        difference_free(&difference);
    }
}

static void a_gap_of_one_step_is_exact(void **state)
{
    const struct fixture *f = *state;
    const char *again = HEADER "1,0,0.1,1.5,2.5,,1111111111111111\n"
                               "2,0,0.1,1.25,2.25,,2222222222222222\n";
    const char *recorded = HEADER "1,0,0.1,1.5,2.5,,1111111111111111\n"
                                  "2,0,0.1,1.75,2.25,,aaaaaaaaaaaaaaaa\n";
    struct difference difference;

    write_file(f->again, "metrics.csv", again);
    write_file(f->recorded, "metrics.csv", recorded);
    find(f, (struct difference_request){.last_step = 2}, &difference);
    check_first(&difference, FINDING_COMPUTED, "train/loss 1.75 vs 1.25");
    assert_string_equal(difference.findings[0].text, "train/loss 1.75 vs 1.25");
    assert_int_equal(difference.findings[0].agreed, 1);
    difference_free(&difference);
}

/* A checkpoint between two rows, and the new run's trace of its step. */
static void a_checkpoint_narrows_the_gap(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        const char *trace, *text;
    } cases[] = {
        {"cccccccccccccccc", "one of 26 to 30"},
        {"dddddddddddddddd", "one of 21 to 25"},
    };
    uint8_t trace[TRACE_BYTES];
    struct m2_error err;
    int fd;

    assert_int_equal(trace_parse("cccccccccccccccc", trace), 0);
    assert_ok(trace_file_open(f->traces, &fd, &err), &err);
    assert_ok(trace_file_write(fd, 25, trace, &err), &err);
    close(fd);
    write_file(f->recorded, "metrics.csv",
               HEADER ROW1 ROW2 "30,3,0.1,1,2.125,3.125,bbbbbbbbbbbbbbbb\n");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fake fake = whole;
        struct difference difference;

        fake.step = "25";
        fake.trace = cases[i].trace;
        write_checkpoint(f->recorded, fake);
        find(f,
             (struct difference_request){.traces = f->traces, .last_step = 30},
             &difference);
        check_first(&difference, FINDING_COMPUTED, cases[i].text);
        difference_free(&difference);
    }
}

static void a_checkpoint_proves_that_the_last_trace_was_altered(void **state)
{
    const struct fixture *f = *state;
    struct difference difference;

    write_file(f->recorded, "metrics.csv",
               HEADER ROW1 ROW2
               "30,3,0.1,1.125,2.125,3.125,bbbbbbbbbbbbbbbb\n");
    write_checkpoint(f->recorded, whole);
    write_checkpoint(f->again, whole);
    find(f, (struct difference_request){.identity = "me"}, &difference);
    check_first(&difference, FINDING_ALTERED, "trace bbbbbbbbbbbbbbbb vs 333");
    difference_free(&difference);
}

struct checkpoint_case {
    struct fake fake; /* what differs from the whole one */
    bool damaged;
    double tolerance;
    enum finding_kind kind;
    const char *text;
};

static const struct checkpoint_case checkpoint_cases[] = {
    {{.bytes = NULL}, true, 0, FINDING_ALTERED, "its own SHA-256 does not fit"},
    {{.parameter = 0.75F},
     false,
     0,
     FINDING_COMPUTED,
     "w[1]: 0.75 vs 0.5 (1 of 6 numbers in 1 of 2 tensors differ); every loss "
     "up to step 30 agrees: the last update"},
    {{.moment = 0.5F}, false, 0, FINDING_COMPUTED, "adam_m.w[1]: 0.5 vs 0.25"},
    {{.identity = "you"},
     false,
     0,
     FINDING_ALTERED,
     "belongs to another run: identity you"},
    {{.bytes = "7"}, false, 0, FINDING_ALTERED, "its checkpoint of step 30"},
    {{.trace = "eeeeeeeeeeeeeeee"},
     false,
     0,
     FINDING_ALTERED,
     "its trace eeeeeeeeeeeeeeee is not that of metrics.csv"},
    {{.step = "20", .trace = "2222222222222222"},
     false,
     0,
     FINDING_COMPUTED,
     "is of step 20, the new one of step 30"},
    {{.parameter = 0.75F}, false, 1e-6, FINDING_COMPUTED, "w[1]: 0.75 vs 0.5"},
};

/* The members that are set, in place of those of a whole one. */
static struct fake changed(const struct fake *change)
{
    struct fake fake = whole;

    fake.bytes = change->bytes;
    if (change->step != NULL)
        fake.step = change->step;
    if (change->trace != NULL)
        fake.trace = change->trace;
    if (change->identity != NULL)
        fake.identity = change->identity;
    if (change->parameter != 0)
        fake.parameter = change->parameter;
    if (change->moment != 0)
        fake.moment = change->moment;
    return fake;
}

static void checkpoints_are_altered_or_computed(void **state)
{
    const struct fixture *f = *state;

    write_checkpoint(f->again, whole);
    for (size_t i = 0; i < COUNT_OF(checkpoint_cases); i++) {
        const struct checkpoint_case *c = &checkpoint_cases[i];
        struct difference difference;

        write_checkpoint(f->recorded, changed(&c->fake));
        if (c->damaged)
            damage(f);
        find(f,
             (struct difference_request){.identity = "me",
                                         .tolerance = c->tolerance},
             &difference);
        check_first(&difference, c->kind, c->text);
        difference_free(&difference);
    }
}

static void what_is_not_there_is_a_note(void **state)
{
    const struct fixture *f = *state;
    struct difference difference;

    write_checkpoint(f->again, whole);
    find(f, (struct difference_request){.identity = "me"}, &difference);
    check_first(&difference, FINDING_NOTE, "it could not be compared");
    assert_string_equal(difference.parameters, "");
    difference_free(&difference);
    write_checkpoint(f->recorded, whole);
    assert_int_equal(remove(unit_path(f->recorded, "metrics.csv")), 0);
    find(f, (struct difference_request){.identity = "me"}, &difference);
    check_first(&difference, FINDING_ALTERED, "is missing");
    difference_free(&difference);
}

static void a_tolerance_is_relative(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        double tolerance;
        bool differs;
    } cases[] = {{1e-2, false}, {1e-9, true}};

    write_file(f->recorded, "metrics.csv",
               HEADER ROW1 "20,2,0.1,1.255,2.25,3.25,aaaaaaaaaaaaaaaa\n" ROW3);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct difference difference;

        find(f, (struct difference_request){.tolerance = cases[i].tolerance},
             &difference);
        assert_true(difference.differs == cases[i].differs);
        assert_true(difference.largest > 0.003 && difference.largest < 0.005);
        assert_string_equal(difference.largest_at, "train/loss of step 20");
        difference_free(&difference);
    }
}

static void rows_after_the_last_step_do_not_count(void **state)
{
    const struct fixture *f = *state;
    struct difference difference;

    write_file(f->again, "metrics.csv", HEADER ROW1 ROW2);
    find(f, (struct difference_request){.last_step = 25}, &difference);
    assert_false(difference.differs);
    assert_int_equal(difference.n_rows, 2);
    difference_free(&difference);
}

struct record_case {
    const char *record;
    enum finding_kind kind;
    const char *text;
};

#define RECORD_OF(state, step, test)                                           \
    "{\"state\": \"" state "\", \"step\": " step ", \"reason\": \"\","         \
    " \"early_stopped\": false, \"test\": {" test "}}"

static const struct record_case record_cases[] = {
    {RECORD_OF("done", "30",
               "\"test/loss\": 4.75, \"test/mae\": 5.5, \"test/mse\": 6.5"),
     FINDING_ALTERED, "test/loss 4.75 vs 4.5 (1 of 3 numbers differ): altered"},
    {RECORD_OF("done", "30",
               "\"test/loss\": 4.75, \"test/mae\": 5.75, \"test/mse\": 6.5"),
     FINDING_COMPUTED, "test/loss 4.75 vs 4.5 (2 of 3 numbers differ)"},
    {RECORD_OF("done", "31", ""), FINDING_ALTERED,
     "ended done at step 31 vs done at step 30"},
    {RECORD_OF("diverged", "30", ""), FINDING_COMPUTED,
     "ended diverged at step 30 vs done at step 30"},
    {"{\"state\": 7, \"step\": [], \"final\": 3, \"test\": \"x\", \"best\":"
     " {\"step\": {}}}",
     FINDING_ALTERED, "(none)"},
    {"{", FINDING_ALTERED, "not a run.json"},
    {"[1]", FINDING_ALTERED, "no object"},
};

static void what_run_json_says_is_compared(void **state)
{
    const struct fixture *f = *state;

    for (size_t i = 0; i < COUNT_OF(record_cases); i++) {
        struct difference difference;
        bool found = false;

        write_file(f->recorded, "run.json", record_cases[i].record);
        find(f, (struct difference_request){.recorded = ""}, &difference);
        assert_true(difference.differs);
        for (size_t k = 0; k < difference.n_findings; k++)
            found =
                found || (difference.findings[k].kind == record_cases[i].kind &&
                          strstr(difference.findings[k].text,
                                 record_cases[i].text) != NULL);
        if (!found)
            fail_msg("\"%s\" is not found, but \"%s\"", record_cases[i].text,
                     difference.findings[0].text);
        difference_free(&difference);
    }
}

static void many_altered_places_are_counted(void **state)
{
    const struct fixture *f = *state;
    struct text recorded = {0}, again = {0};
    struct difference difference;

    text_add(&recorded, HEADER);
    text_add(&again, HEADER);
    for (int i = 1; i <= 20; i++) {
        text_addf(&recorded, "%d,0,0.1,9,1,,%016x\n", i, i);
        text_addf(&again, "%d,0,0.1,8,1,,%016x\n", i, i);
    }
    write_file(f->recorded, "metrics.csv", text_string(&recorded));
    write_file(f->again, "metrics.csv", text_string(&again));
    find(f, (struct difference_request){.last_step = 20}, &difference);
    check_first(&difference, FINDING_ALTERED, "train/loss 9 vs 8");
    assert_int_equal(difference.n_findings, 9);
    assert_string_equal(difference.findings[8].text,
                        "12 more places were altered");
    difference_free(&difference);
    text_free(&recorded);
    text_free(&again);
}

static void a_trace_file_has_what_was_written(void **state)
{
    const struct fixture *f = *state;
    uint8_t trace[TRACE_BYTES];
    char text[TRACE_TEXT];
    struct m2_error err;
    int fd;

    assert_int_equal(trace_parse("0123456789abcdef", trace), 0);
    assert_ok(trace_file_open(f->traces, &fd, &err), &err);
    assert_ok(trace_file_write(fd, 2, trace, &err), &err);
    close(fd);
    assert_true(trace_file_find(f->traces, 2, text));
    assert_string_equal(text, "0123456789abcdef");
    assert_false(trace_file_find(f->traces, 1, text)); /* a hole */
    assert_false(trace_file_find(f->traces, 3, text));
    assert_false(trace_file_find(f->traces, 0, text));
    assert_false(trace_file_find(f->dir, 1, text));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_files_are_identical),
        TEST(rows_are_altered_or_computed),
        TEST(a_gap_of_one_step_is_exact),
        TEST(a_checkpoint_narrows_the_gap),
        TEST(a_checkpoint_proves_that_the_last_trace_was_altered),
        TEST(checkpoints_are_altered_or_computed),
        TEST(what_is_not_there_is_a_note),
        TEST(a_tolerance_is_relative),
        TEST(rows_after_the_last_step_do_not_count),
        TEST(what_run_json_says_is_compared),
        TEST(many_altered_places_are_counted),
        TEST(a_trace_file_has_what_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
