/* Checkpoints: written and read back, and refused when a bit has changed. */
#include "train/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/small_model.h"
#include "tests/unit/unit.h"
#include "util/file.h"

#define IDENTITY                                                               \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct fixture {
    char *dir;
    struct config config;
    struct model *model;
    struct optimiser *optimiser;
    struct checkpoint_writer *writer;
};

static const struct checkpoint_identity identity = {
    .identity = IDENTITY,
    .backend = "ref",
    .numerics = "ref 1, host CPU",
    .scaling = "zscore\n\"S1\" 0x1p-3 \\ \xc3\xa4\n",
};

static const struct train_state some_state = {
    .step = 12,
    .epoch = 3,
    .cursor = 32,
    .trace = {1, 2, 3, 4, 5, 6, 7, 255},
    .row_loss = 1.0 / 3,
    .row_norm = 4.9406564584124654e-324,
    .row_steps = 4,
    .best_value = -0.1,
    .best_step = 8,
    .bad_evaluations = 1,
    .metrics_bytes = 12345678901,
};

static void begin(struct fixture *f, int64_t d_model)
{
    struct m2_error err;

    f->config = (struct config){
        .model = small_config(READOUT_LAST),
        .train = {.optimizer = {.betas = {0.9, 0.99}, .eps = 1e-8}},
    };
    f->config.model.d_model = d_model;
    f->config.model.n_layer = 1;
    f->model = small_model(&f->config.model, true);
    assert_ok(optimiser_create(small_device(), f->model, &f->config,
                               &f->optimiser, &err),
              &err);
    small_upload(optimiser_first_moment(f->optimiser), 5);
    small_upload(optimiser_second_moment(f->optimiser), 9);
    assert_ok(checkpoint_writer_create(small_device(), f->model, f->optimiser,
                                       &f->writer, &err),
              &err);
}

static void end(struct fixture *f)
{
    checkpoint_writer_free(f->writer);
    optimiser_free(f->optimiser);
    model_free(f->model);
}

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = unit_make_dir();
    begin(f, 8);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    end(f);
    unit_remove_dir(f->dir);
    free(f);
    return 0;
}

static void write_to(const struct fixture *f, const char *path,
                     const struct train_state *train)
{
    const struct file_at file = {AT_FDCWD, "", path};
    struct m2_error err;

    assert_ok(checkpoint_write(f->writer, &file, &identity, train, &err), &err);
}

static void read_bytes(const char *path, struct text *out)
{
    struct m2_error err;

    assert_ok(file_read(path, 1 << 24, M2_E_RESULTS, out, &err), &err);
}

