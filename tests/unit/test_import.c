/* Import and export of tensors: names, types, and what does not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader.h"
#include "model/model.h"
#include "model/safetensors.h"
#include "util/text.h"

enum { V = 11, D = 4, MAX_FOREIGN = 32 };

static struct m2_device *device;
static char *path;

static int set_up(void **state)
{
    const char *dir = getenv("TMPDIR");
    struct text text = {0};
    (void)state;

    text_addf(&text, "%s/m2-import-%ld", dir != NULL ? dir : "/tmp",
              (long)getpid());
    path = text_steal(&text, NULL);
    return device_open(plugin_builtin_ref(), 0, M2_F32, 1, &device, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    device_close(device);
    unlink(path);
    free(path);
    return 0;
}

static struct config_model lm_config(bool tied)
{
    return (struct config_model){
        .d_model = D,
        .n_layer = 1,
        .d_state = 3,
        .expand = 2,
        .headdim = 4,
        .d_conv = 4,
        .ngroups = 1,
        .norm_groups = 1,
        .chunk = 4,
        .norm_eps = 1e-5,
        .conv_bias = true,
        .head = HEAD_LM,
        .tie_embedding = tied,
    };
}

static struct model *make(const struct config_model *config)
{
    struct model_spec spec = {.config = config,
                              .n_features = 2,
                              .n_outputs = 1,
                              .n_vocab = V,
                              .B = 1,
                              .L = 3};
    struct model *model;
    struct m2_error err = {0};

    if (model_create(device, &spec, &model, &err) != 0)
        fail_msg("%s", err.text);
    return model;
}

/* What another program's file holds: every tensor of an LM, 0, 1, 2, .... */
struct foreign {
    const char *names[MAX_FOREIGN];
    int64_t shapes[MAX_FOREIGN][3];
    int n_dims[MAX_FOREIGN];
    enum st_dtype dtypes[MAX_FOREIGN];
    size_t n;
};

static const float counting[256] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
};

static void put(struct foreign *file, const char *name, int n_dims, int64_t a,
                int64_t b, int64_t c)
{
    file->names[file->n] = name;
    file->n_dims[file->n] = n_dims;
    file->dtypes[file->n] = ST_F32;
    memcpy(file->shapes[file->n++], (int64_t[]){a, b, c}, 3 * sizeof a);
}

static struct foreign state_spaces_file(void)
{
    struct foreign file = {.n = 0};

    put(&file, "backbone.embedding.weight", 2, V, D, 0);
    put(&file, "backbone.layers.0.norm.weight", 1, D, 0, 0);
    put(&file, "backbone.layers.0.mixer.dt_bias", 1, 2, 0, 0);
    put(&file, "backbone.layers.0.mixer.A_log", 1, 2, 0, 0);
    put(&file, "backbone.layers.0.mixer.D", 1, 2, 0, 0);
    put(&file, "backbone.layers.0.mixer.in_proj.weight", 2, 24, D, 0);
    put(&file, "backbone.layers.0.mixer.conv1d.weight", 3, 14, 1, 4);
    put(&file, "backbone.layers.0.mixer.conv1d.bias", 1, 14, 0, 0);
    put(&file, "backbone.layers.0.mixer.norm.weight", 1, 8, 0, 0);
    put(&file, "backbone.layers.0.mixer.out_proj.weight", 2, D, 8, 0);
    put(&file, "backbone.norm_f.weight", 1, D, 0, 0);
    return file;
}

static size_t place_of(const struct foreign *file, const char *name)
{
    for (size_t i = 0; i < file->n; i++) {
        if (strcmp(file->names[i], name) == 0)
            return i;
    }
    fail_msg("no tensor %s", name);
    return 0;
}

static void write_foreign(const struct foreign *file)
{
    struct st_writer *writer = st_writer_new();

    for (size_t i = 0; i < file->n; i++)
        assert_int_equal(st_add(writer, file->names[i], file->dtypes[i],
                                file->shapes[i], file->n_dims[i], counting,
                                NULL),
                         0);
    assert_int_equal(st_write(writer, path, NULL), 0);
    st_writer_free(writer);
}

