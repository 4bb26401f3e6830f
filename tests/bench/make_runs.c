/* make_runs: writes many finished runs, to time `m2run ls` and `m2run best`.
 *
 *   make_runs TEMPLATE ROOT N
 *
 * TEMPLATE is the directory of a published run.  Each of the N runs under
 * ROOT/many has its files, apart from the checkpoints, and its run.json with
 * other names, times, settings and scores: learning rate, d_state and window
 * on a grid, five seeds each, one run in 128 diverged.  The same arguments
 * write the same runs. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/store.h"
#include "util/file.h"
#include "util/number.h"
#include "util/path.h"
#include "util/sha256.h"
#include "util/timefmt.h"

enum { N_SEEDS = 5, N_RATES = 20, N_STATES = 5, FILE_LIMIT = 1 << 20 };

struct template
{
    json_t *record;
    struct text copied[3]; /* contents of copied_files */
};

static const char *const copied_files[] = {"config.yaml", "metrics.csv",
                                           "timing.csv"};

/* From 0 to 1, a function of the run and of what is drawn for it. */
static double draw(size_t run, uint64_t what)
{
    uint64_t x = (uint64_t)run * 0x9e3779b97f4a7c15u + what;

    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53;
}

static void set_word(json_t *record, const char *key, const char *value)
{
    json_object_set_new(record, key, json_string(value));
}

static void set_settings(json_t *record, size_t i)
{
    static const char *const rates[N_RATES] = {
        "1e-05",  "2e-05", "3e-05", "5e-05", "0.0001", "0.0002", "0.0003",
        "0.0005", "0.001", "0.002", "0.003", "0.005",  "0.01",   "0.02",
        "0.03",   "0.05",  "0.1",   "0.2",   "0.3",    "0.5"};
    json_t *config = json_object_get(record, "config");
    size_t point = i / N_SEEDS;
    char text[32];

    set_word(config, "name", "many");
    snprintf(text, sizeof text, "%zu", i % N_SEEDS);
    set_word(config, "seed", text);
    set_word(config, "train.optimizer.lr", rates[point % N_RATES]);
    snprintf(text, sizeof text, "%zu", (size_t)8 << point / N_RATES % N_STATES);
    set_word(config, "model.d_state", text);
    snprintf(text, sizeof text, "%zu", 8 + point / N_RATES / N_STATES);
    set_word(config, "data.window", text);
}

static void set_times(json_t *record, size_t i)
{
    json_t *attempt = json_array_get(json_object_get(record, "attempts"), 0);
    int64_t start = 1700000000 + (int64_t)i * 7;
    char text[TIME_TEXT_SIZE];

    time_print(start * M2_NS_PER_SECOND + (int64_t)i * 1117, text);
    set_word(record, "started", text);
    set_word(attempt, "started", text);
    time_print((start + 3) * M2_NS_PER_SECOND + (int64_t)i * 7331, text);
    set_word(record, "finished", text);
    set_word(attempt, "until", text);
    json_object_set_new(record, "seconds", json_real(1 + 2 * draw(i, 1)));
    json_object_set_new(record, "samples_per_s",
                        json_real(4e4 * (1 + draw(i, 2))));
}

/* Every score by a factor of its own run, the integers left as they are. */
static void scale_scores(json_t *scores, double factor)
{
    const char *key;
    json_t *value;

    json_object_foreach (scores, key, value)
        if (json_is_real(value))
            json_object_set_new(scores, key,
                                json_real(json_real_value(value) * factor));
}

static void set_scores(json_t *record, size_t i)
{
    double factor = 1 + 0.1 * draw(i / N_SEEDS, 3) + 0.01 * draw(i, 4);

    if (i % 128 == 127) {
        set_word(record, "state", "diverged");
        set_word(record, "reason", "step 12: train/loss is not finite");
        json_object_set_new(record, "test", json_object());
        return;
    }
    scale_scores(json_object_get(record, "final"), factor);
    scale_scores(json_object_get(record, "best"), factor);
    scale_scores(json_object_get(record, "test"), factor);
}

