/* What `m2run plan` prints: a table and what it adds up to, CSV, or JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_output.h"
#include "cli/plan.h"
#include "config/identity.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/terminal.h"

/* Run, state, action and the numbers; between them a column per axis. */
enum { NUMBER_COLUMNS = 7, FIXED_COLUMNS = NUMBER_COLUMNS + 3 };

/* What an axis chose for a run; the run's own value where a point of a list
 * says nothing of the key. */
static void add_setting(const struct plan *plan, size_t i, size_t k,
                        struct text *out)
{
    const struct schema *schema = &plan->resolved.experiment.schema;
    const struct sweep_run *run = &plan->resolved.sweep.runs[i];

    if (run->settings[k].value != NULL)
        text_add(out, run->settings[k].value);
    else
        config_write_value(schema, schema_find(schema, run->settings[k].key),
                           &run->config, out);
}

/* ---- the table ---------------------------------------------------------- */

static size_t make_columns(const struct plan *plan,
                           struct table_column *columns)
{
    static const struct table_column after[NUMBER_COLUMNS] = {
        {"windows", NULL, TABLE_RIGHT, true},
        {"steps", NULL, TABLE_RIGHT, true},
        {"parameters", NULL, TABLE_RIGHT, true},
        {"device_bytes", "device memory", TABLE_RIGHT, true},
        {"process_bytes", "process memory", TABLE_RIGHT, true},
        {"disk_bytes", "disk", TABLE_RIGHT, true},
        {"seconds", "time", TABLE_RIGHT, true},
    };
    const struct sweep *sweep = &plan->resolved.sweep;
    bool has_time = plan->options->time || plan->options->csv;
    size_t n = 0;

    columns[n++] = (struct table_column){"run", NULL, TABLE_LEFT, false};
    columns[n++] = (struct table_column){"state", NULL, TABLE_LEFT, false};
    columns[n++] =
        (struct table_column){"action", "run will", TABLE_LEFT, false};
    for (size_t k = 0; k < sweep->n_axes; k++) {
        const char *key = sweep->runs[0].settings[k].key;
        const char *dot = strrchr(key, '.');

        columns[n++] = (struct table_column){key, dot != NULL ? dot + 1 : key,
                                             TABLE_RIGHT, false};
    }
    memcpy(columns + n, after, sizeof after);
    return n + NUMBER_COLUMNS - !has_time;
}

/* Bytes for people, or all digits for programs. */
static void print_size(uint64_t bytes, bool lossless,
                       char out[NUMBER_TEXT_SIZE])
{
    if (lossless)
        snprintf(out, NUMBER_TEXT_SIZE, "%" PRIu64, bytes);
    else
        number_print_bytes(bytes, out);
}

static const char *print_seconds(double seconds, bool lossless,
                                 char out[NUMBER_TEXT_SIZE])
{
    if (isnan(seconds))
        return NULL;
    if (lossless)
        snprintf(out, NUMBER_TEXT_SIZE, "%.6g", seconds);
    else
        number_print_duration(seconds, out);
    return out;
}

static size_t add_numbers(const struct planned_run *run, bool lossless,
                          char numbers[NUMBER_COLUMNS][NUMBER_TEXT_SIZE],
                          const char **cells)
{
    const struct run_plan *p = &run->plan;

    for (size_t k = 0; k < NUMBER_COLUMNS; k++)
        cells[k] = numbers[k];
    snprintf(numbers[0], sizeof numbers[0], "%" PRId64, p->windows[PART_TRAIN]);
    snprintf(numbers[1], sizeof numbers[1], "%" PRId64, p->steps);
    snprintf(numbers[2], sizeof numbers[2], "%" PRIu64, p->model.n_parameters);
    print_size(p->device_bytes, lossless, numbers[3]);
    print_size(p->process_bytes, lossless, numbers[4]);
    print_size(run->disk_bytes, lossless, numbers[5]);
    cells[6] = print_seconds(run->seconds, lossless, numbers[6]);
    return NUMBER_COLUMNS;
}

/* What a row is made in; settings and cells are as long as the table is wide.
 */
struct row {
    struct text *settings;
    const char **cells;
};

static int add_row(struct table *table, const struct plan *plan, size_t i,
                   const struct row *row, struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    char name[RUN_NAME_SIZE], numbers[NUMBER_COLUMNS][NUMBER_TEXT_SIZE];
    size_t n = 0;
    int code = 0;

    plan_run_name(plan, i, name);
    row->cells[n++] = name;
    row->cells[n++] = plan->runs[i].state;
    row->cells[n++] = policy_action_name(plan->runs[i].action);
    for (size_t k = 0; code == 0 && k < sweep->n_axes; k++) {
        text_clear(&row->settings[k]);
        add_setting(plan, i, k, &row->settings[k]);
        code = text_check(&row->settings[k], err);
        row->cells[n++] = text_string(&row->settings[k]);
    }
    if (code != 0)
        return code;
    add_numbers(&plan->runs[i], plan->options->csv, numbers, row->cells + n);
    return table_add_row(table, row->cells, err);
}

