/* Rules of data.split: the three parts together. */
#include "config/binding.h"
#include "util/number.h"

static const char *const split_paths[] = {"data.split.train", "data.split.val",
                                          "data.split.test", NULL};

/* A part of no rows may stand beside any kind of bound. */
static bool is_empty(const struct split_bound *bound)
{
    return bound->kind == BOUND_FRACTION && bound->fraction == 0;
}

static struct place place_from(const struct rules *rules, size_t part)
{
    return rules_place(rules, split_paths + part);
}

/* Dates beside shares or counts: where would the part begin? */
static void check_kinds(const struct rules *rules,
                        const struct split_bound *const *parts)
{
    for (size_t i = 1; i < 3; i++) {
        bool is_date = parts[i]->kind == BOUND_DATE;

        if (is_empty(parts[i]) || is_empty(parts[0]) ||
            is_date == (parts[0]->kind == BOUND_DATE))
            continue;
        message_error(rules->messages, place_from(rules, i),
                      "'%s' and 'data.split.train' must both be dates, or "
                      "neither; 0 leaves a part out",
                      split_paths[i]);
    }
}

static void check_order(const struct rules *rules,
                        const struct split_bound *const *parts)
{
    const struct split_bound *before = parts[0];

    for (size_t i = 1; i < 3; i++) {
        if (parts[i]->kind != BOUND_DATE || before->kind != BOUND_DATE)
            continue;
        if (parts[i]->time_ns <= before->time_ns)
            message_error(rules->messages, place_from(rules, i),
                          "'%s' is the date at which the part ends, and must "
                          "be later than the end of the part before",
                          split_paths[i]);
        before = parts[i];
    }
}

static void check_sum(const struct rules *rules,
                      const struct split_bound *const *parts)
{
    char printed[NUMBER_TEXT_SIZE];
    double sum = 0;

    for (size_t i = 0; i < 3; i++)
        sum += parts[i]->kind == BOUND_FRACTION ? parts[i]->fraction : 0;
    if (sum <= 1 + 1e-9)
        return;
    /* 0.8 + 0.2 + 0.2 is 1.2 and not 1.2000000000000002 */
    snprintf(printed, sizeof printed, "%.6g", sum);
    message_error(rules->messages, place_from(rules, 0),
                  "the fractions of 'data.split' add up to %s, more than 1",
                  printed);
}

void rules_check_split(const struct rules *rules)
{
    const struct config_data *data = &rules->config->data;
    const struct split_bound *const parts[] = {
        &data->split.train, &data->split.val, &data->split.test};

    if (!rules_can_check(rules, split_paths))
        return;
    if (is_empty(parts[0]))
        message_error(rules->messages, place_from(rules, 0),
                      "'data.split.train' is 0: nothing to train on");
    check_kinds(rules, parts);
    check_order(rules, parts);
    check_sum(rules, parts);
}
