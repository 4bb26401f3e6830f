/* Parameters: names, places, counts and first values. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/parameters.h"

/* The original system's model: d_model 256, six layers, 16 features. */
static struct config_model seed_config(void)
{
    return (struct config_model){
        .d_model = 256,
        .n_layer = 6,
        .d_state = 16,
        .expand = 2,
        .headdim = 64,
        .d_conv = 4,
        .ngroups = 1,
        .norm_groups = 1,
        .chunk = 64,
        .dt_limit = {1e-6, 1.0},
        .norm_eps = 1e-5,
        .conv_bias = true,
        .head = HEAD_FORECAST,
        .readout = READOUT_LAST,
    };
}

static void build(const struct config_model *config, int64_t n_vocab,
                  struct parameter_set *out)
{
    struct model_spec spec = {.config = config,
                              .n_features = 16,
                              .n_outputs = 1,
                              .n_vocab = n_vocab,
                              .B = 32,
                              .L = 60};
    struct model_sizes sizes;

    assert_int_equal(model_sizes_of(&spec, &sizes, NULL), 0);
    assert_int_equal(parameters_build(&sizes, config, out, NULL), 0);
}

static const struct parameter *find(const struct parameter_set *set,
                                    const char *name, size_t *index)
{
    for (size_t i = 0; i < set->count; i++) {
        if (strcmp(set->items[i].name, name) == 0) {
            *index = i;
            return &set->items[i];
        }
    }
    fail_msg("no tensor %s", name);
    return NULL;
}

static void the_count_of_the_seed_model_is_exact(void **state)
{
    struct config_model config = seed_config();
    struct parameter_set set;
    (void)state;

    build(&config, 0, &set);
    assert_int_equal(set.n, 2446673);
    assert_int_equal(set.count, 6 * 9 + 5);
    parameters_free(&set);
}

static void counts_of_published_models_are_exact(void **state)
{
    static const struct {
        int64_t d_model, n_layer, n;
    } models[] = {
        {768, 24, 128989632},   {1024, 48, 368346624},  {1536, 48, 780161280},
        {2048, 48, 1343757312}, {2560, 64, 2702599680},
    };
    (void)state;

    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct config_model config = seed_config();
        struct parameter_set set;

        config.head = HEAD_LM;
        config.tie_embedding = true;
        config.d_state = 128;
        config.d_model = models[i].d_model;
        config.n_layer = models[i].n_layer;
        build(&config, 50288, &set);
        assert_int_equal(set.n, models[i].n);
        assert_int_equal(set.count, 9 * models[i].n_layer + 2);
        parameters_free(&set);
    }
}

static void optional_tensors_follow_the_configuration(void **state)
{
    struct config_model config = seed_config();
    struct parameter_set with, without;
    (void)state;

    build(&config, 0, &without);
    config.proj_bias = true;
    config.conv_bias = false;
    build(&config, 0, &with);
    assert_int_equal(with.n - without.n, 6 * (1064 + 256 - 544));
    assert_int_equal(parameter_of_layer(&with, 0, LAYER_CONV_BIAS), -1);
    assert_null(parameter_view(&with, -1, NULL, M2_F32).buffer);
    parameters_free(&with);
    parameters_free(&without);
}

static void decayed_tensors_come_first_without_gaps(void **state)
{
    struct config_model config = seed_config();
    struct parameter_set set;
    int64_t end = 0;
    (void)state;

    build(&config, 0, &set);
    for (size_t i = 0; i < set.count; i++) {
        assert_int_equal(set.items[i].offset, end);
        assert_int_equal(set.items[i].decayed, set.items[i].n_dims > 1);
        assert_int_equal(set.items[i].decayed, end < set.n_decayed);
        end += set.items[i].n;
    }
    assert_int_equal(end, set.n);
    assert_string_equal(set.items[0].name, "input_proj.weight");
    parameters_free(&set);
}