/* Element i of a parameter on the device. */
static double value(const struct model *model, const char *name, int64_t i)
{
    const struct parameter *items;
    size_t n = model_parameters(model, &items);

    for (size_t j = 0; j < n; j++) {
        if (strcmp(items[j].name, name) == 0) {
            struct m2_view view =
                view_columns(model_values(model), items[j].offset + i, 1);
            double out;

            assert_int_equal(view_download(device, &view, &out, NULL), 0);
            return out;
        }
    }
    fail_msg("no tensor %s", name);
    return 0;
}

static void expect_loaded(const struct foreign *file, bool tied)
{
    struct config_model config = lm_config(tied);
    struct model *model = make(&config);
    struct m2_error err = {0};

    write_foreign(file);
    if (model_init_from(model, path, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(value(model, "backbone.embedding.weight", 5) == 5);
    assert_true(value(model, "backbone.norm_f.weight", 3) == 3);
    assert_true(value(model, "backbone.layers.0.mixer.conv1d.weight", 31) ==
                31);
    model_free(model);
}

/* The message after "FILE: its tensors do not fit the model:". */
static void expect_refused(const struct foreign *file,
                           const struct config_model *config,
                           const char *message)
{
    struct model *model = make(config);
    struct m2_error err = {0};
    struct text expected = {0};

    write_foreign(file);
    text_addf(&expected, "%s: its tensors do not fit the model:%s", path,
              message);
    assert_int_equal(model_init_from(model, path, &err), M2_E_CONFIG);
    assert_string_equal(err.text, text_string(&expected));
    text_free(&expected);
    model_free(model);
}

static void names_of_other_programs_are_understood(void **state)
{
    struct foreign file = state_spaces_file();
    char names[MAX_FOREIGN][96];
    (void)state;

    expect_loaded(&file, true);
    file.names[0] = "backbone.embeddings.weight"; /* transformers */
    expect_loaded(&file, true);
    for (size_t i = 0; i < file.n; i++) { /* a wrapped model */
        snprintf(names[i], sizeof names[i], "model.%s", file.names[i]);
        file.names[i] = names[i];
    }
    expect_loaded(&file, true);
}

static void a_tied_head_may_be_there_once_more(void **state)
{
    struct foreign file = state_spaces_file();
    (void)state;

    put(&file, "lm_head.weight", 2, V, D, 0);
    expect_loaded(&file, true);
    expect_loaded(&file, false);
}

static void a_head_that_is_not_the_embedding_is_not_tied(void **state)
{
    struct foreign file = state_spaces_file();
    struct config_model config = lm_config(true);
    (void)state;

    put(&file, "lm_head.weight", 2, V, D, 0);
    file.dtypes[file.n - 1] = ST_BF16; /* the same bytes, other numbers */
    expect_refused(&file, &config,
                   "\n  lm_head.weight: differs from the embedding; for a "
                   "file with untied weights set tie_embedding: false");
}

static void every_mismatch_is_told_with_both_shapes(void **state)
{
    struct foreign file = state_spaces_file();
    struct config_model config = lm_config(true);
    (void)state;

    config.headdim = 8;
    config.n_layer = 2;
    file.names[place_of(&file, "backbone.layers.0.mixer.conv1d.bias")] = "odd";
    expect_refused(
        &file, &config,
        "\n  backbone.layers.0.mixer.in_proj.weight: shape [24, 4], the model "
        "needs [23, 4]"
        "\n  backbone.layers.1.mixer.in_proj.weight: missing, the model needs "
        "[23, 4]"
        "\n  backbone.layers.1.mixer.conv1d.weight: missing, the model needs "
        "[14, 1, 4]"
        "\n  backbone.layers.1.mixer.out_proj.weight: missing, the model "
        "needs [4, 8]"
        "\n  backbone.layers.0.mixer.dt_bias: shape [2], the model needs [1]"
        "\n  backbone.layers.0.mixer.A_log: shape [2], the model needs [1]"
        "\n  backbone.layers.0.mixer.D: shape [2], the model needs [1]"
        "\n  backbone.layers.0.mixer.conv1d.bias: missing, the model needs "
        "[14]"
        "\n  and 7 more"
        "\n  the file has: d_model 4, n_layer 1, expand 2, headdim 4, ngroups "
        "* d_state 3, d_conv 4, vocab_size 11"
        "\n  the model has: d_model 4, n_layer 2, expand 2, headdim 8, "
        "ngroups * d_state 3, d_conv 4, vocab_size 11");
}

static void a_gated_mlp_in_the_mixer_is_refused(void **state)
{
    struct foreign file = state_spaces_file();
    struct config_model config = lm_config(true);
    (void)state;

    file.shapes[place_of(&file, "backbone.layers.0.mixer.in_proj.weight")][0] =
        40;
    expect_refused(&file, &config,
                   "\n  backbone.layers.0.mixer.in_proj.weight: shape [40, 4], "
                   "the model needs [24, 4]; a gated MLP inside the mixer "
                   "(d_ssm < d_inner) is not supported"
                   "\n  the file has: d_model 4, n_layer 1, expand 2, headdim "
                   "4, ngroups * d_state 3, d_conv 4, vocab_size 11"
                   "\n  the model has: d_model 4, n_layer 1, expand 2, headdim "
                   "4, ngroups * d_state 3, d_conv 4, vocab_size 11");
}

static void a_skip_per_channel_is_refused(void **state)
{
    struct foreign file = state_spaces_file();
    struct config_model config = lm_config(true);
    (void)state;

    file.shapes[place_of(&file, "backbone.layers.0.mixer.D")][0] = 8;
    expect_refused(&file, &config,
                   "\n  backbone.layers.0.mixer.D: shape [8], the model needs "
                   "[2]; one value per channel (D_has_hdim) is not supported"
                   "\n  the file has: d_model 4, n_layer 1, expand 2, headdim "
                   "4, ngroups * d_state 3, d_conv 4, vocab_size 11"
                   "\n  the model has: d_model 4, n_layer 1, expand 2, headdim "
                   "4, ngroups * d_state 3, d_conv 4, vocab_size 11");
}

static void integers_and_absent_heads_are_refused(void **state)
{
    struct foreign file = state_spaces_file();
    struct config_model config = lm_config(false);
    (void)state;

    file.dtypes[place_of(&file, "backbone.norm_f.weight")] = ST_I32;
    expect_refused(&file, &config,
                   "\n  lm_head.weight: missing, the model needs [11, 4]; for "
                   "a file with tied weights set tie_embedding: true"
                   "\n  backbone.norm_f.weight: type I32, expected a real type"
                   "\n  the file has: d_model 4, n_layer 1, expand 2, headdim "
                   "4, ngroups * d_state 3, d_conv 4, vocab_size 11"
                   "\n  the model has: d_model 4, n_layer 1, expand 2, headdim "
                   "4, ngroups * d_state 3, d_conv 4, vocab_size 11");
}

static void moments_of_a_checkpoint_are_no_parameters(void **state)
{
    struct config_model config = lm_config(true);
    struct model *model = make(&config), *other = make(&config);
    struct st_writer *writer = st_writer_new();
    size_t bytes = (size_t)model_arena_size(model, NULL) * sizeof(float);
    float *host = calloc(1, bytes);
    struct m2_error err = {0};
    (void)state;

    assert_int_equal(model_initialise(model, 5, NULL), 0);
    assert_int_equal(buffer_download(device, model_values(model).buffer, 0,
                                     host, bytes, NULL),
                     0);
    assert_int_equal(model_save_tensors(model, "", host, writer, &err), 0);
    assert_int_equal(model_save_tensors(model, "adam_m.", host, writer, &err),
                     0);
    assert_int_equal(st_write(writer, path, &err), 0);
    assert_int_equal(model_init_from(other, path, &err), M2_E_CONFIG);
    assert_non_null(strstr(err.text, "adam_m.backbone.embedding.weight: "
                                     "unexpected"));
    assert_int_equal(st_add_metadata(writer, "m2run.format", "1", &err), 0);
    assert_int_equal(st_write(writer, path, &err), 0);
    assert_int_equal(model_init_from(other, path, &err), 0);
    assert_true(value(model, "backbone.layers.0.mixer.A_log", 1) ==
                value(other, "backbone.layers.0.mixer.A_log", 1));
    st_writer_free(writer);
    free(host);
    model_free(model);
    model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_other_programs_are_understood),
        cmocka_unit_test(a_tied_head_may_be_there_once_more),
        cmocka_unit_test(a_head_that_is_not_the_embedding_is_not_tied),
        cmocka_unit_test(every_mismatch_is_told_with_both_shapes),
        cmocka_unit_test(a_gated_mlp_in_the_mixer_is_refused),
        cmocka_unit_test(a_skip_per_channel_is_refused),
        cmocka_unit_test(integers_and_absent_heads_are_refused),
        cmocka_unit_test(moments_of_a_checkpoint_are_no_parameters),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