static int add_rows(struct table *table, const struct plan *plan,
                    struct m2_error *err)
{
    size_t n_axes = plan->resolved.sweep.n_axes;
    struct row row = {
        memory_zeroed(n_axes, sizeof *row.settings, err),
        memory_zeroed(n_axes + FIXED_COLUMNS, sizeof *row.cells, err)};
    int code = row.settings == NULL || row.cells == NULL ? M2_E_MEMORY : 0;

    for (size_t i = 0; code == 0 && i < plan->resolved.sweep.n_runs; i++)
        code = add_row(table, plan, i, &row, err);
    for (size_t k = 0; row.settings != NULL && k < n_axes; k++)
        text_free(&row.settings[k]);
    free(row.settings);
    free(row.cells);
    return code;
}

static int print_table(const struct plan *plan, struct m2_error *err)
{
    size_t width = plan->resolved.sweep.n_axes + FIXED_COLUMNS;
    struct table_column *columns = memory_zeroed(width, sizeof *columns, err);
    struct table table = {0};
    struct text text = {0};
    int code;

    if (columns == NULL)
        return M2_E_MEMORY;
    code = table_init(&table, columns, make_columns(plan, columns), err);
    if (code == 0)
        code = add_rows(&table, plan, err);
    if (code == 0 && plan->options->csv)
        table_csv(&table, &text);
    else if (code == 0)
        table_print(&table, &text);
    if (code == 0)
        code = text_check(&text, err);
    if (code == 0)
        fputs(text_string(&text), stdout);
    text_free(&text);
    table_free(&table);
    free(columns);
    return code;
}

/* ---- what it adds up to -------------------------------------------------- */

static void print_bytes(const char *what, uint64_t bytes)
{
    char text[NUMBER_TEXT_SIZE];

    if (bytes > 0)
        printf("  %-28s %12s\n", what, number_print_bytes(bytes, text));
}

static void print_largest(const struct plan *plan)
{
    size_t n = plan->resolved.sweep.n_runs, largest = 0;
    char name[RUN_NAME_SIZE];
    const struct run_plan *p;

    for (size_t i = 1; i < n; i++)
        if (plan->runs[i].plan.process_bytes >
            plan->runs[largest].plan.process_bytes)
            largest = i;
    p = &plan->runs[largest].plan;
    plan_run_name(plan, largest, name);
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

static void print_limit(const char *what, uint64_t need, uint64_t limit,
                        const char *of)
{
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];

    printf("%s: %s", what, number_print_bytes(need, needed));
    if (limit > 0)
        printf(" of %s %s", number_print_bytes(limit, there), of);
    putchar('\n');
}

static void print_time(const struct plan *plan)
{
    char total[NUMBER_TEXT_SIZE], wall[NUMBER_TEXT_SIZE];
    bool early = false;

    for (size_t i = 0; i < plan->resolved.sweep.n_runs; i++)
        early =
            early ||
            plan->resolved.sweep.runs[i].config.train.early_stopping.patience >
                0;
    printf("time: %s%s with -j %d; %s in all, one after another (%zu shape%s "
           "measured)\n",
           early ? "at most " : "", number_print_duration(plan->wall_s, wall),
           plan->jobs, number_print_duration(plan->total_s, total),
           plan->n_shapes, plan->n_shapes == 1 ? "" : "s");
}

static void print_needs(const struct plan *plan)
{
    const struct plan_needs *needs = &plan->needs;
    size_t n = plan->resolved.sweep.n_runs;

    printf("\nto do: %zu of %zu run%s, %d at once on %d thread%s each\n",
           plan->n_to_do, n, n == 1 ? "" : "s", plan->jobs, plan->threads,
           plan->threads == 1 ? "" : "s");
    if (plan->n_refused > 0)
        printf("refused: %zu of them, begun under other numerics; --mixed "
               "goes on with them\n",
               plan->n_refused);
    print_limit("memory at once", needs->memory, needs->capacity.limit,
                "in this machine");
    if (needs->device > 0)
        print_limit("device memory at once", needs->device, needs->device_limit,
                    "on the device");
    print_limit("disk", needs->disk, needs->disk_free, "free");
    if (!isnan(plan->total_s))
        print_time(plan);
    for (size_t i = 0; i < plan->problems.count; i++)
        printf("does not fit: %s\n", plan->problems.items[i]);
}

