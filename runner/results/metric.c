/* The direction of a metric, by its name. */
#include "results/metric.h"

#include <stddef.h>
#include <string.h>

bool metric_is_higher_better(const char *metric)
{
    static const char *const higher[] = {"hit_rate", "ic", "rank_ic", "skill"};
    const char *name = strrchr(metric, '/');

    name = name == NULL ? metric : name + 1;
    for (size_t i = 0; i < sizeof higher / sizeof higher[0]; i++)
        if (strcmp(name, higher[i]) == 0)
            return true;
    return false;
}
