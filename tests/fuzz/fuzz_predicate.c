/* libFuzzer: any text as a condition of exclude.
 *
 * It is accepted or reported, never both and never neither; what is accepted
 * has one value for a config, and its negation the other. */
#include <stdlib.h>
#include <string.h>

#include "../unit/option_tables.h"
#include "sweep/predicate.h"
#include "sweep/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char experiment_text[] =
    "data: {features: [close, volume], target: [close]}\n";

struct fixture {
    struct experiment experiment;
    struct sweep sweep;
};

/* The value of a condition; false for a wrong one, told in *is_wrong. */
static bool evaluate(struct fixture *f, const char *text, bool *is_wrong)
{
    struct messages messages = {0};
    const struct predicate_scope scope = {&f->experiment.schema,
                                          &f->experiment.config, &f->sweep.tree,
                                          &messages};
    struct node *node =
        node_new_scalar(&f->sweep.tree, f->experiment.binding.whole, text);
    struct predicate *predicate;
    struct text said = {0};
    struct m2_error err;
    bool holds = false, failed = false;

    if (predicate_parse(&scope, node, &predicate, &err) != 0)
        abort();
    messages_print(&messages, &said);
    *is_wrong = predicate == NULL;
    if (*is_wrong != (messages.n_errors > 0))
        abort();
    if (predicate != NULL) {
        holds = predicate_holds(predicate, &f->experiment.config, &failed);
        if (holds != predicate_holds(predicate, &f->experiment.config, &failed))
            abort();
    }
    predicate_free(predicate);
    messages_free(&messages);
    text_free(&said);
    return holds;
}

static void check(struct fixture *f, const char *text)
{
    struct text negated = {0};
    bool is_wrong, negation_is_wrong;
    bool holds = evaluate(f, text, &is_wrong);

    text_addf(&negated, "!(%s)", text);
    /* a longer one may pass a limit */
    if (!is_wrong &&
        evaluate(f, text_string(&negated), &negation_is_wrong) == holds &&
        !negation_is_wrong)
        abort();
    text_free(&negated);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct experiment_request request = {
        .path = "fuzz.yaml",
        .text = experiment_text,
        .size = sizeof experiment_text - 1,
        .lookup = &test_lookup,
    };
    struct messages messages = {0};
    struct fixture f;
    struct m2_error err;
    char *text = malloc(size + 1);

    memcpy(text, bytes, size);
    text[size] = '\0';
    if (sweep_load(&request, &f.experiment, &f.sweep, &messages, &err) != 0)
        abort();
    check(&f, text);
    sweep_free(&f.sweep);
    experiment_free(&f.experiment);
    messages_free(&messages);
    free(text);
    return 0;
}
