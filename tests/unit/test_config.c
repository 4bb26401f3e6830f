/* Experiment files to configs: defaults, includes, overrides, canonical text.
 */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "config/identity.h"
#include "config/load.h"
#include "option_tables.h"
#include "util/file.h"
#include "util/timefmt.h"

#define COLUMNS "data: {features: [close], target: [close]}\n"

struct loaded {
    struct experiment experiment;
    struct messages messages;
    struct m2_error err;
    int code;
};

static void load_request(struct loaded *l, struct experiment_request request)
{
    request.lookup = &test_lookup;
    l->messages = (struct messages){0};
    l->code = experiment_load(&request, &l->experiment, &l->messages, &l->err);
}

/* Loads a text with overrides that are parted by "|"; they must be right. */
static void load_text(struct loaded *l, const char *text, const char *overrides)
{
    const char *list[16];
    char copy[512];
    size_t n = 0;

    snprintf(copy, sizeof copy, "%s", overrides);
    for (char *p = strtok(copy, "|"); p != NULL; p = strtok(NULL, "|"))
        list[n++] = p;
    load_request(l, (struct experiment_request){.path = "t.yaml",
                                                .text = text,
                                                .size = strlen(text),
                                                .overrides = list,
                                                .n_overrides = n});
    if (l->code != 0)
        fail_msg("%s\n%s", l->err.text,
                 l->messages.count > 0 ? l->messages.items[0].text : "");
}

static void load_file(struct loaded *l, const char *path)
{
    load_request(l, (struct experiment_request){.path = path});
    if (l->code != 0)
        fail_msg("%s", l->messages.items[0].text);
}

static void unload(struct loaded *l)
{
    experiment_free(&l->experiment);
    messages_free(&l->messages);
}

static void write_file(const char *dir, const char *name, const char *text)
{
    struct m2_error err;

    assert_ok(file_write_atomic(unit_path(dir, name), text, strlen(text),
                                M2_E_FAILED, &err),
              &err);
}

/* ---- defaults and values ------------------------------------------------- */

static void defaults_are_those_of_the_design(void **state)
{
    struct loaded l;
    const struct config *c = &l.experiment.config;

    (void)state;
    load_text(&l, COLUMNS, "");
    assert_string_equal(c->name, "t");
    assert_string_equal(c->device, "cpu");
    assert_int_equal(c->dtype, M2_F32);
    assert_false(c->tf32);
    assert_string_equal(c->metric, "val/loss");
    assert_string_equal(c->data.source, "synthetic");
    assert_int_equal(c->data.window, 60);
    assert_int_equal(c->data.horizon, 1);
    assert_int_equal(c->data.horizon_mode, M2_HORIZON_PATH);
    assert_true(c->data.max_gap == 10);
    assert_true(c->data.split.train.fraction == 0.8);
    assert_true(c->data.split.val.fraction == 0.2);
    assert_true(c->data.split.context);
    assert_int_equal(c->data.scale, SCALE_ZSCORE);
    assert_int_equal(c->model.d_model, 256);
    assert_int_equal(c->model.n_layer, 6);
    assert_int_equal(c->model.d_state, 16);
    assert_true(c->model.dt_limit[0] == 1e-6 && c->model.dt_limit[1] == 1);
    assert_true(c->model.norm_eps == 1e-5);
    assert_true(c->model.conv_bias && !c->model.proj_bias);
    assert_true(c->model.tie_embedding);
    assert_null(c->model.init_from);
    assert_int_equal(c->train.epochs, 20);
    assert_int_equal(c->train.steps, 0);
    assert_int_equal(c->train.microbatch, 0);
    assert_true(c->train.optimizer.lr == 1e-3);
    assert_true(c->train.optimizer.betas[1] == 0.999);
    assert_int_equal(c->train.schedule.type, SCHEDULE_COSINE);
    assert_int_equal(c->train.eval_every, 0);
    assert_int_equal(c->checkpoint.keep_best, 1);
    unload(&l);
}

