/* How many runs fit into the memory of this machine at once. */
#include <jansson.h>
#include <string.h>

#include "cli/run.h"
#include "schedule/child.h"
#include "util/capacity.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/number.h"

/* "m2run plan --json --results ROOT FILE [KEY=VALUE ...]", without messages:
 * those about the file have been printed. */
static int ask(const char *root, const struct arguments *arguments,
               struct child *child, struct m2_error *err)
{
    const char **argv =
        memory_zeroed(arguments->n + 6, sizeof(const char *), err);
    size_t n = 1;
    int code;

    if (argv == NULL)
        return M2_E_MEMORY;
    argv[n++] = "plan";
    argv[n++] = "--json";
    argv[n++] = "--results";
    argv[n++] = root;
    memcpy(argv + n, arguments->items, arguments->n * sizeof *argv);
    code = child_start(child, argv, err);
    if (code == 0) {
        child_listen(child, 1);
        child_wait(child);
    }
    free(argv);
    return code;
}

/* Bytes of the largest run that is waiting; 0: not known. */
static uint64_t largest_of(const json_t *plan, const struct pool_task *tasks,
                           size_t n)
{
    const json_t *runs = json_object_get(plan, "runs");
    uint64_t largest = 0;

    if (json_array_size(runs) != n) /* the file has changed meanwhile */
        return 0;
    for (size_t i = 0; i < n; i++) {
        const json_t *bytes = json_object_get(json_array_get(runs, i), "bytes");
        uint64_t process =
            (uint64_t)json_integer_value(json_object_get(bytes, "process"));

        if (tasks[i].state == TASK_WAITING && process > largest)
            largest = process;
    }
    return largest;
}

int run_memory_jobs(const char *root, const struct arguments *arguments,
                    const struct pool_task *tasks, size_t n, int jobs)
{
    uint64_t available = memory_capacity().available, largest;
    struct child child = {.process = {0}};
    char has[NUMBER_TEXT_SIZE], needs[NUMBER_TEXT_SIZE];
    json_t *plan = NULL;
    int fit = jobs;

    if (available == 0 || strcmp(arguments->items[0], "-") == 0)
        return jobs;
    if (ask(root, arguments, &child, NULL) == 0)
        plan = json_loads(text_string(&child.out), 0, NULL);
    largest = largest_of(plan, tasks, n);
    if (largest > 0 && available / largest < (uint64_t)jobs)
        fit = available / largest > 0 ? (int)(available / largest) : 1;
    if (fit < jobs)
        log_info("%d at a time instead of %d: the largest run needs %s, "
                 "%s are free",
                 fit, jobs, number_print_bytes(largest, needs),
                 number_print_bytes(available, has));
    json_decref(plan);
    child_free(&child);
    return fit;
}
