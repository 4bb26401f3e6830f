/* Experiments in a text, expanded to runs: shared by the tests of sweeps. */
#ifndef M2_TESTS_SWEEP_FIXTURE_H
#define M2_TESTS_SWEEP_FIXTURE_H

#include "unit.h"

#include "option_tables.h"
#include "sweep/sweep.h"

#define COLUMNS "data: {features: [close], target: [close]}\n"

struct expanded {
    struct experiment experiment;
    struct sweep sweep;
    struct messages messages;
    struct m2_error err;
    int code;
};

static inline void expand(struct expanded *e, const char *text,
                          const char *const *overrides, size_t n_overrides)
{
    struct experiment_request request = {
        .path = "t.yaml",
        .text = text,
        .size = strlen(text),
        .overrides = overrides,
        .n_overrides = n_overrides,
        .lookup = &test_lookup,
    };

    e->messages = (struct messages){0};
    e->code =
        sweep_load(&request, &e->experiment, &e->sweep, &e->messages, &e->err);
}

static inline void expand_ok(struct expanded *e, const char *text,
                             const char *const *overrides, size_t n_overrides)
{
    expand(e, text, overrides, n_overrides);
    if (e->code != 0)
        fail_msg("%s", e->messages.count > 0 ? e->messages.items[0].text : "");
}

static inline void finish(struct expanded *e)
{
    sweep_free(&e->sweep);
    experiment_free(&e->experiment);
    messages_free(&e->messages);
}

static inline void assert_labels(const struct expanded *e,
                                 const char *const *labels, size_t n)
{
    assert_int_equal(e->sweep.n_runs, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(e->sweep.runs[i].label, labels[i]);
}

#endif