static void every_value_of_the_file_arrives(void **state)
{
    struct loaded l;
    const struct config *c = &l.experiment.config;

    (void)state;
    load_text(&l,
              "name: 1e3\nseed: 0x10\ndtype: f64\nmetric: val/ic\n"
              "data:\n"
              "  source: csv\n"
              "  path: [a.csv, /b/*.csv]\n"
              "  options: {delimiter: \";\", time: [date, hour]}\n"
              "  features: [log_ratio(high, low), log1p(volume)]\n"
              "  target: close\n"
              "  window: 1e2\n  max_gap: ignore\n  missing: ffill\n"
              "  split: {train: 5000, val: 2000, test: 0.1}\n"
              "model: {dt_limit: [0, .inf], init_from: w.safetensors}\n"
              "train:\n  steps: 1e4\n  eval_every: 500\n  loss: huber\n"
              "  optimizer: {lr: 3E-4}\n  spectral_radius: {mode: off}\n",
              "");
    assert_string_equal(c->name, "1e3");
    assert_true(c->seed == 16);
    assert_int_equal(c->dtype, M2_F64);
    assert_int_equal(c->data.n_paths, 2);
    assert_true(c->data.paths[0][0] == '/');
    assert_string_equal(c->data.paths[1], "/b/*.csv");
    assert_int_equal(c->data.n_options, 3);
    assert_string_equal(c->data.options[0].texts[0], ";");
    assert_false(c->data.options[0].is_default);
    assert_int_equal(c->data.options[1].n_texts, 2);
    assert_string_equal(c->data.options[2].name, "comment");
    assert_true(c->data.options[2].is_default);
    assert_int_equal(c->data.n_features, 2);
    assert_string_equal(c->data.features[0], "log_ratio(high,low)");
    assert_int_equal(c->data.n_targets, 1);
    assert_int_equal(c->data.window, 100);
    assert_true(c->data.max_gap == 0);
    assert_int_equal(c->data.split.train.kind, BOUND_ROWS);
    assert_int_equal(c->data.split.train.rows, 5000);
    assert_int_equal(c->data.split.test.kind, BOUND_FRACTION);
    assert_true(isinf(c->model.dt_limit[1]));
    assert_true(c->model.init_from[0] == '/');
    assert_string_equal(strrchr(c->model.init_from, '/'), "/w.safetensors");
    assert_int_equal(c->train.epochs, 0);
    assert_int_equal(c->train.steps, 10000);
    assert_int_equal(c->train.eval_every, 500);
    assert_true(c->train.optimizer.lr == 3e-4);
    unload(&l);
}

static void dates_are_utc(void **state)
{
    struct loaded l;
    const struct config_data *data = &l.experiment.config.data;
    int64_t expected;

    (void)state;
    load_text(&l,
              "data:\n  features: a\n  target: a\n"
              "  split: {train: 2024-03-01, val: \"2024-04-01T12:00:00Z\"}\n",
              "");
    assert_true(time_parse("2024-03-01T00:00:00Z", &expected));
    assert_int_equal(data->split.train.kind, BOUND_DATE);
    assert_true(data->split.train.time_ns == expected);
    assert_true(time_parse("2024-04-01T12:00:00Z", &expected));
    assert_true(data->split.val.time_ns == expected);
    unload(&l);
}

static void commas_in_parentheses_part_no_columns(void **state)
{
    static const char *const files[] = {
        "data: {features: [f(a,b), g(h(a, b), c), d], target: a}\n",
        "data:\n  target: a\n  features:\n  - f( a , b )\n"
        "  - \"g( h(a,b),c )\"\n  - d\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct loaded l;
        char **features;

        load_text(&l, files[i], "");
        features = l.experiment.config.data.features;
        assert_int_equal(l.experiment.config.data.n_features, 3);
        assert_string_equal(features[0], "f(a,b)");
        assert_string_equal(features[1], "g(h(a,b),c)");
        assert_string_equal(features[2], "d");
        unload(&l);
    }
}

/* ---- files --------------------------------------------------------------- */

