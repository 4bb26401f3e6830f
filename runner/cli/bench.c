/* m2run bench: how fast an experiment trains and predicts, per device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "predict/bench.h"
#include "schedule/pool.h"
#include "util/fma_peak.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/process.h"
#include "util/terminal.h"

enum { MAX_DEVICES = 8, DEFAULT_STEPS = 20, MAX_STEPS = 1000000 };

struct bench_options {
    const char *devices;
    int64_t steps;
    bool json;
};

struct bench_results {
    struct bench_result items[MAX_DEVICES];
    size_t n;
};

/* ---- what is printed --------------------------------------------------- */

/* One line of the table: a quantity, a value per device. */
static int add_line(struct table *table, const struct bench_results *results,
                    const char *name,
                    void (*print)(const struct bench_result *, char *),
                    struct m2_error *err)
{
    char cells[MAX_DEVICES][NUMBER_TEXT_SIZE];
    const char *row[MAX_DEVICES + 1] = {name};

    for (size_t i = 0; i < results->n; i++) {
        print(&results->items[i], cells[i]);
        row[i + 1] = cells[i];
    }
    return table_add_row(table, row, err);
}

static void print_fixed(char *out, int decimals, double value)
{
    if (isnan(value))
        snprintf(out, NUMBER_TEXT_SIZE, "-");
    else
        snprintf(out, NUMBER_TEXT_SIZE, "%.*f", decimals, value);
}

static void print_digits(char *out, int digits, double value)
{
    if (isnan(value))
        snprintf(out, NUMBER_TEXT_SIZE, "-");
    else
        snprintf(out, NUMBER_TEXT_SIZE, "%.*g", digits, value);
}

static void print_threads(const struct bench_result *r, char *out)
{
    print_fixed(out, 0, (double)r->threads);
}
static void print_median(const struct bench_result *r, char *out)
{
    print_fixed(out, 3, r->step_median_s * 1e3);
}
static void print_min(const struct bench_result *r, char *out)
{
    print_fixed(out, 3, r->step_min_s * 1e3);
}
static void print_samples(const struct bench_result *r, char *out)
{
    print_digits(out, 5, r->samples_per_s);
}
static void print_rate(const struct bench_result *r, char *out)
{
    print_digits(out, 4, r->flops_per_s * 1e-9);
}
static void print_peak(const struct bench_result *r, char *out)
{
    print_digits(out, 4, r->peak_flops_per_s * 1e-9);
}
static void print_share(const struct bench_result *r, char *out)
{
    print_fixed(out, 1, 100.0 * r->flops_per_s / r->peak_flops_per_s);
}
static void print_predict(const struct bench_result *r, char *out)
{
    print_digits(out, 4, r->predict_median_s * 1e6);
}
static void print_evaluate(const struct bench_result *r, char *out)
{
    print_digits(out, 4, r->evaluate_window_s * 1e6);
}
static void print_checkpoint(const struct bench_result *r, char *out)
{
    print_digits(out, 4, r->checkpoint_s * 1e3);
}
static void print_first(const struct bench_result *r, char *out)
{
    print_fixed(out, 3, r->first_step_s);
}
static void print_device_bytes(const struct bench_result *r, char *out)
{
    number_print_bytes(r->device_bytes, out);
}
static void print_process_bytes(const struct bench_result *r, char *out)
{
    number_print_bytes(r->process_bytes, out);
}

static int fill_table(struct table *table, const struct bench_results *results,
                      struct m2_error *err)
{
    const struct {
        const char *name;
        void (*print)(const struct bench_result *, char *);
    } lines[] = {
        {"threads", print_threads},
        {"step, median, ms", print_median},
        {"step, fastest, ms", print_min},
        {"windows/s", print_samples},
        {"GFLOP/s", print_rate},
        {"peak of the cores, GFLOP/s", print_peak},
        {"share of the peak, %", print_share},
        {"one prediction, us", print_predict},
        {"a window evaluated, us", print_evaluate},
        {"a checkpoint, ms", print_checkpoint},
        {"start to first step, s", print_first},
        {"memory on the device", print_device_bytes},
        {"peak memory of the process", print_process_bytes},
    };
    int code = 0;