static void a_tensor_is_a_matrix_view_of_the_arena(void **state)
{
    struct config_model config = seed_config();
    struct parameter_set set;
    struct m2_view view;
    (void)state;

    build(&config, 0, &set);
    view = parameter_view(&set, parameter_of_layer(&set, 1, LAYER_CONV), NULL,
                          M2_F32);
    assert_int_equal(view.rows, 544);
    assert_int_equal(view.cols, 4);
    assert_int_equal(view.ld, 4);
    view = parameter_view(&set, set.of_model[MODEL_NORM_F], NULL, M2_F32);
    assert_int_equal(view.rows, 1);
    assert_int_equal(view.cols, 256);
    parameters_free(&set);
}

/* Recorded once: a change of these numbers changes every experiment. */
static void first_values_are_the_recorded_ones(void **state)
{
    static const struct {
        const char *name;
        double values[3];
    } recorded[] = {
        {"input_proj.weight",
         {-0.11078904891873559, 0.12229260120751834, -0.16173429499399045}},
        {"backbone.layers.0.mixer.in_proj.weight",
         {0.0076484048682228939, 0.059011908122721266, 0.059694413025770762}},
        {"backbone.layers.5.mixer.out_proj.weight",
         {0.013502619080029383, 0.0043201918780406802, -0.0073133246799117506}},
        {"backbone.layers.0.mixer.conv1d.weight",
         {0.38628415524978732, 0.41769557520990241, 0.30037146245780932}},
        {"backbone.layers.0.mixer.conv1d.bias",
         {-0.32055903253476148, 0.36426170865237151, -0.20858227188616174}},
        {"backbone.layers.0.mixer.dt_bias",
         {-4.9282100371054467, -5.8760128774638716, -6.4175770376052368}},
        {"backbone.layers.0.mixer.A_log",
         {2.2798496413440303, 2.3453267436029059, 2.0095919961459403}},
        {"backbone.layers.0.mixer.D", {1, 1, 1}},
        {"backbone.norm_f.weight", {1, 1, 1}},
        {"input_proj.bias", {0, 0, 0}},
    };
    struct config_model config = seed_config();
    struct parameter_set set;
    (void)state;

    build(&config, 0, &set);
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        double values[3];
        size_t index;

        find(&set, recorded[i].name, &index);
        parameter_start(&set, index, 0, 0, 3, values);
        for (int j = 0; j < 3; j++) {
            double expected = recorded[i].values[j];

            assert_true(fabs(values[j] - expected) <= 1e-15 * fabs(expected));
        }
    }
    parameters_free(&set);
}

static void starting_values_keep_to_their_ranges(void **state)
{
    static const struct {
        const char *name;
        double low, high; /* the extremes of all its elements, to 2 % */
    } ranges[] = {
        {"input_proj.weight", -0.25, 0.25},
        {"backbone.layers.3.mixer.in_proj.weight", -1 / 16.0, 1 / 16.0},
        {"backbone.layers.3.mixer.out_proj.weight", -0.018042195912175804,
         0.018042195912175804},
        {"backbone.layers.3.mixer.conv1d.weight", -0.5, 0.5},
        {"backbone.layers.3.mixer.conv1d.bias", -0.5, 0.5},
    };
    static double values[1064 * 256];
    struct config_model config = seed_config();
    struct parameter_set set;
    (void)state;

    build(&config, 0, &set);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        double slack = 0.02 * ranges[i].high;
        size_t index;
        const struct parameter *item = find(&set, ranges[i].name, &index);

        parameter_start(&set, index, 7, 0, item->n, values);
        for (int64_t j = 0; j < item->n; j++) {
            low = fmin(low, values[j]);
            high = fmax(high, values[j]);
        }
        assert_true(low >= ranges[i].low && low < ranges[i].low + slack);
        assert_true(high < ranges[i].high && high > ranges[i].high - slack);
    }
    parameters_free(&set);
}