static void includes_are_merged_deep_below_the_file(void **state)
{
    char *dir = unit_make_dir();
    struct loaded l;
    const struct config *c = &l.experiment.config;

    (void)state;
    assert_int_equal(mkdir(unit_path(dir, "sub"), 0700), 0);
    write_file(dir, "exp.yaml",
               "include: [sub/a.yaml, b.yaml]\n" COLUMNS
               "train: {optimizer: {lr: 1e-2}}\n");
    write_file(dir, "sub/a.yaml",
               "include: deep.yaml\nseed: 1\n"
               "train: {steps: 10, optimizer: {lr: 1, eps: 1e-7}}\n");
    write_file(dir, "sub/deep.yaml",
               "seed: 9\nmodel: {d_state: 32}\n"
               "data: {source: csv, path: bars.csv}\n");
    write_file(dir, "b.yaml", "seed: 2\ntrain: {batch_size: 8}\n");
    load_file(&l, unit_path(dir, "exp.yaml"));
    assert_true(c->seed == 2);
    assert_int_equal(c->model.d_state, 32);
    assert_true(c->train.optimizer.lr == 1e-2);
    assert_true(c->train.optimizer.eps == 1e-7);
    assert_int_equal(c->train.batch_size, 8);
    assert_int_equal(c->train.steps, 10);
    assert_string_equal(c->data.paths[0], unit_path(dir, "sub/bars.csv"));
    unload(&l);
    unit_remove_dir(dir);
}

static void the_including_file_decides_between_epochs_and_steps(void **state)
{
    char *dir = unit_make_dir();
    struct loaded l;

    (void)state;
    write_file(dir, "exp.yaml",
               "include: b.yaml\n" COLUMNS "train: {epochs: 3}\n");
    write_file(dir, "b.yaml", "train: {steps: 10}\n");
    load_file(&l, unit_path(dir, "exp.yaml"));
    assert_int_equal(l.experiment.config.train.epochs, 3);
    assert_int_equal(l.experiment.config.train.steps, 0);
    unload(&l);
    unit_remove_dir(dir);
}

static void the_sources_are_recorded(void **state)
{
    char *dir = unit_make_dir();
    struct loaded l;
    struct text sources = {0}, expected = {0};

    (void)state;
    write_file(dir, "exp.yaml", "include: b.yaml\n" COLUMNS "# end");
    write_file(dir, "b.yaml", "seed: 3\n");
    load_file(&l, unit_path(dir, "exp.yaml"));
    experiment_write_sources(&l.experiment, &sources);
    text_addf(&expected,
              "# ---- %s/exp.yaml\ninclude: b.yaml\n" COLUMNS "# end\n"
              "# ---- %s/b.yaml\nseed: 3\n",
              dir, dir);
    assert_string_equal(text_string(&sources), text_string(&expected));
    text_free(&sources);
    text_free(&expected);
    unload(&l);
    unit_remove_dir(dir);
}

static void a_missing_file_is_an_error_with_its_name(void **state)
{
    struct loaded l;

    (void)state;
    load_request(&l, (struct experiment_request){.path = "no/such.yaml"});
    assert_int_equal(l.code, M2_E_CONFIG);
    assert_string_equal(l.messages.items[0].text,
                        "no/such.yaml: error: No such file or directory\n");
    unload(&l);
}

static void a_text_cannot_include(void **state)
{
    struct loaded l;
    const char *text = "include: /etc/passwd\n" COLUMNS;

    (void)state;
    load_request(&l, (struct experiment_request){
                         .path = "t", .text = text, .size = strlen(text)});
    assert_int_equal(l.code, M2_E_CONFIG);
    assert_non_null(strstr(l.messages.items[0].text, "needs a file"));
    unload(&l);
}

static void a_plugin_that_cannot_be_loaded_has_its_own_code(void **state)
{
    static const struct {
        const char *text;
        int code;
    } cases[] = {
        {"data: {source: what, features: a, target: a}\n", M2_E_DEVICE},
        {"sed: 1\ndata: {source: what, options: {x: 1}}\n", M2_E_CONFIG},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct loaded l;

        load_request(
            &l, (struct experiment_request){.path = "t",
                                            .text = cases[i].text,
                                            .size = strlen(cases[i].text)});
        assert_int_equal(l.code, cases[i].code);
        unload(&l);
    }
}

/* ---- overrides ----------------------------------------------------------- */