static int print_text(const struct plan *plan, struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    int code;

    printf("%s: %zu run%s (%zu configuration%s, %zu seed%s)",
           plan->resolved.experiment.config.name, sweep->n_runs,
           sweep->n_runs == 1 ? "" : "s", sweep->n_points,
           sweep->n_points == 1 ? "" : "s", sweep->n_seeds,
           sweep->n_seeds == 1 ? "" : "s");
    if (sweep->n_excluded > 0)
        printf("; %zu of %zu points excluded", sweep->n_excluded,
               sweep->n_excluded + sweep->n_points);
    putchar('\n');
    code = print_table(plan, err);
    if (code != 0)
        return code;
    print_largest(plan);
    print_needs(plan);
    return 0;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *bytes_json(const struct planned_run *run)
{
    const struct run_plan *p = &run->plan;
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
        {"disk", run->disk_bytes},
    };
    struct json_builder object = json_build();

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        json_add_integer(&object, kinds[i].key, (int64_t)kinds[i].bytes);
    return json_built(&object);
}

static json_t *settings_object(const struct plan *plan, size_t i)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    struct json_builder settings = json_build();
    struct text text = {0};

    for (size_t k = 0; k < sweep->n_axes; k++) {
        text_clear(&text);
        add_setting(plan, i, k, &text);
        settings.failed = settings.failed || text.failed;
        json_add_text(&settings, sweep->runs[i].settings[k].key,
                      text_string(&text));
    }
    text_free(&text);
    return json_built(&settings);
}

static json_t *windows_object(const struct run_plan *plan)
{
    struct json_builder windows = json_build();

    for (int part = 0; part < N_PARTS; part++)
        json_add_integer(&windows, part_names[part], plan->windows[part]);
    return json_built(&windows);
}

static json_t *run_json(const struct plan *plan, size_t i)
{
    const struct record_run *record = &plan->resolved.record.runs[i];
    const struct planned_run *run = &plan->runs[i];
    const struct run_plan *p = &run->plan;
    char name[RUN_NAME_SIZE];

    plan_run_name(plan, i, name);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:I, s:o, s:I, s:o, s:I, s:I, s:f, s:f, "
        "s:o, s:o}",
        "run", name, "identity", record->identity, "state", run->state,
        "action", policy_action_name(run->action), "settings",
        settings_object(plan, i), "rows", (json_int_t)p->rows, "windows",
        windows_object(p), "steps", (json_int_t)p->steps, "epochs",
        json_number_or_null(p->epochs), "steps_per_epoch",
        (json_int_t)p->steps_per_epoch, "parameters",
        (json_int_t)p->model.n_parameters, "step_flops", p->model.step_flops,
        "forward_flops", p->model.forward_flops, "bytes", bytes_json(run),
        "seconds", json_number_or_null(run->seconds));
}

static json_t *needs_json(const struct plan *plan)
{
    const struct plan_needs *needs = &plan->needs;

    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "memory_bytes",
        (json_int_t)needs->memory, "memory_limit_bytes",
        (json_int_t)needs->capacity.limit, "memory_available_bytes",
        (json_int_t)needs->capacity.available, "device_memory_bytes",
        (json_int_t)needs->device, "device_limit_bytes",
        (json_int_t)needs->device_limit, "disk_bytes", (json_int_t)needs->disk,
        "disk_free_bytes", (json_int_t)needs->disk_free, "seconds",
        json_number_or_null(plan->total_s), "wall_seconds",
        json_number_or_null(plan->wall_s));
}

static json_t *runs_list(const struct plan *plan)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < plan->resolved.sweep.n_runs; i++)
        ok = json_append(list, run_json(plan, i));
    return ok ? list : json_drop(list);
}

/* One of them may quote the results folder. */
static json_t *problems_list(const struct plan *plan)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < plan->problems.count; i++)
        ok = json_append(list, json_any_text(plan->problems.items[i]));
    return ok ? list : json_drop(list);
}

static int print_runs_json(const struct plan *plan, struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;

    return print_json(
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:o, s:o, s:o}",
                  "name", plan->resolved.experiment.config.name,
                  "configurations", (json_int_t)sweep->n_points, "seeds",
                  (json_int_t)sweep->n_seeds, "excluded_points",
                  (json_int_t)sweep->n_excluded, "folded_runs",
                  (json_int_t)sweep->n_folded, "to_do",
                  (json_int_t)plan->n_to_do, "jobs", plan->jobs, "threads",
                  plan->threads, "needs", needs_json(plan), "problems",
                  problems_list(plan), "runs", runs_list(plan)),
        err);
}

int plan_print(const struct plan *plan, struct m2_error *err)
{
    if (plan->options->json)
        return print_runs_json(plan, err);
    return plan->options->csv ? print_table(plan, err) : print_text(plan, err);
}
