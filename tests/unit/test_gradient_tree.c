/* Sums of microbatch gradients: one tree, whatever the order of arrival. */
#include "train/gradient_tree.h"

#include <math.h>

#include "loader.h"
#include "tests/unit/unit.h"

enum { N = 5, MAX_LEAVES = 9 };

struct fixture {
    struct m2_device *device;
    struct m2_buffer *buffer; /* gradient, then sum */
    struct gradient_tree *tree;
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct m2_error err;

    assert_ok(device_open(plugin_builtin_ref(), 0, M2_F32, 1, &f->device, &err),
              &err);
    assert_ok(buffer_alloc(f->device, 2 * N * sizeof(float), &f->buffer, &err),
              &err);
    assert_ok(gradient_tree_create(f->device, N, MAX_LEAVES, &f->tree, &err),
              &err);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    gradient_tree_free(f->tree);
    buffer_free(f->device, f->buffer);
    device_close(f->device);
    free(f);
    return 0;
}

/* Values of very different size, so that the pairing shows in the bits. */
static float value(int64_t leaf, int64_t i)
{
    double x = sin(3.7 * (double)leaf + 1.3 * (double)i + 0.2);

    return (float)(x * pow(10, (double)((leaf * 5 + i) % 7) - 3));
}

/* Node (level, j) as the header has it, in the arithmetic of the device. */
static float node(int64_t n_leaves, int level, int64_t j, int64_t i)
{
    int64_t width = n_leaves;

    if (level == 0)
        return value(j, i);
    for (int l = 0; l < level - 1; l++)
        width = (width + 1) / 2;
    if (2 * j + 1 >= width)
        return node(n_leaves, level - 1, 2 * j, i);
    return node(n_leaves, level - 1, 2 * j, i) +
           node(n_leaves, level - 1, 2 * j + 1, i);
}

static void expect(int64_t n_leaves, float out[N])
{
    int levels = 0;

    while ((INT64_C(1) << levels) < n_leaves)
        levels++;
    for (int64_t i = 0; i < N; i++)
        out[i] = node(n_leaves, levels, 0, i);
}

static void add_leaf(const struct fixture *f, int64_t leaf)
{
    struct m2_view gradient = view_matrix(f->buffer, 0, 1, N, N, M2_F32);
    float host[N];
    struct m2_error err;

    for (int64_t i = 0; i < N; i++)
        host[i] = value(leaf, i);
    assert_ok(buffer_upload(f->device, f->buffer, 0, host, sizeof host, &err),
              &err);
    assert_ok(gradient_tree_add(f->tree, leaf, &gradient, &err), &err);
}

static void sum_in(const struct fixture *f, const int64_t *order,
                   int64_t n_leaves, float out[N])
{
    struct m2_view sum = view_matrix(f->buffer, N, 1, N, N, M2_F32);
    struct m2_error err;

    gradient_tree_begin(f->tree, n_leaves);
    for (int64_t i = 0; i < n_leaves; i++)
        add_leaf(f, order[i]);
    assert_ok(gradient_tree_finish(f->tree, &sum, &err), &err);
    assert_ok(buffer_download(f->device, f->buffer, N * sizeof(float), out,
                              N * sizeof(float), &err),
              &err);
}

static void check_order(const struct fixture *f, const int64_t *order,
                        int64_t n_leaves)
{
    float expected[N], sum[N];

    expect(n_leaves, expected);
    sum_in(f, order, n_leaves, sum);
    assert_memory_equal(sum, expected, sizeof sum);
}

static void the_sum_is_that_of_the_documented_tree(void **state)
{
    static const int64_t order[MAX_LEAVES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

    for (int64_t n = 1; n <= MAX_LEAVES; n++)
        check_order(*state, order, n);
}

static void leaves_in_order_fill_the_arenas_there_are(void **state)
{
    static const int64_t order[MAX_LEAVES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const struct fixture *f = *state;
    size_t before = device_bytes(f->device);
    struct m2_error err;

    for (int64_t n = 1; n <= MAX_LEAVES; n++) {
        struct fixture own = *f;
        float sum[N];
        size_t arenas = (size_t)gradient_tree_arenas(n);

        assert_ok(gradient_tree_create(f->device, N, n, &own.tree, &err), &err);
        sum_in(&own, order, n, sum);
        assert_int_equal(device_bytes(f->device) - before,
                         arenas * N * sizeof(float));
        gradient_tree_free(own.tree);
    }
    assert_int_equal(gradient_tree_arenas(1), 1);
    assert_int_equal(gradient_tree_arenas(8), 4);
    assert_int_equal(gradient_tree_arenas(9), 4);
}

/* Calls visit for every order of n leaves (Heap's algorithm). */
static void permute(const struct fixture *f, int64_t *order, int64_t n,
                    int64_t k)
{
    if (k == 1) {
        check_order(f, order, n);
        return;
    }
    for (int64_t i = 0; i < k; i++) {
        int64_t j = k % 2 == 0 ? i : 0, swapped;

        permute(f, order, n, k - 1);
        swapped = order[j];
        order[j] = order[k - 1];
        order[k - 1] = swapped;
    }
}

static void any_order_of_leaves_gives_the_same_bits(void **state)
{
    for (int64_t n = 1; n <= 6; n++) {
        int64_t order[] = {0, 1, 2, 3, 4, 5};

        permute(*state, order, n, n);
    }
}

static void many_leaves_may_come_backwards_or_mixed(void **state)
{
    static const int64_t orders[][MAX_LEAVES] = {
        {8, 7, 6, 5, 4, 3, 2, 1, 0},
        {0, 2, 4, 6, 8, 1, 3, 5, 7},
        {5, 0, 7, 8, 2, 6, 1, 4, 3},
    };

    for (size_t i = 0; i < COUNT_OF(orders); i++)
        check_order(*state, orders[i], MAX_LEAVES);
}

/* Otherwise these tests could not fail. */
static void another_pairing_gives_other_bits(void **state)
{
    float expected[N], sum[N];

    (void)state;
    expect(MAX_LEAVES, expected);
    for (int64_t i = 0; i < N; i++) {
        sum[i] = 0;
        for (int64_t leaf = 0; leaf < MAX_LEAVES; leaf++)
            sum[i] += value(leaf, i);
    }
    assert_memory_not_equal(sum, expected, sizeof sum);
}

static void leaves_in_order_need_no_more_memory(void **state)
{
    static const int64_t order[MAX_LEAVES] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t reversed[] = {8, 6, 4, 2, 0, 1, 3, 5, 7};
    const struct fixture *f = *state;
    size_t bytes = device_bytes(f->device);

    for (int64_t n = 1; n <= MAX_LEAVES; n++)
        check_order(f, order, n);
    assert_int_equal(device_bytes(f->device), bytes);
    check_order(f, reversed, MAX_LEAVES);
    assert_true(device_bytes(f->device) > bytes);
}

static void a_sum_that_was_given_up_is_forgotten(void **state)
{
    static const int64_t order[] = {0, 1, 2};
    const struct fixture *f = *state;

    gradient_tree_begin(f->tree, 4);
    add_leaf(f, 3);
    add_leaf(f, 0);
    check_order(f, order, 3);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_sum_is_that_of_the_documented_tree),
        TEST(any_order_of_leaves_gives_the_same_bits),
        TEST(many_leaves_may_come_backwards_or_mixed),
        TEST(another_pairing_gives_other_bits),
        TEST(leaves_in_order_need_no_more_memory),
        TEST(leaves_in_order_fill_the_arenas_there_are),
        TEST(a_sum_that_was_given_up_is_forgotten),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