static void overrides_count_most(void **state)
{
    struct loaded l;
    const struct config *c = &l.experiment.config;

    (void)state;
    load_text(&l,
              COLUMNS "model: {d_state: 32, n_layer: 2}\n"
                      "train: {epochs: 7, optimizer: {lr: 1, eps: 1e-7}}\n",
              "lr=3e-4|data.window=120|~d_state|steps=1e3|"
              "features=[log_ratio(high,low), \"a b\"]|target=f(a,b)|"
              "split={train: 0.5}|split.val=0.25|conv_bias=false|rows=50|"
              "init_from=null|name=x|eval_every=epoch");
    assert_true(c->train.optimizer.lr == 3e-4);
    assert_true(c->train.optimizer.eps == 1e-7);
    assert_int_equal(c->data.window, 120);
    assert_int_equal(c->model.d_state, 16);
    assert_int_equal(c->model.n_layer, 2);
    assert_int_equal(c->train.steps, 1000);
    assert_int_equal(c->train.epochs, 0);
    assert_int_equal(c->data.n_features, 2);
    assert_string_equal(c->data.features[0], "log_ratio(high,low)");
    assert_string_equal(c->data.features[1], "a b");
    assert_string_equal(c->data.targets[0], "f(a,b)");
    assert_true(c->data.split.train.fraction == 0.5);
    assert_true(c->data.split.val.fraction == 0.25);
    assert_false(c->model.conv_bias);
    assert_int_equal(c->data.options[1].integer, 50);
    assert_string_equal(c->name, "x");
    unload(&l);
}

static void the_source_of_the_command_line_brings_its_options(void **state)
{
    struct loaded l;

    (void)state;
    load_text(&l, COLUMNS, "source=dbn|path=x.dbn|instrument=front");
    assert_string_equal(l.experiment.config.data.source, "dbn");
    assert_string_equal(l.experiment.config.data.options[0].texts[0], "front");
    unload(&l);
}

static void
paths_of_the_command_line_are_relative_to_the_directory(void **state)
{
    char *dir = unit_make_dir();
    char here[4096];
    struct loaded l;
    const char *overrides[] = {"path=bars.csv", "source=csv"};

    (void)state;
    write_file(dir, "exp.yaml", COLUMNS);
    load_request(&l,
                 (struct experiment_request){.path = unit_path(dir, "exp.yaml"),
                                             .overrides = overrides,
                                             .n_overrides = 2});
    assert_int_equal(l.code, 0);
    assert_non_null(getcwd(here, sizeof here - 16));
    strcat(here, "/bars.csv");
    assert_string_equal(l.experiment.config.data.paths[0], here);
    unload(&l);
    unit_remove_dir(dir);
}

static void commas_and_ranges_make_axes(void **state)
{
    static const struct {
        const char *override;
        const char *values[6];
    } cases[] = {
        {"lr=1e-3,1e-4", {"1e-3", "1e-4"}},
        {"d_state=range(16,80,16)", {"16", "32", "48", "64"}},
        {"lr=range(0.1,0.4,0.1)", {"0.1", "0.2", "0.3"}},
        {"n_layer=range(1,3)", {"1", "2"}},
        {"clip_norm=range(3,0,-1)", {"3", "2", "1"}},
        {"target=f(a,b),\"c,d\"", {"f(a,b)", "c,d"}},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct loaded l;
        const struct node *value;
        size_t n = 0;

        load_text(&l, COLUMNS, cases[i].override);
        assert_int_equal(l.experiment.n_axes, 1);
        value = l.experiment.axes[0].values->first;
        for (; value != NULL; value = value->next)
            assert_string_equal(value->text, cases[i].values[n++]);
        assert_null(cases[i].values[n]);
        unload(&l);
    }
}

static void an_override_is_clean_text(void **state)
{
    static const char *const bad[] = {"name=a\nb", "name=\xFF", "name=\x01",
                                      "name=\xC3"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct loaded l;

        load_request(&l, (struct experiment_request){.path = "t",
                                                     .text = COLUMNS,
                                                     .size = strlen(COLUMNS),
                                                     .overrides = &bad[i],
                                                     .n_overrides = 1});
        assert_int_equal(l.code, M2_E_CONFIG);
        assert_non_null(strstr(l.messages.items[0].text, "UTF-8"));
        unload(&l);
    }
}

/* ---- canonical text and copies ----------------------------------------- */

