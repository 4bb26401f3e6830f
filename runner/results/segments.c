/* From a list of attempts to the segments of a run. */
#include "results/segments.h"

#include <string.h>

static int64_t integer_of(const json_t *entry, const char *key, int64_t missing)
{
    const json_t *value = json_object_get(entry, key);

    return json_is_integer(value) ? json_integer_value(value) : missing;
}

/* Index of the attempt that the one at `at` went on from, or -1.  Records of
 * earlier versions do not name it: then it was the one before. */
static int64_t find_source(const json_t *attempts, int64_t at)
{
    const json_t *entry = json_array_get(attempts, (size_t)at);
    int64_t wanted = integer_of(entry, "from_attempt", 0);

    if (integer_of(entry, "from_step", 0) <= 0)
        return -1;
    if (wanted == 0)
        return at - 1;
    for (int64_t i = at - 1; i >= 0; i--)
        if (integer_of(json_array_get(attempts, (size_t)i), "attempt", 0) ==
            wanted)
            return i;
    return -1;
}

static struct segment segment_at(const json_t *attempts, int64_t at,
                                 int64_t to_step)
{
    const json_t *entry = json_array_get(attempts, (size_t)at);

    return (struct segment){
        .attempt = integer_of(entry, "attempt", at + 1),
        .from_step = integer_of(entry, "from_step", 0),
        .to_step = to_step,
        .entry = entry,
        .numerics = json_string_value(json_object_get(entry, "numerics")),
    };
}

bool segments_walk(const json_t *attempts,
                   bool (*visit)(void *context, const struct segment *segment),
                   void *context)
{
    int64_t at = (int64_t)json_array_size(attempts) - 1;
    int64_t to_step =
        integer_of(json_array_get(attempts, (size_t)at), "to_step", -1);

    while (at >= 0) {
        struct segment segment = segment_at(attempts, at, to_step);

        /* one that died where it had begun has left the next one a copy */
        if (segment.from_step != to_step && !visit(context, &segment))
            return false;
        to_step = segment.from_step;
        at = find_source(attempts, at);
    }
    return true;
}

static bool is_like_the_first(void *context, const struct segment *segment)
{
    const char **first = context;

    if (segment->numerics == NULL)
        return true;
    if (*first == NULL)
        *first = segment->numerics;
    return strcmp(*first, segment->numerics) == 0;
}

bool segments_are_mixed(const json_t *attempts)
{
    const char *first = NULL;

    return !segments_walk(attempts, is_like_the_first, &first);
}
