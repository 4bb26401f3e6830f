/* What a run says of itself: its data, its baselines, what it reached. */
#include "train/tell.h"

#include <inttypes.h>
#include <math.h>

#include "util/log.h"
#include "util/number.h"
#include "util/text.h"

/* A directory of a thousand files has a fact for each. */
#define MAX_FACTS 12

static void tell_fact(const struct dataset_fact *fact)
{
    const char *where = fact->where != NULL ? fact->where : "";
    const char *first = *where != '\0' ? ", first at " : "";

    if (fact->warning)
        log_warning("%" PRIu64 " %s%s%s", fact->n, fact->what, first, where);
    else
        log_detail("%" PRIu64 " %s%s%s", fact->n, fact->what, first, where);
}

void tell_facts(const struct session *session)
{
    const struct dataset *dataset = &session->dataset;

    log_detail("device %s: %s", device_label(session->device),
               session->facts.name);
    for (size_t i = 0; i < dataset->n_facts; i++)
        if (i < MAX_FACTS || dataset->facts[i].warning)
            tell_fact(&dataset->facts[i]);
    if (dataset->n_facts > MAX_FACTS)
        log_detail("and so on, %zu facts; `m2run data` lists them",
                   dataset->n_facts);
    for (enum part part = 0; part < N_PARTS; part++)
        log_detail("%s: %" PRId64 " rows, %" PRId64 " windows",
                   part_names[part], dataset->part_rows[part],
                   dataset->parts[part].n);
}

void tell_baselines(const struct evaluator *evaluator)
{
    const struct baseline_scores *scores =
        evaluator_baselines(evaluator, PART_VAL);

    for (int i = 0; i < N_BASELINES; i++)
        if (scores->valid[i])
            log_detail("baseline %s: val/mse %.6g, val/mae %.6g",
                       baseline_names[i], scores->mse[i], scores->mae[i]);
}

static void tell_score(const char *what, const struct score *score)
{
    struct text text = {0};

    for (size_t i = 0; i < score->n; i++)
        text_addf(&text, "%s%s %.6g", i > 0 ? ", " : "", score->items[i].name,
                  score->items[i].value);
    if (score->n > 0)
        log_detail("%s: %s", what, text_string(&text));
    text_free(&text);
}

/* What the training itself cost in this process. */
static void tell_cost(const struct session *session,
                      const struct train_outcome *outcome)
{
    double per_window = outcome->step_seconds / (double)outcome->samples;
    int64_t n = session->dataset.parts[PART_TRAIN].n;

    if (outcome->samples > 0)
        log_detail("%" PRId64 " windows per epoch: %.4g s per epoch, %.4g ms "
                   "per training window; %.4g s in all, %.4g s of it in steps",
                   n, per_window * (double)n, 1e3 * per_window,
                   outcome->seconds, outcome->step_seconds);
}

static void add_score(struct text *out, const char *name,
                      const struct score *score, const char *item)
{
    double value;

    if (score_find(score, item, &value) && !isnan(value))
        text_addf(out, ", %s %.6g", name, value);
}

static void tell_line(const struct session *session,
                      const struct train_outcome *outcome,
                      const struct score *best, const struct score *test)
{
    struct text text = {0};
    char took[NUMBER_TEXT_SIZE];

    text_addf(&text, "done in %s: %s %.6g",
              number_print_duration(outcome->seconds, took),
              session->config->metric, outcome->best_value);
    text_addf(&text, " at step %" PRId64 " of %" PRId64 "%s",
              outcome->state.best_step, outcome->state.step,
              outcome->early_stopped ? " (stopped early)" : "");
    add_score(&text, "val/skill", best, "skill");
    add_score(&text, "test/loss", test, "loss");
    add_score(&text, "test/skill", test, "skill");
    log_info("%s", text_string(&text));
    text_free(&text);
}

void tell_end(const struct session *session,
              const struct train_outcome *outcome, const struct score *best,
              const struct score *test)
{
    char what[64];

    snprintf(what, sizeof what, "best validation, step %" PRId64,
             outcome->state.best_step);
    tell_score(what, best);
    tell_score("test, once", test);
    tell_cost(session, outcome);
    tell_line(session, outcome, best, test);
}
