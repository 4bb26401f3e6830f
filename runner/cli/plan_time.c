/* How long the runs of a plan will take: `m2run bench` on each shape.
 *
 * A shape is everything that the time of a step depends on.  Each is measured
 * once, by as many processes at once as there will be jobs - they share caches
 * and memory, as the runs will - and by none where it would not fit.  A run's
 * time is then
 *
 *     start of the process until its first step
 *   + steps
 *   + windows evaluated, validation as often as is due, test once
 *   + checkpoints, and one for every second evaluation: the best so far
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli/plan.h"
#include "config/identity.h"
#include "results/scratch.h"
#include "schedule/child.h"
#include "schedule/pool.h"
#include "util/file.h"
#include "util/interrupt.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"

/* About two seconds of a core per shape, and never too few to tell. */
#define FLOPS_TO_MEASURE 2e10
enum { MIN_STEPS = 3, MAX_STEPS = 100 };

/* Seconds, means over the processes. */
struct timing {
    double first_step, step, evaluate_window, checkpoint;
};

/* ---- shapes ------------------------------------------------------------- */

/* Keys that no step's time depends on, beside those below model and data. */
static bool is_timeless(const char *path)
{
    static const char *const starts[] = {
        "format",
        "name",
        "seed",
        "metric",
        "checkpoint",
        "train.epochs",
        "train.steps",
        "train.optimizer",
        "train.schedule",
        "train.eval_every",
        "train.log_every",
        "train.early_stopping",
        "train.huber_delta",
        "model.init_from",
    };

    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        size_t length = strlen(starts[i]);

        if (strncmp(path, starts[i], length) == 0 &&
            (path[length] == '\0' || path[length] == '.'))
            return true;
    }
    return false;
}

static char *shape_of(const struct plan *plan, size_t i, struct m2_error *err)
{
    const struct schema *schema = &plan->resolved.experiment.schema;
    const struct config *config = &plan->resolved.sweep.runs[i].config;
    struct text text = {0};
    char *stolen;

    for (size_t row = 0; row < schema->n_rows; row++) {
        if (schema->rows[row].key->type == KEY_BLOCK ||
            is_timeless(schema->rows[row].path))
            continue;
        config_write_value(schema, row, config, &text);
        text_add_char(&text, '\n');
    }
    stolen = text_steal(&text, err);
    text_free(&text);
    return stolen;
}

/* ---- processes that measure ---------------------------------------------- */

static int start(struct child *child, const char *config_path,
                 const char *const *numbers, uint64_t memory,
                 struct m2_error *err)
{
    const char *argv[] = {NULL,      "bench",    config_path, "--json",
                          "--steps", numbers[0], numbers[1],  NULL};
    const struct rlimit limit = {memory, memory};
    int code = child_start(child, argv, err);

    /* better no figure than a machine that has to kill something */
    if (code == 0 && memory > 0)
        prlimit(child->process.pid, RLIMIT_DATA, &limit, NULL);
    return code;
}

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : 0;
}

/* Adds a process's figures; false when it has none. */
static bool add_figures(const struct child *child, struct timing *sum)
{
    json_t *root = json_loads(text_string(&child->out), 0, NULL);
    const json_t *result = json_array_get(json_object_get(root, "devices"), 0);
    bool found = number_at(result, "step_mean_s") > 0;

    sum->first_step += number_at(result, "first_step_s");
    sum->step += number_at(result, "step_mean_s");
    sum->evaluate_window += number_at(result, "evaluate_window_s");
    sum->checkpoint += number_at(result, "checkpoint_s");
    json_decref(root);
    return found;
}

