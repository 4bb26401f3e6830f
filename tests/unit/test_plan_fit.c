/* Plans that do not fit, by which run, by how many at once, by the disk. */
#include "unit.h"

#include "cli/plan.h"

#define HUGE_BYTES (UINT64_C(1) << 50)

enum { RUNS = 3 };

struct fixture {
    struct plan_options options;
    struct plan plan;
    struct planned_run runs[RUNS];
    struct record_run records[RUNS];
    char labels[RUNS][8];
    char name[8];
};

static void make(struct fixture *f, int jobs)
{
    *f = (struct fixture){.name = "name"};
    for (size_t i = 0; i < RUNS; i++) {
        snprintf(f->labels[i], sizeof f->labels[i], "run%zu", i);
        f->records[i].label = f->labels[i];
        memset(f->records[i].identity, 'a', 64);
        f->runs[i].is_to_do = true;
        f->runs[i].plan.device_is_host = true;
        f->runs[i].plan.process_bytes = 1000;
        f->runs[i].disk_bytes = 1000;
    }
    f->plan = (struct plan){
        .options = &f->options,
        .root = "/",
        .runs = f->runs,
        .n_to_do = RUNS,
        .jobs = jobs,
        .threads = 1,
    };
    f->plan.resolved.sweep.n_runs = RUNS;
    f->plan.resolved.record.runs = f->records;
    f->plan.resolved.experiment.config.name = f->name;
}

static void expect(struct fixture *f, size_t n, const char *part)
{
    struct m2_error err;

    assert_ok(plan_fit(&f->plan, &err), &err);
    assert_int_equal(f->plan.problems.count, n);
    if (n > 0 && strstr(f->plan.problems.items[0], part) == NULL)
        fail_msg("%s", f->plan.problems.items[0]);
    string_list_free(&f->plan.problems);
}

static void what_fits_is_no_problem(void **state)
{
    struct fixture f;

    (void)state;
    make(&f, 2);
    expect(&f, 0, NULL);
    assert_int_equal(f.plan.needs.memory, 2000);
    assert_int_equal(f.plan.needs.disk, 3000);
}

static void a_run_that_does_not_fit_alone_is_named(void **state)
{
    struct fixture f;

    (void)state;
    make(&f, 1);
    f.runs[1].plan.process_bytes = HUGE_BYTES;
    expect(&f, 1, "run1-aaaaaaaaaaaa needs 1.0 PiB of memory");
    make(&f, 1);
    f.runs[1].plan.process_bytes = HUGE_BYTES;
    f.runs[1].is_to_do = false; /* published before: no matter */
    expect(&f, 0, NULL);
}

static void the_number_of_jobs_that_fits_is_told(void **state)
{
    struct memory_capacity capacity = memory_capacity();
    struct fixture f;

    (void)state;
    make(&f, 3);
    for (size_t i = 0; i < RUNS; i++)
        f.runs[i].plan.process_bytes = capacity.limit / 5 * 2;
    expect(&f, 1, "-j 2 fits");
}

static void a_device_of_its_own_has_a_limit_of_its_own(void **state)
{
    struct fixture f;

    (void)state;
    make(&f, 2);
    for (size_t i = 0; i < RUNS; i++) {
        f.runs[i].plan.device_is_host = false;
        f.runs[i].plan.device_bytes = 600;
        f.runs[i].plan.device_limit = 1000;
    }
    expect(&f, 1, "2 runs at once can need 1.2 KiB of memory");
    make(&f, 1);
    f.runs[2].plan.device_is_host = false;
    f.runs[2].plan.device_bytes = 2000;
    f.runs[2].plan.device_limit = 1000;
    expect(&f, 1, "run2-aaaaaaaaaaaa needs 2.0 KiB of memory, the device");
}

static void the_disk_holds_what_stays_and_what_is_being_written(void **state)
{
    struct fixture f;

    (void)state;
    make(&f, 2);
    f.runs[0].plan.model.parameter_bytes = 10;
    expect(&f, 0, NULL);
    assert_int_equal(f.plan.needs.disk, 3000 + 2 * 2 * 3 * 10);
    make(&f, 1);
    f.runs[0].disk_bytes = HUGE_BYTES;
    expect(&f, 1, "the runs need 1.0 PiB of disk, / has");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_no_problem),
        cmocka_unit_test(a_run_that_does_not_fit_alone_is_named),
        cmocka_unit_test(the_number_of_jobs_that_fits_is_told),
        cmocka_unit_test(a_device_of_its_own_has_a_limit_of_its_own),
        cmocka_unit_test(the_disk_holds_what_stays_and_what_is_being_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
