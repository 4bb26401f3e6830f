/* m2run plan: the runs of an experiment, and what each will take. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/run_list.h"
#include "predict/planner.h"
#include "results/listing.h"
#include "results/store.h"
#include "schedule/pool.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/terminal.h"

enum { MAX_KEYS = 16, FIXED_COLUMNS = 7 };

struct plan_options {
    const char *results;
    bool json;
};

struct plan {
    const struct plan_options *options;
    struct resolved_sweep resolved;
    struct run_list published; /* and unfinished: all that is there */
    struct run_plan *plans;    /* (runs) */
};

/* ---- planning ---------------------------------------------------------- */

static int plan_runs(struct plan *plan, struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    struct planner *planner = NULL;
    int code = planner_create(&planner, err);

    plan->plans = memory_zeroed(sweep->n_runs, sizeof *plan->plans, err);
    if (plan->plans == NULL)
        code = M2_E_MEMORY;
    for (size_t i = 0; code == 0 && i < sweep->n_runs; i++) {
        const struct config *config = &sweep->runs[i].config;
        int threads =
            config->threads > 0 ? (int)config->threads : cores_allowed();

        code = planner_plan(planner, config, threads, &plan->plans[i], err);
    }
    planner_free(planner);
    return code;
}

/* Folders end with the start of the identity. */
static const char *state_of(const struct plan *plan, const char *identity)
{
    for (size_t i = 0; i < plan->published.n; i++) {
        const struct run_entry *entry = &plan->published.entries[i];
        size_t length = strlen(entry->run);

        if (length > RUN_HASH_LENGTH &&
            strncmp(entry->run + length - RUN_HASH_LENGTH, identity,
                    RUN_HASH_LENGTH) == 0)
            return entry->state;
    }
    return "pending";
}

static void run_name(const struct plan *plan, size_t i, char *out, size_t size)
{
    const struct record_run *run = &plan->resolved.record.runs[i];

    snprintf(out, size, "%s-%.*s", run->label, RUN_HASH_LENGTH, run->identity);
}

/* ---- text -------------------------------------------------------------- */

static size_t make_columns(const struct plan *plan,
                           struct table_column *columns)
{
    static const struct table_column after[] = {
        {"windows", NULL, TABLE_RIGHT, true},
        {"steps", NULL, TABLE_RIGHT, true},
        {"parameters", NULL, TABLE_RIGHT, true},
        {"device", "device memory", TABLE_RIGHT, false},
        {"process", "process memory", TABLE_RIGHT, false},
    };
    const struct sweep *sweep = &plan->resolved.sweep;
    size_t n = 0;

    columns[n++] = (struct table_column){"run", NULL, TABLE_LEFT, false};
    columns[n++] = (struct table_column){"state", NULL, TABLE_LEFT, false};
    for (size_t k = 0; k < sweep->n_axes && k < MAX_KEYS; k++) {
        const char *key = sweep->runs[0].settings[k].key;
        const char *dot = strrchr(key, '.');

        columns[n++] = (struct table_column){key, dot != NULL ? dot + 1 : key,
                                             TABLE_RIGHT, false};
    }
    memcpy(columns + n, after, sizeof after);
    return n + sizeof after / sizeof *after;
}

static int add_row(struct table *table, const struct plan *plan, size_t i,
                   struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    const struct run_plan *p = &plan->plans[i];
    char name[RUN_LABEL_MAX + RUN_HASH_LENGTH + 2];
    char numbers[5][NUMBER_TEXT_SIZE];
    const char *cells[FIXED_COLUMNS + MAX_KEYS];
    size_t n = 0;

    run_name(plan, i, name, sizeof name);
    cells[n++] = name;
    cells[n++] = state_of(plan, plan->resolved.record.runs[i].identity);
    for (size_t k = 0; k < sweep->n_axes && k < MAX_KEYS; k++)
        cells[n++] = sweep->runs[i].settings[k].value;
    snprintf(numbers[0], sizeof numbers[0], "%" PRId64, p->windows[PART_TRAIN]);
    snprintf(numbers[1], sizeof numbers[1], "%" PRId64, p->steps);
    snprintf(numbers[2], sizeof numbers[2], "%" PRIu64, p->model.n_parameters);
    number_print_bytes(p->device_bytes, numbers[3]);
    number_print_bytes(p->process_bytes, numbers[4]);
    for (int k = 0; k < 5; k++)
        cells[n++] = numbers[k];
    return table_add_row(table, cells, err);
}