/* Names the run: its label shows the swept keys, its identity is that of the
 * name. */
static int set_names(json_t *record, size_t i, char run[128],
                     struct m2_error *err)
{
    json_t *config = json_object_get(record, "config");
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE], label[128];
    int code;

    snprintf(label, sizeof label, "lr-%s_d_state-%s_window-%s_s%zu",
             json_string_value(json_object_get(config, "train.optimizer.lr")),
             json_string_value(json_object_get(config, "model.d_state")),
             json_string_value(json_object_get(config, "data.window")),
             i % N_SEEDS);
    code = sha256_bytes(label, strlen(label), digest, err);
    if (code != 0)
        return code;
    sha256_hex(digest, hex);
    snprintf(run, 128, "%.100s-%.*s", label, RUN_HASH_LENGTH, hex);
    set_word(record, "name", "many");
    set_word(record, "run", run);
    set_word(record, "identity", hex);
    set_word(record, "token", hex + 32);
    return 0;
}

/* Not file_write_atomic: nobody waits for these files to reach the disk. */
static int write_file(const char *dir, const char *name, const char *bytes,
                      struct m2_error *err)
{
    char *path = path_join(dir, name, err);
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    bool ok = file != NULL && fputs(bytes, file) >= 0;
    int code = 0;

    if (file != NULL && fclose(file) != 0)
        ok = false;
    if (!ok)
        code = m2_fail(err, M2_E_RESULTS, "%s/%s: cannot write", dir, name);
    free(path);
    return code;
}

static int write_run(const struct template *from, const char *experiment,
                     size_t i, struct m2_error *err)
{
    json_t *record = json_deep_copy(from->record);
    char run[128], *dir, *bytes;
    int code;

    set_settings(record, i);
    set_times(record, i);
    set_scores(record, i);
    code = set_names(record, i, run, err);
    bytes = json_dumps(record, JSON_INDENT(2));
    json_decref(record);
    dir = code == 0 ? path_join(experiment, run, err) : NULL;
    if (code == 0 && (dir == NULL || bytes == NULL))
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    if (code == 0)
        code = file_make_dirs(dir, M2_E_RESULTS, err);
    if (code == 0)
        code = write_file(dir, "run.json", bytes, err);
    for (size_t f = 0; code == 0 && f < 3; f++)
        code = write_file(dir, copied_files[f], text_string(&from->copied[f]),
                          err);
    free(dir);
    free(bytes);
    return code;
}

static int read_template(const char *dir, struct template *out,
                         struct m2_error *err)
{
    char *path = path_join(dir, "run.json", err);
    int code = path == NULL ? M2_E_MEMORY : 0;

    *out = (struct template){0};
    if (code == 0) {
        out->record = json_load_file(path, 0, NULL);
        if (!json_is_object(json_object_get(out->record, "config")))
            code = m2_fail(err, M2_E_RESULTS, "%s: no run.json of a run", path);
    }
    free(path);
    for (size_t f = 0; code == 0 && f < 3; f++) {
        path = path_join(dir, copied_files[f], err);
        code = path == NULL ? M2_E_MEMORY
                            : file_read(path, FILE_LIMIT, M2_E_RESULTS,
                                        &out->copied[f], err);
        free(path);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct template from = {0};
    struct m2_error err;
    int64_t n = 0;
    char *experiment;
    int code;

    if (argc != 4 || !number_parse_int(argv[3], &n) || n < 0) {
        fprintf(stderr, "usage: make_runs TEMPLATE ROOT N\n");
        return 2;
    }
    code = read_template(argv[1], &from, &err);
    experiment = path_join(argv[2], "many", NULL);
    for (int64_t i = 0; code == 0 && i < n; i++)
        code = write_run(&from, experiment, (size_t)i, &err);
    free(experiment);
    for (size_t f = 0; f < 3; f++)
        text_free(&from.copied[f]);
    json_decref(from.record);
    if (code != 0)
        fprintf(stderr, "make_runs: %s\n", err.text);
    return code != 0;
}