/* Waits for the processes; *n_out: how many gave figures. */
static void collect(struct child *all, size_t n, struct timing *sum,
                    size_t *n_out)
{
    child_listen(all, n);
    for (size_t i = 0; i < n; i++) {
        if (all[i].process.pid == 0)
            continue;
        if (child_wait(&all[i]) == 0 && add_figures(&all[i], sum))
            (*n_out)++;
        else if (interrupt_came() == 0)
            log_warning("this shape could not be measured: %s",
                        all[i].messages.length > 0
                            ? child_last_message(&all[i])
                            : "the process was ended by a signal");
        child_free(&all[i]);
    }
}

/* ---- one shape ---------------------------------------------------------- */

static int64_t steps_to_measure(const struct run_plan *plan)
{
    double steps = FLOPS_TO_MEASURE / (plan->model.step_flops + 1);

    return steps < MIN_STEPS   ? MIN_STEPS
           : steps > MAX_STEPS ? MAX_STEPS
                               : (int64_t)steps;
}

/* Processes at once: as many as there will be jobs, if there is memory. */
static size_t measuring_jobs(const struct plan *plan, size_t i)
{
    uint64_t bytes = plan->runs[i].plan.process_bytes;
    size_t jobs = (size_t)plan->jobs;

    if (plan->slots > 1) /* those of one device */
        jobs = (jobs + (size_t)plan->slots - 1) / (size_t)plan->slots;
    while (jobs > 1 && plan->needs.capacity.available > 0 &&
           jobs * bytes > plan->needs.capacity.available)
        jobs--;
    return jobs;
}

static int measure_config(const struct plan *plan, size_t i, const char *path,
                          struct timing *out, struct m2_error *err)
{
    const struct run_plan *run = &plan->runs[i].plan;
    size_t jobs = measuring_jobs(plan, i), started = 0, n = 0;
    struct child all[CHILD_MAX];
    char steps[NUMBER_TEXT_SIZE], threads[NUMBER_TEXT_SIZE];
    const char *const numbers[] = {steps, threads};
    int code = 0;

    snprintf(steps, sizeof steps, "%" PRId64, steps_to_measure(run));
    snprintf(threads, sizeof threads, "threads=%d",
             plan_threads(plan, &plan->resolved.sweep.runs[i].config));
    for (; code == 0 && started < jobs; started++)
        code = start(&all[started], path, numbers,
                     run->device_is_host ? plan->needs.capacity.available / jobs
                                         : 0,
                     err);
    *out = (struct timing){0};
    collect(all, started, out, &n);
    if (n == 0)
        out->step = NAN;
    out->first_step /= n > 0 ? (double)n : 1;
    out->step /= n > 0 ? (double)n : 1;
    out->evaluate_window /= n > 0 ? (double)n : 1;
    out->checkpoint /= n > 0 ? (double)n : 1;
    return code;
}

/* The run's config in a file of its own, for `bench` to read. */
static int measure_in(const struct plan *plan, size_t i, const char *dir,
                      struct timing *out, struct m2_error *err)
{
    char *path = path_join(dir, "config.yaml", err);
    struct text text = {0};
    int code = path == NULL ? M2_E_MEMORY : 0;

    config_write(&plan->resolved.experiment.schema,
                 &plan->resolved.sweep.runs[i].config, &text);
    if (code == 0)
        code = text_check(&text, err);
    if (code == 0)
        code =
            file_write_atomic(path, text.bytes, text.length, M2_E_RESULTS, err);
    if (code == 0)
        code = measure_config(plan, i, path, out, err);
    text_free(&text);
    free(path);
    return code;
}

/* A signal that would end the process does so when the folder is removed. */
static int measure(const struct plan *plan, size_t i, struct timing *out,
                   struct m2_error *err)
{
    struct interrupt_hold hold;
    struct scratch scratch;
    struct m2_error cause;
    int code;

    interrupt_hold(&hold);
    code = scratch_open_temporary("m2run-plan-", &scratch, err);
    if (code == 0)
        code = measure_in(plan, i, scratch.path, out, err);
    if (code == 0 && interrupt_came() != 0)
        code = m2_fail(err, M2_E_STOPPED, "plan: stopped on request");
    if (scratch_close(&scratch, false, &cause) != 0)
        log_warning("%s", cause.text);
    interrupt_release(&hold);
    return code;
}