static void write_bytes(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- what is there ------------------------------------------------------ */

static void a_state_is_read_as_written(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct train_state train;
    struct st_file file;
    struct m2_error err;

    write_to(f, path, &some_state);
    assert_ok(checkpoint_read(path, IDENTITY, &file, &train, &err), &err);
    assert_int_equal(train.step, 12);
    assert_int_equal(train.epoch, 3);
    assert_int_equal(train.cursor, 32);
    assert_memory_equal(train.trace, some_state.trace, TRACE_BYTES);
    assert_true(train.row_loss == some_state.row_loss);
    assert_true(train.row_norm == some_state.row_norm);
    assert_int_equal(train.row_steps, 4);
    assert_true(train.best_value == some_state.best_value);
    assert_int_equal(train.best_step, 8);
    assert_int_equal(train.bad_evaluations, 1);
    assert_int_equal(train.metrics_bytes, 12345678901);
    assert_string_equal(checkpoint_scaling(&file), identity.scaling);
    assert_string_equal(st_metadata(&file, "m2run.numerics"),
                        identity.numerics);
    assert_string_equal(st_metadata(&file, "m2run.backend"), "ref");
    assert_string_equal(st_metadata(&file, "format"), "pt");
    st_free(&file);
    assert_ok(checkpoint_read(path, NULL, &file, &train, &err), &err);
    st_free(&file);
}

static void numbers_that_are_not_finite_are_kept(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct train_state train = some_state;
    struct st_file file;
    struct m2_error err;

    train.best_value = NAN;
    train.row_loss = INFINITY;
    train.row_norm = -0.0;
    write_to(f, path, &train);
    assert_ok(checkpoint_read(path, IDENTITY, &file, &train, &err), &err);
    assert_true(isnan(train.best_value));
    assert_true(train.row_loss == INFINITY);
    assert_true(train.row_norm == 0 && signbit(train.row_norm));
    st_free(&file);
}

static void parameters_and_moments_are_restored_to_the_bit(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct fixture other = {0};
    struct train_state train;
    struct st_file file;
    struct m2_error err;

    write_to(f, path, &some_state);
    begin(&other, 8);
    small_upload(model_values(other.model), 100);
    small_upload(optimiser_first_moment(other.optimiser), 101);
    assert_ok(checkpoint_read(path, IDENTITY, &file, &train, &err), &err);
    assert_ok(checkpoint_restore(&file, other.model, NULL, &err), &err);
    small_same(model_values(f->model), model_values(other.model));
    assert_ok(checkpoint_restore(&file, other.model, other.optimiser, &err),
              &err);
    small_same(optimiser_first_moment(f->optimiser),
               optimiser_first_moment(other.optimiser));
    small_same(optimiser_second_moment(f->optimiser),
               optimiser_second_moment(other.optimiser));
    st_free(&file);
    end(&other);
}

static void the_bytes_depend_on_the_contents_alone(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    const char *copy = unit_path(f->dir, "a-copy.safetensors");
    struct text a = {0}, b = {0};

    write_to(f, path, &some_state);
    write_to(f, copy, &some_state);
    read_bytes(path, &a);
    read_bytes(copy, &b);
    assert_int_equal(a.length, b.length);
    assert_memory_equal(a.bytes, b.bytes, a.length);
    text_free(&a);
    text_free(&b);
}

/* ---- what is refused ---------------------------------------------------- */

static void any_bit_that_has_changed_is_noticed(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct text bytes = {0};
    size_t header;

    write_to(f, path, &some_state);
    read_bytes(path, &bytes);
    header = 8 + ((unsigned char)bytes.bytes[0] |
                  (size_t)(unsigned char)bytes.bytes[1] << 8);
    assert_true(header < bytes.length);
    /* every 5th byte of the header, every 101st of the numbers */
    for (size_t i = 0; i < bytes.length; i += i < header ? 5 : 101) {
        struct train_state train;
        struct st_file file;
        struct m2_error err;

        bytes.bytes[i] ^= (char)(1 << (i % 8));
        write_bytes(path, bytes.bytes, bytes.length);
        bytes.bytes[i] ^= (char)(1 << (i % 8));
        assert_fails(checkpoint_read(path, IDENTITY, &file, &train, &err),
                     M2_E_RESULTS, "last.safetensors: ", &err);
    }
    text_free(&bytes);
}

static void a_file_of_another_length_is_refused(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct text bytes = {0};
    struct train_state train;
    struct st_file file;
    struct m2_error err;

    write_to(f, path, &some_state);
    read_bytes(path, &bytes);
    for (size_t size = 0; size < bytes.length; size += 101) {
        write_bytes(path, bytes.bytes, size);
        assert_fails(checkpoint_read(path, IDENTITY, &file, &train, &err),
                     M2_E_RESULTS, "last.safetensors: ", &err);
    }
    text_add(&bytes, "more");
    write_bytes(path, bytes.bytes, bytes.length);
    assert_fails(checkpoint_read(path, IDENTITY, &file, &train, &err),
                 M2_E_RESULTS, "last.safetensors: ", &err);
    unlink(path);
    assert_fails(checkpoint_read(path, IDENTITY, &file, &train, &err),
                 M2_E_RESULTS, "last.safetensors: No such file", &err);
    text_free(&bytes);
}

static void the_checkpoint_of_another_run_is_refused(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct train_state train;
    struct st_file file;
    struct m2_error err;

    write_to(f, path, &some_state);
    assert_fails(
        checkpoint_read(path, "feed", &file, &train, &err), M2_E_RESULTS,
        "belongs to another run: identity " IDENTITY ", expected feed", &err);
}

/* A sealed file of somebody else's, or of another version. */
static void a_file_without_the_state_is_refused(void **state)
{
    static const struct {
        const char *format, *step, *message;
    } cases[] = {
        {"1", "x", "metadata m2run.step is missing or unreadable"},
        {"1", "-1", "metadata m2run.step is missing or unreadable"},
        {"1", "1", "metadata m2run.epoch is missing or unreadable"},
        {"2", "1", "format 2 of a checkpoint is not known, expected 1"},
    };
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "other.safetensors");

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct st_writer *st = st_writer_new();
        struct train_state train;
        struct st_file file;
        struct m2_error err;

        assert_ok(st_add_metadata(st, "m2run.identity", IDENTITY, &err), &err);
        assert_ok(st_add_metadata(st, "m2run.format", cases[i].format, &err),
                  &err);
        assert_ok(st_add_metadata(st, "m2run.trace", "0011223344556677", &err),
                  &err);
        assert_ok(st_add_metadata(st, "m2run.step", cases[i].step, &err), &err);
        assert_ok(st_seal(st, "m2run.sha256", &err), &err);
        assert_ok(st_write(st, path, &err), &err);
        st_writer_free(st);
        assert_fails(checkpoint_read(path, IDENTITY, &file, &train, &err),
                     M2_E_RESULTS, cases[i].message, &err);
    }
}