static const char rich[] =
    "name: rich\nseed: 18446744073709551614\nmetric: val/rank_ic\n"
    "data:\n"
    "  source: csv\n  path: [\"/a b/*.csv\", /c]\n"
    "  options: {delimiter: \"\\t\", time: [date, \"1\"], comment: \"#\"}\n"
    "  features: [\"log_ratio(high,low)\", \"adj close\", no, \"~\"]\n"
    "  target: [x]\n  max_gap: ignore\n"
    "  split: {train: 2024-01-01, val: 2024-02-01T10:30:00Z, test: 0}\n"
    "model:\n  d_model: 128\n  dt_limit: [0, .inf]\n"
    "  init_from: \"@last\"\n"
    "train:\n  steps: 12345678901\n  microbatch: 8\n"
    "  optimizer: {lr: 0.1, betas: [0.3, 0.7], eps: 1e-300}\n"
    "  log_every: 10\n";

static void assert_reads_back(const char *text)
{
    struct loaded first, second;
    struct text canonical = {0}, again = {0};

    load_text(&first, text, "");
    config_write(&first.experiment.schema, &first.experiment.config,
                 &canonical);
    load_text(&second, text_string(&canonical), "");
    config_write(&second.experiment.schema, &second.experiment.config, &again);
    assert_string_equal(text_string(&canonical), text_string(&again));
    assert_int_equal(second.messages.count, 0);
    assert_true(second.experiment.config.seed == first.experiment.config.seed);
    assert_true(second.experiment.config.train.optimizer.lr ==
                first.experiment.config.train.optimizer.lr);
    assert_int_equal(second.experiment.config.data.split.val.time_ns,
                     first.experiment.config.data.split.val.time_ns);
    unload(&first);
    unload(&second);
    text_free(&canonical);
    text_free(&again);
}

static void canonical_text_reads_back_to_itself(void **state)
{
    (void)state;
    assert_reads_back(rich);
    assert_reads_back(COLUMNS);
}

static void a_copy_equals_and_owns_itself(void **state)
{
    struct loaded l;
    struct config copy;
    struct text before = {0}, after = {0};

    (void)state;
    load_text(&l, rich, "");
    config_write(&l.experiment.schema, &l.experiment.config, &before);
    assert_ok(config_copy(&l.experiment.config, &copy, &l.err), &l.err);
    config_free(&l.experiment.config);
    config_write(&l.experiment.schema, &copy, &after);
    assert_string_equal(text_string(&before), text_string(&after));
    config_free(&copy);
    text_free(&before);
    text_free(&after);
    unload(&l);
}

/* ---- identity ---------------------------------------------------------- */

/* A line of the golden list: the hash, then overrides parted by blanks; the
 * words @data, @backend and @init stand for facts. */
static void hash_line(char *line, char out[SHA256_HEX_SIZE])
{
    struct identity_facts facts = {0};
    char overrides[512] = "|";
    struct loaded l;

    for (char *p = strtok(line, " "); p != NULL; p = strtok(NULL, " ")) {
        if (strcmp(p, "@data") == 0)
            facts.data = "a.csv 0123\nb.csv 4567\n";
        else if (strcmp(p, "@backend") == 0)
            facts.backend = "cuda";
        else if (strcmp(p, "@init") == 0)
            facts.init_sha256 = "89ab";
        else
            snprintf(overrides + strlen(overrides),
                     sizeof overrides - strlen(overrides), "%s|", p);
    }
    load_text(&l, COLUMNS, overrides);
    assert_ok(identity_hash(&l.experiment.schema, &l.experiment.config, &facts,
                            out, &l.err),
              &l.err);
    unload(&l);
}

/* A change here gives every such run another name: results are orphaned. */
static void identities_never_change(void **state)
{
    const char *top = getenv("top_srcdir");
    struct text golden = {0};
    struct m2_error err;
    size_t n = 0, wrong = 0;
    char path[4096];

    (void)state;
    snprintf(path, sizeof path, "%s/tests/golden/identities.txt",
             top == NULL ? "." : top);
    assert_ok(file_read(path, 1 << 20, M2_E_FAILED, &golden, &err), &err);
    for (char *line = golden.bytes, *end; *line != '\0'; line = end + 1) {
        char overrides[512], hash[SHA256_HEX_SIZE];

        end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        if (line[0] == '#')
            continue;
        snprintf(overrides, sizeof overrides, "%s", line + 65);
        hash_line(overrides, hash);
        n++;
        if (strncmp(hash, line, 64) != 0) {
            print_error("%s %s\n", hash, line + 65);
            wrong++;
        }
    }
    assert_true(n >= 20);
    assert_int_equal(wrong, 0);
    text_free(&golden);
}