    for (size_t i = 0; code == 0 && i < sizeof lines / sizeof *lines; i++)
        code = add_line(table, results, lines[i].name, lines[i].print, err);
    return code;
}

static int print_text(const struct config *config,
                      const struct bench_results *results, struct m2_error *err)
{
    struct table_column columns[MAX_DEVICES + 1] = {
        {"what", "", TABLE_LEFT, false}};
    struct table table;
    struct text text = {0};
    const struct bench_result *first = &results->items[0];
    int code;

    for (size_t i = 0; i < results->n; i++)
        columns[i + 1] = (struct table_column){results->items[i].device, NULL,
                                               TABLE_RIGHT, false};
    printf("%s: %s, %llu parameters, batches of %lld windows, %.4g GFLOP per "
           "step; peak by %s\n",
           config->name, config->dtype == M2_F64 ? "f64" : "f32",
           (unsigned long long)first->n_parameters, (long long)first->batch,
           first->step_flops * 1e-9, fma_peak_isa());
    for (size_t i = 0; i < results->n; i++)
        printf("%s: %s\n", results->items[i].device,
               results->items[i].device_name);
    code = table_init(&table, columns, results->n + 1, err);
    if (code == 0)
        code = fill_table(&table, results, err);
    if (code == 0)
        table_print(&table, &text);
    fputs(text_string(&text), stdout);
    text_free(&text);
    table_free(&table);
    return code;
}

static json_t *result_json(const struct bench_result *r)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"step_median_s", r->step_median_s},
        {"step_min_s", r->step_min_s},
        {"step_mean_s", r->step_mean_s},
        {"windows_per_s", r->samples_per_s},
        {"step_flops", r->step_flops},
        {"flops_per_s", r->flops_per_s},
        {"peak_flops_per_s", r->peak_flops_per_s},
        {"predict_median_s", r->predict_median_s},
        {"evaluate_window_s", r->evaluate_window_s},
        {"checkpoint_s", r->checkpoint_s},
        {"first_step_s", r->first_step_s},
    };
    struct json_builder object = json_build();

    json_add_text(&object, "device", r->device);
    json_add_text(&object, "device_name", r->device_name);
    json_add_integer(&object, "threads", r->threads);
    json_add_integer(&object, "batch", r->batch);
    json_add_integer(&object, "parameters", (int64_t)r->n_parameters);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_add(&object, numbers[i].key,
                 json_number_or_null(numbers[i].value));
    json_add_integer(&object, "device_bytes", (int64_t)r->device_bytes);
    json_add_integer(&object, "process_bytes", (int64_t)r->process_bytes);
    return json_built(&object);
}

static json_t *devices_list(const struct bench_results *results)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < results->n; i++)
        ok = json_append(list, result_json(&results->items[i]));
    return ok ? list : json_drop(list);
}

static int print_results_json(const struct config *config,
                              const struct bench_results *results,
                              struct m2_error *err)
{
    struct json_builder object = json_build();

    json_add_text(&object, "name", config->name);
    json_add_text(&object, "dtype", config->dtype == M2_F64 ? "f64" : "f32");
    json_add_text(&object, "peak_isa", fma_peak_isa());
    json_add(&object, "devices", devices_list(results));
    return print_json(json_built(&object), err);
}

/* ---- the command ------------------------------------------------------- */

/* Takes the device's name, unless it is NULL: then that of the config. */
static int bench_device(const struct bench_options *options,
                        struct config *config, char *device,
                        struct bench_results *results, struct m2_error *err)
{
    const struct bench_request request = {
        .config = config,
        .threads = config->threads > 0 ? (int)config->threads : cores_allowed(),
        .steps = options->steps,
    };

