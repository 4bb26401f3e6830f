/* Which runs compute on accelerators, and how many of those there are. */
#include <inttypes.h>
#include <string.h>

#include "backends/select.h"
#include "cli/device_ask.h"
#include "cli/run.h"
#include "util/log.h"

/* Backends whose devices are the cores of this machine. */
static bool is_host(const char *backend)
{
    return strcmp(backend, "cpu") == 0 || strcmp(backend, "ref") == 0;
}

static bool has_index(const char *word)
{
    const char *slash = strrchr(word, '/');

    return strchr(slash != NULL ? slash : word, ':') != NULL;
}

/* Devices that the waiting runs of one backend may use: all of them, or as
 * many as are named. */
struct backend_use {
    struct device_choice choice; /* of its first run */
    int count;                   /* what there is */
    bool any;                    /* a run names none */
    uint64_t named;              /* indices below 64, one bit each */
};

static int devices_used(const struct backend_use *use)
{
    int named = __builtin_popcountll(use->named);

    return use->any && use->count > named ? use->count : named;
}

/* Notes one backend's runs, from the first of them on. */
static int note_backend(const struct resolved_sweep *resolved,
                        struct pool_task *tasks, size_t first,
                        struct backend_use *use, struct m2_error *err)
{
    struct device_answer answer;
    int code = device_ask(tasks[first].device, &answer, err);

    if (code != 0)
        return code;
    use->count = answer.count > 0 ? answer.count : 1;
    for (size_t i = first; i < resolved->record.n_runs; i++) {
        struct device_choice choice;
        char why[256];

        if (tasks[i].state != TASK_WAITING || tasks[i].n_devices > 0 ||
            device_choose(tasks[i].device, &choice, why, NULL) != 0 ||
            strcmp(choice.backend, use->choice.backend) != 0)
            continue;
        tasks[i].n_devices = has_index(tasks[i].device) ? 1 : use->count;
        if (!has_index(tasks[i].device))
            use->any = true;
        else if (choice.index < 64)
            use->named |= UINT64_C(1) << choice.index;
    }
    return 0;
}

int run_devices_find(const struct resolved_sweep *resolved,
                     struct pool_task *tasks, int *slots_out,
                     struct m2_error *err)
{
    int code = 0;

    *slots_out = 0;
    for (size_t i = 0; i < resolved->record.n_runs; i++)
        tasks[i].device = resolved->sweep.runs[i].config.device;
    for (size_t i = 0; code == 0 && i < resolved->record.n_runs; i++) {
        struct backend_use use = {.count = 0};
        char why[256];

        if (tasks[i].state != TASK_WAITING || tasks[i].n_devices > 0 ||
            device_choose(tasks[i].device, &use.choice, why, NULL) != 0 ||
            is_host(use.choice.backend))
            continue;
        code = note_backend(resolved, tasks, i, &use, err);
        *slots_out += devices_used(&use);
    }
    return code;
}

int run_devices_jobs(int slots, int64_t wanted, int jobs)
{
    if (slots == 0)
        return jobs;
    if (wanted == 0)
        return jobs < slots ? jobs : slots;
    if (jobs > slots)
        log_warning("-j %" PRId64 ": %d device%s, which runs share", wanted,
                    slots, slots == 1 ? " is used" : "s are used");
    return jobs;
}