static int print_table(const struct plan *plan, struct m2_error *err)
{
    struct table_column columns[FIXED_COLUMNS + MAX_KEYS];
    struct table table;
    struct text text = {0};
    int code = table_init(&table, columns, make_columns(plan, columns), err);

    for (size_t i = 0; code == 0 && i < plan->resolved.sweep.n_runs; i++)
        code = add_row(&table, plan, i, err);
    if (code == 0)
        table_print(&table, &text);
    fputs(text_string(&text), stdout);
    text_free(&text);
    table_free(&table);
    return code;
}

static void print_bytes(const char *what, uint64_t bytes)
{
    char text[NUMBER_TEXT_SIZE];

    if (bytes > 0)
        printf("  %-28s %12s\n", what, number_print_bytes(bytes, text));
}

static void print_largest(const struct plan *plan)
{
    size_t n = plan->resolved.sweep.n_runs, largest = 0;
    char name[RUN_LABEL_MAX + RUN_HASH_LENGTH + 2];
    const struct run_plan *p;

    for (size_t i = 1; i < n; i++)
        if (plan->plans[i].process_bytes > plan->plans[largest].process_bytes)
            largest = i;
    p = &plan->plans[largest];
    run_name(plan, largest, name, sizeof name);
    printf("\n%s%s\n", n > 1 ? "largest: " : "", name);
    printf("  windows: train %" PRId64 ", val %" PRId64 ", test %" PRId64
           "; %" PRId64 " steps per epoch, %.6g epochs\n",
           p->windows[PART_TRAIN], p->windows[PART_VAL], p->windows[PART_TEST],
           p->steps_per_epoch, p->epochs);
    printf("  %.4g GFLOP per step of training, %.4g per forecast batch\n",
           p->model.step_flops * 1e-9, p->model.forward_flops * 1e-9);
    print_bytes("parameters", p->model.parameter_bytes);
    print_bytes("gradients", p->model.gradient_bytes);
    print_bytes("microbatch sums", p->tree_bytes);
    print_bytes("Adam moments", p->model.moment_bytes);
    print_bytes("activations", p->model.activation_bytes);
    print_bytes("scratch of the backend", p->model.workspace_bytes);
    print_bytes("series", p->series_bytes);
    print_bytes("= on the device", p->device_bytes);
    print_bytes("dataset on the host", p->dataset_bytes);
    print_bytes("copies for checkpoints", p->copy_bytes);
    print_bytes("program and libraries", p->base_bytes);
    print_bytes("= peak of the process", p->process_bytes);
}