static void decay_and_step_size_start_in_range(void **state)
{
    struct config_model config = seed_config();
    struct parameter_set set;
    double values[8];
    (void)state;

    build(&config, 0, &set);
    for (int64_t layer = 0; layer < 6; layer++) {
        int a_log = parameter_of_layer(&set, layer, LAYER_A_LOG);
        int dt_bias = parameter_of_layer(&set, layer, LAYER_DT_BIAS);

        parameter_start(&set, (size_t)a_log, 3, 0, 8, values);
        for (int i = 0; i < 8; i++)
            assert_true(values[i] >= 0 && values[i] <= log(16));
        parameter_start(&set, (size_t)dt_bias, 3, 0, 8, values);
        for (int i = 0; i < 8; i++) {
            double dt = log1p(exp(values[i]));

            assert_true(dt > 0.999e-3 && dt < 1.001e-1);
        }
    }
    parameters_free(&set);
}

static void values_depend_on_seed_and_name_alone(void **state)
{
    struct config_model config = seed_config();
    struct parameter_set small, large;
    double a[4], b[4];
    size_t i, j;
    (void)state;

    build(&config, 0, &large);
    config.n_layer = 2;
    config.conv_bias = false;
    build(&config, 0, &small);
    find(&small, "backbone.layers.1.mixer.dt_bias", &i);
    find(&large, "backbone.layers.1.mixer.dt_bias", &j);
    assert_int_not_equal(i, j);
    parameter_start(&small, i, 5, 4, 4, a);
    parameter_start(&large, j, 5, 2, 4, b);
    assert_memory_equal(a, b + 2, 2 * sizeof *a);
    parameter_start(&large, j, 6, 4, 4, b);
    assert_true(a[0] != b[0]);
    parameters_free(&small);
    parameters_free(&large);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        int64_t d_model, expand, headdim, ngroups, norm_groups, d_state, B;
        const char *message;
    } cases[] = {
        {10, 2, 3, 1, 1, 4, 1,
         "model.headdim: 3 does not divide expand * d_model = 20"},
        {12, 2, 4, 4, 1, 4, 1,
         "model.ngroups: 4 does not divide the number of heads = 6"},
        {12, 2, 4, 1, 5, 4, 1,
         "model.norm_groups: 5 does not divide expand * d_model = 24"},
        {0, 2, 4, 1, 1, 4, 1, "model: d_model is 0, expected at least 1"},
        {12, 2, 4, 1, 1, 4, 0, "model: batch size is 0, expected at least 1"},
        {1 << 30, 1 << 20, 4, 1, 1, 4, 1, "model: expand * d_model overflows"},
        {12, 2, 4, 1, 1, 4, (int64_t)1 << 39,
         "model: too large for any machine (d_model 12, window 60, batch "
         "549755813888)"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct config_model config = seed_config();
        struct model_spec spec = {.config = &config,
                                  .n_features = 2,
                                  .n_outputs = 1,
                                  .B = cases[i].B,
                                  .L = 60};
        struct m2_error err = {0};
        struct model_sizes sizes;

        config.d_model = cases[i].d_model;
        config.expand = cases[i].expand;
        config.headdim = cases[i].headdim;
        config.ngroups = cases[i].ngroups;
        config.norm_groups = cases[i].norm_groups;
        config.d_state = cases[i].d_state;
        assert_int_equal(model_sizes_of(&spec, &sizes, &err), M2_E_CONFIG);
        assert_string_equal(err.text, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_count_of_the_seed_model_is_exact),
        cmocka_unit_test(counts_of_published_models_are_exact),
        cmocka_unit_test(optional_tensors_follow_the_configuration),
        cmocka_unit_test(decayed_tensors_come_first_without_gaps),
        cmocka_unit_test(a_tensor_is_a_matrix_view_of_the_arena),
        cmocka_unit_test(first_values_are_the_recorded_ones),
        cmocka_unit_test(starting_values_keep_to_their_ranges),
        cmocka_unit_test(decay_and_step_size_start_in_range),
        cmocka_unit_test(values_depend_on_seed_and_name_alone),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
