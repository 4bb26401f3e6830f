/* Whether the runs of a plan fit: memory at once, disk in all. */
#include "cli/plan.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"

static int compare_bytes(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return *a < *b ? 1 : *a > *b ? -1 : 0;
}

/* The most that `jobs` runs to do can need at once, all of them the largest;
 * *fits_out: how many of the largest fit below the limit. */
static uint64_t most_at_once(const uint64_t *largest_first, size_t n,
                             uint64_t limit, size_t *fits_out)
{
    uint64_t sum = 0;

    *fits_out = 0;
    for (size_t i = 0; i < n; i++) {
        sum += largest_first[i];
        if (sum <= limit)
            *fits_out = i + 1;
    }
    return sum;
}

static int add_problem(struct plan *plan, struct text *text,
                       struct m2_error *err)
{
    char *stolen = text_steal(text, err);

    text_free(text);
    return string_list_add_owned(&plan->problems, stolen, err);
}

static int report_run(struct plan *plan, size_t i, struct m2_error *err)
{
    const struct run_plan *run = &plan->runs[i].plan;
    bool on_device = !run->device_is_host && run->device_limit > 0 &&
                     run->device_bytes > run->device_limit;
    char name[RUN_NAME_SIZE], needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];
    struct text text = {0};

    plan_run_name(plan, i, name);
    text_addf(
        &text, "%s needs %s of memory, %s has %s", name,
        number_print_bytes(on_device ? run->device_bytes : run->process_bytes,
                           needed),
        on_device ? "the device" : "this machine",
        number_print_bytes(
            on_device ? run->device_limit : plan->needs.capacity.limit, there));
    return add_problem(plan, &text, err);
}

/* Runs at once that need more than there is. */
static int report_jobs(struct plan *plan, uint64_t bytes, uint64_t limit,
                       size_t fits, struct m2_error *err)
{
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];
    struct text text = {0};

    text_addf(&text,
              "%d runs at once can need %s of memory, there are %s: "
              "-j %zu fits",
              plan->jobs, number_print_bytes(bytes, needed),
              number_print_bytes(limit, there), fits);
    return add_problem(plan, &text, err);
}

static int report_disk(struct plan *plan, struct m2_error *err)
{
    const struct plan_needs *needs = &plan->needs;
    char needed[NUMBER_TEXT_SIZE], there[NUMBER_TEXT_SIZE];
    struct text text = {0};

    text_addf(&text, "the runs need %s of disk, %s has %s",
              number_print_bytes(needs->disk, needed), plan->root,
              number_print_bytes(needs->disk_free, there));
    return add_problem(plan, &text, err);
}

bool plan_run_fits(const struct plan *plan, size_t i)
{
    const struct run_plan *run = &plan->runs[i].plan;
    uint64_t limit = plan->needs.capacity.limit;

    if (!run->device_is_host && run->device_limit > 0 &&
        run->device_bytes > run->device_limit)
        return false;
    return limit == 0 || run->process_bytes <= limit;
}

/* Memory of the jobs at once, on the host or on their device. */
static int fit_memory(struct plan *plan, bool on_device, struct m2_error *err)
{
    struct plan_needs *needs = &plan->needs;
    uint64_t *bytes = memory_zeroed(plan->n_to_do, sizeof *bytes, err);
    uint64_t limit = on_device ? 0 : needs->capacity.limit, sum;
    size_t n = 0, fits, at_once = (size_t)plan->jobs, devices = 1;

    if (on_device && plan->slots > 0)
        devices = (size_t)plan->slots; /* jobs are dealt out to them */
    at_once = (at_once + devices - 1) / devices;
    if (bytes == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < plan->resolved.sweep.n_runs; i++) {
        const struct run_plan *run = &plan->runs[i].plan;

        if (!plan->runs[i].is_to_do || (on_device && run->device_is_host))
            continue;
        bytes[n++] = on_device ? run->device_bytes : run->process_bytes;
        if (on_device)
            limit = run->device_limit;
    }
    if (n > 1)
        qsort(bytes, n, sizeof *bytes, compare_bytes);
    sum = most_at_once(bytes, n < at_once ? n : at_once, limit, &fits);
    free(bytes);
    *(on_device ? &needs->device : &needs->memory) = sum;
    if (on_device)
        needs->device_limit = limit;
    if (limit == 0 || sum <= limit || fits == 0)
        return 0; /* a run that does not fit alone is reported by its name */
    return report_jobs(plan, sum, limit, fits * devices, err);
}

/* What stays, and per job a checkpoint that is being written beside the one
 * before it. */
static int fit_disk(struct plan *plan, struct m2_error *err)
{
    struct plan_needs *needs = &plan->needs;
    char *dir =
        path_join(plan->root, plan->resolved.experiment.config.name, err);
    uint64_t largest = 0;

    if (dir == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < plan->resolved.sweep.n_runs; i++) {
        uint64_t checkpoint = 3 * plan->runs[i].plan.model.parameter_bytes;

        if (!plan->runs[i].is_to_do)
            continue;
        needs->disk += plan->runs[i].disk_bytes;
        if (checkpoint > largest)
            largest = checkpoint;
    }
    needs->disk += plan->n_to_do > 0 ? 2 * (uint64_t)plan->jobs * largest : 0;
    needs->disk_free = disk_available(dir);
    free(dir);
    return needs->disk_free > 0 && needs->disk > needs->disk_free
               ? report_disk(plan, err)
               : 0;
}

int plan_fit(struct plan *plan, struct m2_error *err)
{
    int code = 0;

    plan->needs.capacity = memory_capacity();
    for (size_t i = 0; code == 0 && i < plan->resolved.sweep.n_runs; i++)
        if (plan->runs[i].is_to_do && !plan_run_fits(plan, i))
            code = report_run(plan, i, err);
    if (code == 0)
        code = fit_memory(plan, false, err);
    if (code == 0)
        code = fit_memory(plan, true, err);
    return code != 0 ? code : fit_disk(plan, err);
}
