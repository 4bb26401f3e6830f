/* No op allocates: every op of the case tables, once to warm up, then again
 * while malloc counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backends/conformance/case.h"
#include "backends/conformance/pairs.h"
#include "plugins/loader.h"

/* A sanitizer brings a malloc of its own. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define M2_COUNTS_MALLOC 1
#endif

#ifdef M2_COUNTS_MALLOC
static volatile int counting, counted;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* These replace the C library's for the whole process, modules included. */
void *malloc(size_t size)
{
    counted += counting;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    counted += counting;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    counted += counting;
    return __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    counted += counting;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    counted += counting;
    *out = __libc_memalign(alignment, size);
    return *out == NULL;
}

/* The number of allocations of one more run of a trial that has run. */
static int allocations(struct bench *bench, const struct trial *trial)
{
    union trial_args args = trial->args;
    counted = 0;
    counting = 1;
    int code = op_run(bench->device, trial->op, &args, NULL);
    if (code == M2_OK)
        code = device_sync(bench->device, NULL);
    counting = 0;
    assert_int_equal(code, M2_OK);
    return counted;
}

static void check_trial(struct bench *bench, struct trial *trial,
                        const char *label)
{
    const struct trial_layout packed = {0, 0, false, 0};
    struct m2_error err;
    if (trial_run(bench, trial, &packed, &err) != M2_OK)
        fail_msg("%s", err.text);
    int n = allocations(bench, trial);
    if (n != 0)
        fail_msg("%s %s allocates %d times", op_name(trial->op), label, n);
}

static void check_row(struct bench *bench, const struct case_family *family,
                      const struct case_row *row)
{
    struct trial forward, backward;
    char label[200];
    case_label(family, row, label, sizeof label);
    case_build(family, row, &forward);
    check_trial(bench, &forward, label);
    if (pair_backward(family->op) >= 0 && !row->forward_only) {
        case_build_backward(row, &forward, &backward);
        check_trial(bench, &backward, label);
        trial_free(&backward);
    }
    trial_free(&forward);
}

static void check_backend(const struct plugin *plugin)
{
    const struct case_list lists[] = {cases_data(), cases_layers(),
                                      cases_scan(), cases_training()};
    struct m2_device *device;
    struct bench bench;
    assert_int_equal(device_open(plugin, 0, M2_F32, 2, &device, NULL), M2_OK);
    bench_init(&bench, device);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i].n; j++)
            for (size_t k = 0; k < lists[i].families[j].n_rows; k++)
                check_row(&bench, &lists[i].families[j],
                          &lists[i].families[j].rows[k]);
    bench_free(&bench);
    device_close(device);
}

static void no_op_of_ref_allocates(void **state)
{
    (void)state;
    check_backend(plugin_builtin_ref());
}

static void no_op_of_cpu_allocates(void **state)
{
    const struct plugin *plugin;
    struct m2_error err;
    (void)state;
    if (plugin_load("cpu", M2_PLUGIN_BACKEND, &plugin, &err)) {
        printf("# %s\n", err.text);
        skip();
    }
    check_backend(plugin);
}

static void the_counter_sees_an_allocation(void **state)
{
    (void)state;
    counted = 0;
    counting = 1;
    void *volatile memory = malloc(1); /* not to be optimised away */
    free(memory);
    counting = 0;
    assert_int_equal(counted, 1);
}

#else

static void no_op_allocates(void **state)
{
    (void)state;
    printf("# allocations are not counted with this C library\n");
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef M2_COUNTS_MALLOC
        cmocka_unit_test(the_counter_sees_an_allocation),
        cmocka_unit_test(no_op_of_ref_allocates),
        cmocka_unit_test(no_op_of_cpu_allocates),
#else
        cmocka_unit_test(no_op_allocates),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