static void a_model_of_another_shape_does_not_take_it(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    struct fixture other = {0};
    struct train_state train;
    struct st_file file;
    struct m2_error err;

    write_to(f, path, &some_state);
    begin(&other, 12);
    assert_ok(checkpoint_read(path, IDENTITY, &file, &train, &err), &err);
    assert_fails(checkpoint_restore(&file, other.model, other.optimiser, &err),
                 M2_E_RESULTS, "last.safetensors", &err);
    st_free(&file);
    end(&other);
}

/* ---- a full disk -------------------------------------------------------- */

static void a_checkpoint_that_cannot_be_written_spares_the_old_one(void **state)
{
    const struct fixture *f = *state;
    const char *path = unit_path(f->dir, "last.safetensors");
    const struct file_at to = {AT_FDCWD, "", path};
    struct train_state train = some_state;
    struct rlimit limit, small;
    struct st_file file;
    struct m2_error err;

    write_to(f, path, &some_state);
    train.step = 99;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 5000;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_fails(checkpoint_write(f->writer, &to, &identity, &train, &err),
                 M2_E_RESULTS, "last.safetensors: File too large", &err);
    assert_int_equal(errno, EFBIG);
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_DFL);
    assert_ok(checkpoint_read(path, IDENTITY, &file, &train, &err), &err);
    assert_int_equal(train.step, 12);
    st_free(&file);
    assert_false(file_exists(unit_path(f->dir, ".last.safetensors.tmp")));
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_state_is_read_as_written),
        TEST(numbers_that_are_not_finite_are_kept),
        TEST(parameters_and_moments_are_restored_to_the_bit),
        TEST(the_bytes_depend_on_the_contents_alone),
        TEST(any_bit_that_has_changed_is_noticed),
        TEST(a_file_of_another_length_is_refused),
        TEST(the_checkpoint_of_another_run_is_refused),
        TEST(a_file_without_the_state_is_refused),
        TEST(a_model_of_another_shape_does_not_take_it),
        TEST(a_checkpoint_that_cannot_be_written_spares_the_old_one),
    };

    return cmocka_run_group_tests(tests, small_open, small_close);
}
