/* The direction of a metric, by its name. */
#include "results/metric.h"

#include <stddef.h>
#include <string.h>

static const char *name_of(const char *metric)
{
    const char *slash = strrchr(metric, '/');

    return slash == NULL ? metric : slash + 1;
}

bool metric_is_count(const char *metric)
{
    return strcmp(name_of(metric), "hit_n") == 0;
}

bool metric_is_higher_better(const char *metric)
{
    static const char *const higher[] = {"hit_rate", "ic", "rank_ic", "skill"};
    const char *name = name_of(metric);

    for (size_t i = 0; i < sizeof higher / sizeof higher[0]; i++)
        if (strcmp(name, higher[i]) == 0)
            return true;
    return false;
}