static int print_text(const struct plan *plan, struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    int code;

    printf("%s: %zu run%s (%zu configuration%s, %zu seed%s)\n",
           plan->resolved.experiment.config.name, sweep->n_runs,
           sweep->n_runs == 1 ? "" : "s", sweep->n_points,
           sweep->n_points == 1 ? "" : "s", sweep->n_seeds,
           sweep->n_seeds == 1 ? "" : "s");
    code = print_table(plan, err);
    if (code == 0)
        print_largest(plan);
    return code;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *bytes_json(const struct run_plan *p)
{
    const struct {
        const char *key;
        uint64_t bytes;
    } kinds[] = {
        {"parameters", p->model.parameter_bytes},
        {"gradients", p->model.gradient_bytes},
        {"microbatch_sums", p->tree_bytes},
        {"moments", p->model.moment_bytes},
        {"activations", p->model.activation_bytes},
        {"scratch", p->model.workspace_bytes},
        {"series", p->series_bytes},
        {"device", p->device_bytes},
        {"dataset", p->dataset_bytes},
        {"copies", p->copy_bytes},
        {"base", p->base_bytes},
        {"process", p->process_bytes},
    };
    json_t *object = json_object();

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        json_object_set_new(object, kinds[i].key,
                            json_integer((json_int_t)kinds[i].bytes));
    return object;
}

static json_t *run_json(const struct plan *plan, size_t i)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    const struct record_run *run = &plan->resolved.record.runs[i];
    const struct run_plan *p = &plan->plans[i];
    char name[RUN_LABEL_MAX + RUN_HASH_LENGTH + 2];
    json_t *settings = json_object(), *windows = json_object();

    run_name(plan, i, name, sizeof name);
    for (size_t k = 0; k < sweep->n_axes; k++)
        json_object_set_new(settings, sweep->runs[i].settings[k].key,
                            json_string(sweep->runs[i].settings[k].value));
    for (int part = 0; part < N_PARTS; part++)
        json_object_set_new(windows, part_names[part],
                            json_integer(p->windows[part]));
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:I, s:o, s:I, s:o, s:I, s:I, s:f, s:f, s:o}",
        "run", name, "identity", run->identity, "state",
        state_of(plan, run->identity), "settings", settings, "rows",
        (json_int_t)p->rows, "windows", windows, "steps", (json_int_t)p->steps,
        "epochs", json_number_or_null(p->epochs), "steps_per_epoch",
        (json_int_t)p->steps_per_epoch, "parameters",
        (json_int_t)p->model.n_parameters, "step_flops", p->model.step_flops,
        "forward_flops", p->model.forward_flops, "bytes", bytes_json(p));
}

static int print_runs_json(const struct plan *plan, struct m2_error *err)
{
    json_t *list = json_array();

    for (size_t i = 0; i < plan->resolved.sweep.n_runs; i++)
        json_array_append_new(list, run_json(plan, i));
    return print_json(json_pack("{s:s, s:o}", "name",
                                plan->resolved.experiment.config.name, "runs",
                                list),
                      err);
}

/* ---- the command ------------------------------------------------------- */

static int plan_experiment(const struct plan_options *options,
                           const struct arguments *arguments,
                           struct m2_error *err)
{
    struct plan plan = {.options = options};
    char *root = store_root(options->results);
    int code = root == NULL
                   ? m2_fail(err, M2_E_MEMORY, "out of memory")
                   : resolve_sweep(arguments->items[0], arguments->items + 1,
                                   arguments->n - 1, root, &plan.resolved, err);

    if (root == NULL)
        return code;
    if (code == 0)
        code = run_list_load(root, plan.resolved.experiment.config.name,
                             &plan.published, err);
    if (code == 0)
        warn_of_stale_runs(root, plan.resolved.experiment.config.name);
    if (code == 0)
        code = plan_runs(&plan, err);
    if (code == 0)
        code = options->json ? print_runs_json(&plan, err)
                             : print_text(&plan, err);
    free(plan.plans);
    run_list_free(&plan.published);
    resolved_sweep_free(&plan.resolved);
    free(root);
    return code;
}

int command_plan(int argc, char **argv)
{
    static const struct command_help help = {
        "plan", "FILE [KEY=VALUE ...]",
        "Lists the runs that `m2run run` would work, with their states, and\n"
        "what each takes: windows, steps, parameters, memory on the device and\n"
        "of the process. The data are loaded and the device is opened, but\n"
        "nothing is trained or written.",
        "  m2run plan experiments/quickstart.yaml\n"
        "  m2run plan exp.yaml d_model=256,512 --json"};
    struct plan_options options = {0};
    const struct option_spec specs[] = {
        {"results", 0, OPTION_TEXT, "DIR", "results folder [results]",
         &options.results},
        {"json", 0, OPTION_FLAG, NULL, "as JSON", &options.json},
        {0},
    };
    struct arguments arguments;
    struct m2_error err;
    int code = options_parse(argc, argv, &help, specs, &arguments, &err);

    if (code == 0 && arguments.n == 0)
        code = m2_fail(&err, M2_E_USAGE, "plan: which experiment file?");
    if (code == 0)
        code = plan_experiment(&options, &arguments, &err);
    free(arguments.items);
    if (code == 1)
        return 0;
    return code == 0 ? 0 : report_error(code, &err);
}