/* ---- all runs ----------------------------------------------------------- */

/* How often something happens that is due every N steps; 0: every epoch. */
static double times_due(const struct run_plan *plan, int64_t every)
{
    if (every <= 0)
        every = plan->steps_per_epoch;
    return (double)((plan->steps + every - 1) / every);
}

static double run_seconds(const struct config *config,
                          const struct run_plan *plan, const struct timing *t)
{
    double evaluations = times_due(plan, config->train.eval_every);
    double checkpoints = times_due(plan, config->checkpoint.every);
    double windows = evaluations * (double)plan->windows[PART_VAL] +
                     (double)plan->windows[PART_TEST];

    if (config->checkpoint.keep_best > 0)
        checkpoints += evaluations / 2;
    return t->first_step + (double)plan->steps * t->step +
           windows * t->evaluate_window + checkpoints * t->checkpoint;
}

/* Gives all runs of one shape their times. */
static int time_shape(struct plan *plan, char *const *shapes, size_t i,
                      struct m2_error *err)
{
    const struct sweep *sweep = &plan->resolved.sweep;
    char name[RUN_NAME_SIZE];
    struct timing timing;
    int code;

    plan_run_name(plan, i, name);
    log_info("measuring %s", name);
    code = measure(plan, i, &timing, err);
    if (code != 0)
        return code;
    plan->n_shapes += !isnan(timing.step);
    for (size_t k = i; k < sweep->n_runs; k++)
        if (shapes[k] != NULL && strcmp(shapes[k], shapes[i]) == 0)
            plan->runs[k].seconds = run_seconds(&sweep->runs[k].config,
                                                &plan->runs[k].plan, &timing);
    return 0;
}

/* The next free worker takes the next run, as the pool does. */
static void add_up(struct plan *plan)
{
    double ends[POOL_MAX_JOBS] = {0};
    size_t n = 0;

    plan->total_s = plan->wall_s = 0;
    for (size_t i = 0; i < plan->resolved.sweep.n_runs; i++) {
        int first = 0;

        if (!plan->runs[i].is_to_do || isnan(plan->runs[i].seconds))
            continue;
        n++;
        for (int k = 1; k < plan->jobs; k++)
            if (ends[k] < ends[first])
                first = k;
        ends[first] += plan->runs[i].seconds;
        plan->total_s += plan->runs[i].seconds;
        if (ends[first] > plan->wall_s)
            plan->wall_s = ends[first];
    }
    if (n < plan->n_to_do)
        log_warning("%zu of %zu runs to do could not be measured; the total is "
                    "without them",
                    plan->n_to_do - n, plan->n_to_do);
}

int plan_time(struct plan *plan, struct m2_error *err)
{
    size_t n = plan->resolved.sweep.n_runs;
    char **shapes = memory_zeroed(n, sizeof *shapes, err);
    int code = shapes == NULL ? M2_E_MEMORY : 0;

    for (size_t i = 0; code == 0 && i < n; i++) {
        if (!plan->runs[i].is_to_do || !plan_run_fits(plan, i))
            continue;
        shapes[i] = shape_of(plan, i, err);
        code = shapes[i] == NULL ? M2_E_MEMORY : 0;
    }
    for (size_t i = 0; code == 0 && i < n; i++) {
        bool is_new = shapes[i] != NULL;

        for (size_t k = 0; is_new && k < i; k++)
            is_new = shapes[k] == NULL || strcmp(shapes[k], shapes[i]) != 0;
        if (is_new)
            code = time_shape(plan, shapes, i, err);
    }
    if (code == 0)
        add_up(plan);
    for (size_t i = 0; shapes != NULL && i < n; i++)
        free(shapes[i]);
    free(shapes);
    return code;
}
