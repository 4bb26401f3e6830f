/* Checked sizes and allocation. */
#include "tests/unit/unit.h"

#include "util/memory.h"

static void size_overflow_is_seen(void **state)
{
    size_t out = 7;

    (void)state;
    assert_true(size_multiply(3, 4, &out));
    assert_int_equal(out, 12);
    assert_true(size_multiply(SIZE_MAX, 0, &out));
    assert_int_equal(out, 0);
    assert_true(size_multiply(SIZE_MAX, 1, &out));
    assert_false(size_multiply(SIZE_MAX / 2 + 1, 2, &out));
    assert_true(out == SIZE_MAX);
    assert_true(size_add(SIZE_MAX - 1, 1, &out));
    assert_true(out == SIZE_MAX);
    assert_false(size_add(SIZE_MAX, 1, &out));
}

static void impossible_allocation_is_an_error_with_its_size(void **state)
{
    struct m2_error err;

    (void)state;
    assert_null(memory_zeroed(SIZE_MAX, 16, &err));
    assert_int_equal(err.code, M2_E_MEMORY);
    assert_non_null(strstr(err.text, "18446744073709551615 x 16 bytes"));
    assert_null(memory_resize(NULL, SIZE_MAX, 16, &err));
}

static void no_items_are_no_failure(void **state)
{
    struct m2_error err;
    void *nothing = memory_zeroed(0, 8, &err);

    (void)state;
    assert_non_null(nothing);
    nothing = memory_resize(nothing, 0, 8, &err);
    assert_non_null(nothing);
    free(nothing);
}

static void array_keeps_its_items_while_growing(void **state)
{
    struct m2_error err;
    int *items = NULL;
    size_t capacity = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        assert_ok(array_reserve(&items, &capacity, (size_t)i + 1, sizeof *items,
                                &err),
                  &err);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    assert_int_equal(capacity, 1024);
    free(items);
}

static void array_that_cannot_grow_is_unchanged(void **state)
{
    struct m2_error err;
    double *items = memory_zeroed(4, sizeof *items, &err);
    size_t capacity = 4;

    (void)state;
    assert_non_null(items);
    items[3] = 5;
    assert_int_equal(
        array_reserve(&items, &capacity, SIZE_MAX / 4, sizeof *items, &err),
        M2_E_MEMORY);
    assert_int_equal(capacity, 4);
    assert_true(items[3] == 5);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_overflow_is_seen),
        cmocka_unit_test(impossible_allocation_is_an_error_with_its_size),
        cmocka_unit_test(no_items_are_no_failure),
        cmocka_unit_test(array_keeps_its_items_while_growing),
        cmocka_unit_test(array_that_cannot_grow_is_unchanged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
