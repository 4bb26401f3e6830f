/* The rule table: state and options to action. */
#include "schedule/policy.h"

#include <string.h>

#include "util/number.h"
#include "util/suggest.h"

struct rule {
    const char *state;
    bool retried; /* by --retry all */
    enum run_action plain, retry, fresh;
};

static const struct rule rules[] = {
    {"pending", true, ACTION_START, ACTION_START, ACTION_START},
    {"stopped", true, ACTION_CONTINUE, ACTION_CONTINUE, ACTION_ANEW},
    {"interrupted", true, ACTION_CONTINUE, ACTION_CONTINUE, ACTION_ANEW},
    {"running", false, ACTION_WAIT, ACTION_WAIT, ACTION_WAIT},
    {"done", false, ACTION_SKIP, ACTION_SKIP, ACTION_AGAIN},
    {"failed", true, ACTION_SKIP, ACTION_AGAIN, ACTION_AGAIN},
    {"diverged", true, ACTION_SKIP, ACTION_AGAIN, ACTION_AGAIN},
    {"oom", true, ACTION_SKIP, ACTION_AGAIN, ACTION_AGAIN},
};

enum { N_RULES = sizeof rules / sizeof *rules };

static const struct rule *find_rule(const char *state, size_t length)
{
    for (size_t i = 0; i < N_RULES; i++)
        if (strncmp(rules[i].state, state, length) == 0 &&
            rules[i].state[length] == '\0')
            return &rules[i];
    return NULL;
}

static unsigned bit_of(const struct rule *rule)
{
    return 1u << (rule - rules);
}

static int refuse(const char *word, int length, struct m2_error *err)
{
    struct suggestion near;
    char copy[32];

    snprintf(copy, sizeof copy, "%.*s", length, word);
    if (strcmp(copy, "done") == 0)
        return m2_fail(err, M2_E_USAGE,
                       "--retry: a run that is done has nothing to retry; "
                       "--fresh runs it again");
    near = suggest_start(copy);
    for (size_t i = 0; i < N_RULES; i++)
        if (rules[i].retried)
            suggest_try(&near, rules[i].state);
    if (near.best != NULL)
        return m2_fail(err, M2_E_USAGE,
                       "--retry: unknown state '%s'; did you mean '%s'?", copy,
                       near.best);
    return m2_fail(err, M2_E_USAGE,
                   "--retry: unknown state '%s'; there are failed, diverged, "
                   "oom, stopped, interrupted, all",
                   copy);
}

int policy_parse_retry(const char *text, unsigned *out, struct m2_error *err)
{
    unsigned states = 0;

    for (;;) {
        size_t length = strcspn(text, ",");
        const struct rule *rule = find_rule(text, length);

        if (length == 3 && strncmp(text, "all", 3) == 0) {
            for (size_t i = 0; i < N_RULES; i++)
                states |= rules[i].retried ? bit_of(&rules[i]) : 0;
        } else if (rule != NULL && rule->retried) {
            states |= bit_of(rule);
        } else {
            return refuse(text, (int)length, err);
        }
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *out = states;
    return 0;
}

enum run_action policy_action(const struct run_policy *policy,
                              const char *state)
{
    const struct rule *rule = find_rule(state, strlen(state));
    enum run_action action = ACTION_SKIP;

    if (rule == NULL)
        return action;
    action = rule->plain;
    if ((policy->retry & bit_of(rule)) != 0)
        action = rule->retry;
    if (policy->fresh)
        action = rule->fresh;
    if (action == ACTION_WAIT && policy->takeover)
        action = ACTION_TAKE_OVER;
    else if (action == ACTION_WAIT && policy->no_wait)
        action = ACTION_LEAVE;
    return action;
}

const char *policy_action_name(enum run_action action)
{
    static const char *const names[] = {
        [ACTION_START] = "start",   [ACTION_CONTINUE] = "continue",
        [ACTION_ANEW] = "anew",     [ACTION_AGAIN] = "again",
        [ACTION_SKIP] = "skip",     [ACTION_WAIT] = "wait",
        [ACTION_LEAVE] = "leave",   [ACTION_TAKE_OVER] = "take over",
        [ACTION_REFUSE] = "refuse",
    };

    return names[action];
}

int policy_parse_limit(const char *text, struct failure_limit *out,
                       struct m2_error *err)
{
    struct failure_limit limit = {.percent = false};
    char digits[24];
    size_t length = strlen(text);

    if (length > 0 && text[length - 1] == '%') {
        limit.percent = true;
        length--;
    }
    snprintf(digits, sizeof digits, "%.*s", (int)length, text);
    if (length >= sizeof digits || !number_parse_int(digits, &limit.value) ||
        limit.value < 0 || (limit.percent && limit.value > 100))
        return m2_fail(err, M2_E_USAGE,
                       "--max-failures is a number of runs, or a percentage "
                       "of all as 20%%, not '%s'",
                       text);
    *out = limit;
    return 0;
}

bool policy_limit_reached(const struct failure_limit *limit, uint64_t n_failed,
                          uint64_t n_runs)
{
    uint64_t value = (uint64_t)limit->value;

    if (value == 0 || n_failed == 0)
        return false;
    return limit->percent
               ? (double)n_failed * 100.0 >= (double)value * (double)n_runs
               : n_failed >= value;
}
