/* Choosing runs by experiment and conditions. */
#include "cli/run_select.h"

#include <stdlib.h>
#include <string.h>

#include "results/query.h"
#include "util/log.h"
#include "util/memory.h"

enum { MAX_REPORTS = 10 };

int run_selection_make(struct arguments *arguments, const char *command,
                       struct run_selection *out, struct m2_error *err)
{
    const char *name = NULL;

    for (size_t i = 0; i < arguments->n; i++) {
        const char *word = arguments->items[i];

        if (run_condition_is(word))
            continue;
        if (name != NULL)
            return m2_fail(err, M2_E_USAGE,
                           "%s: one experiment at most, not '%s' and '%s'",
                           command, name, word);
        name = word;
        memmove(arguments->items + 1, arguments->items,
                i * sizeof *arguments->items);
        arguments->items[0] = word;
    }
    *out = (struct run_selection){
        .word = name,
        .conditions = arguments->items + (name != NULL),
        .n_conditions = arguments->n - (name != NULL),
    };
    return 0;
}

int run_selection_apply(const struct run_selection *selection,
                        struct run_list *list, struct m2_error *err)
{
    struct run_condition *conditions;
    int code = 0;

    if (selection->n_conditions == 0 || list->n == 0)
        return 0;
    conditions =
        memory_zeroed(selection->n_conditions, sizeof *conditions, err);
    if (conditions == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; code == 0 && i < selection->n_conditions; i++)
        code = run_condition_parse(list, selection->conditions[i],
                                   &conditions[i], err);
    if (code == 0)
        run_list_filter(list, conditions, selection->n_conditions);
    free(conditions);
    return code;
}

void report_damaged(const struct run_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        const struct run_entry *entry = &list->entries[i];

        if (entry->damage == NULL &&
            (entry->record != NULL || !entry->published))
            continue;
        if (n++ >= MAX_REPORTS)
            continue;
        if (entry->damage != NULL)
            log_warning("%s", entry->damage);
        else
            log_warning("%s: has no run.json", entry->path);
    }
    if (n > MAX_REPORTS)
        log_warning("%zu more runs are damaged", n - MAX_REPORTS);
}