static void what_changes_no_result_changes_no_identity(void **state)
{
    static const char *const same[] = {
        "",
        "name=other",
        "threads=3",
        "checkpoint.every=5|keep_last=0|keep_best=0",
        "window=60|lr=0.001|split.train=0.80",
        "device=cpu",
        "device=/opt/m2_cpu.so",
        "features=[ close ]",
        "rows=4e3",
        "betas=[0.90, .999]",
    };
    static const char *const different[] = {
        "seed=1",        "dtype=f64",       "device=cuda", "batch_size=31",
        "microbatch=16", "metric=val/mse",  "rows=4001",   "features=open",
        "epochs=21",     "split.train=0.7", "loss=mae",    "chunk=32",
    };
    char first[SHA256_HEX_SIZE], hash[SHA256_HEX_SIZE], copy[128];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct loaded l;
        struct identity_facts facts = {0};

        load_text(&l, COLUMNS, same[i]);
        assert_ok(identity_hash(&l.experiment.schema, &l.experiment.config,
                                &facts, hash, &l.err),
                  &l.err);
        if (i == 0)
            memcpy(first, hash, sizeof first);
        if (strcmp(first, hash) != 0)
            fail_msg("%s", same[i]);
        unload(&l);
    }
    for (size_t i = 0; i < COUNT_OF(different); i++) {
        snprintf(copy, sizeof copy, "%s", different[i]);
        hash_line(copy, hash);
        assert_string_not_equal(first, hash);
    }
}

static void the_index_of_a_device_is_not_its_name(void **state)
{
    char one[SHA256_HEX_SIZE], two[SHA256_HEX_SIZE];
    char first[] = "device=cuda:1", second[] = "device=auto @backend";

    (void)state;
    hash_line(first, one);
    hash_line(second, two);
    assert_string_equal(one, two);
}

static void the_identity_text_lists_what_is_not_default(void **state)
{
    struct loaded l;
    struct text text = {0};
    struct identity_facts facts = {
        .backend = "cuda", .init_sha256 = "00ff", .data = "a.csv 1234\n"};

    (void)state;
    load_text(&l, COLUMNS, "lr=3e-4|n_layer=2|init_from=x|ic=0|window=60");
    identity_write(&l.experiment.schema, &l.experiment.config, &facts, &text);
    assert_string_equal(text_string(&text), "m2run-identity-1\n"
                                            "data.features: [close]\n"
                                            "data.options.ic: 0\n"
                                            "data.target: [close]\n"
                                            "device: cuda\n"
                                            "model.init_from: sha256:00ff\n"
                                            "model.n_layer: 2\n"
                                            "train.optimizer.lr: 0.0003\n"
                                            "data:\n"
                                            "a.csv 1234\n");
    text_free(&text);
    unload(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_design),
        cmocka_unit_test(every_value_of_the_file_arrives),
        cmocka_unit_test(dates_are_utc),
        cmocka_unit_test(commas_in_parentheses_part_no_columns),
        cmocka_unit_test(includes_are_merged_deep_below_the_file),
        cmocka_unit_test(the_including_file_decides_between_epochs_and_steps),
        cmocka_unit_test(the_sources_are_recorded),
        cmocka_unit_test(a_missing_file_is_an_error_with_its_name),
        cmocka_unit_test(a_text_cannot_include),
        cmocka_unit_test(a_plugin_that_cannot_be_loaded_has_its_own_code),
        cmocka_unit_test(overrides_count_most),
        cmocka_unit_test(the_source_of_the_command_line_brings_its_options),
        cmocka_unit_test(
            paths_of_the_command_line_are_relative_to_the_directory),
        cmocka_unit_test(commas_and_ranges_make_axes),
        cmocka_unit_test(an_override_is_clean_text),
        cmocka_unit_test(canonical_text_reads_back_to_itself),
        cmocka_unit_test(a_copy_equals_and_owns_itself),
        cmocka_unit_test(identities_never_change),
        cmocka_unit_test(what_changes_no_result_changes_no_identity),
        cmocka_unit_test(the_index_of_a_device_is_not_its_name),
        cmocka_unit_test(the_identity_text_lists_what_is_not_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