    if (device != NULL) {
        free(config->device);
        config->device = device;
    }
    if (results->n == MAX_DEVICES)
        return m2_fail(err, M2_E_USAGE, "bench: more than %d devices",
                       MAX_DEVICES);
    return bench_run(&request, &results->items[results->n++], err);
}

/* A comma-separated list of them. */
static int bench_list(const struct bench_options *options,
                      struct config *config, struct bench_results *results,
                      struct m2_error *err)
{
    const char *next = options->devices;
    int code = 0;

    do {
        size_t length = strcspn(next, ",");
        char *device = memory_zeroed(length + 1, 1, err);

        if (device == NULL)
            return M2_E_MEMORY;
        memcpy(device, next, length);
        next += length + (next[length] == ',');
        code = bench_device(options, config, device, results, err);
    } while (code == 0 && *next != '\0');
    return code;
}

static int bench_axis(const struct bench_options *options,
                      const struct override_axis *axis, struct config *config,
                      struct bench_results *results, struct m2_error *err)
{
    int code = 0;

    for (const struct node *node = axis->values->first;
         code == 0 && node != NULL; node = node->next) {
        char *device = memory_string(node->text, err);

        code = device == NULL
                   ? M2_E_MEMORY
                   : bench_device(options, config, device, results, err);
    }
    return code;
}

/* device=A,B of the command line, or NULL. */
static const struct override_axis *
device_axis(const struct experiment *experiment)
{
    for (size_t i = 0; i < experiment->n_axes; i++)
        if (strcmp(experiment->schema.rows[experiment->axes[i].row].path,
                   "device") == 0)
            return &experiment->axes[i];
    return NULL;
}

static int bench_all(const struct bench_options *options,
                     struct experiment *experiment, struct m2_error *err)
{
    struct bench_results results = {.n = 0};
    const struct override_axis *axis = device_axis(experiment);
    struct config *config = &experiment->config;
    int code;

    if (axis != NULL && options->devices != NULL)
        return m2_fail(err, M2_E_USAGE,
                       "bench: the devices are given twice, by --device and by "
                       "device=");
    if (axis != NULL)
        code = bench_axis(options, axis, config, &results, err);
    else if (options->devices != NULL)
        code = bench_list(options, config, &results, err);
    else
        code = bench_device(options, config, NULL, &results, err);
    if (code != 0)
        return code;
    return options->json ? print_results_json(config, &results, err)
                         : print_text(config, &results, err);
}

static int bench_experiment(const struct bench_options *options,
                            const struct arguments *arguments,
                            struct m2_error *err)
{
    struct experiment experiment;
    int code = load_experiment(arguments->items[0], arguments->items + 1,
                               arguments->n - 1, &experiment, err);

    if (code == 0)
        code = bench_all(options, &experiment, err);
    experiment_free(&experiment);
    return code;
}

int command_bench(int argc, char **argv)
{
    static const struct command_help help = {
        "bench", "FILE [KEY=VALUE ...]",
        "Times training steps of an experiment (without its sweep), each with\n"
        "everything a run does in a step, and predictions of single windows,\n"
        "and compares them with what the cores could do: the peak is measured\n"
        "on as many threads. Nothing is kept. device=A,B is --device A,B.",
        "  m2run bench experiments/6e-mamba2.yaml\n"
        "  m2run bench exp.yaml --device cpu,cuda threads=2 --steps 50"};
    struct bench_options options = {.steps = DEFAULT_STEPS};
    const struct option_spec specs[] = {
        {"device", 0, OPTION_TEXT, "A,B", "devices to compare [the file's]",
         &options.devices},
        {"steps", 0, OPTION_INT, "N", "steps to time [20]", &options.steps},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n == 0)
        code = m2_fail(&err, M2_E_USAGE, "bench: which experiment file?");
    if (code == 0 && (options.steps < 1 || options.steps > MAX_STEPS))
        code =
            m2_fail(&err, M2_E_USAGE, "bench: --steps is 1 to %d", MAX_STEPS);
    if (code == 0)
        code = bench_experiment(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
