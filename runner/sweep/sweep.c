/* From an experiment to the ordered list of its runs. */
#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/axis.h"
#include "sweep/exclude.h"
#include "sweep/label.h"
#include "util/memory.h"

struct expansion {
    const struct experiment *experiment;
    struct sweep *sweep;
    struct messages *messages;
    struct m2_error *err;
    struct binding binding; /* of the run that is being made */
    size_t n_products;      /* points, before exclude */
    size_t *points;         /* (n_points) of the product, in order */
    struct exclusions exclusions;
    size_t n_broken; /* points that break a rule between keys */
};

enum { MAX_BROKEN_SHOWN = 10 };

/* Index of a group's values at a point of the product; the last group varies
 * fastest. */
static size_t value_index(const struct sweep *sweep, size_t group, size_t point)
{
    for (size_t i = sweep->n_groups - 1; i > group; i--)
        point /= sweep->groups[i].count;
    return point % sweep->groups[group].count;
}

/* ---- one run ------------------------------------------------------------ */

/* What a group says of a point: the label of its list, or its values. */
static void add_group(const struct sweep *sweep, size_t g, size_t point,
                      const struct sweep_run *run, struct text *label)
{
    const struct sweep_group *group = &sweep->groups[g];
    size_t k = value_index(sweep, g, point);

    if (group->labels != NULL && group->labels[k] != NULL) {
        label_add_word(label, group->labels[k]);
        return;
    }
    for (size_t i = group->first; i < group->first + group->n_axes; i++)
        if (run->settings[i].value != NULL)
            label_add(label, sweep->axes[i].short_name, run->settings[i].value);
}

/* The seed is told unless there is nothing to tell. */
static int set_label(struct expansion *expansion, struct sweep_run *run,
                     size_t point)
{
    const struct sweep *sweep = expansion->sweep;
    struct text label = {0};

    for (size_t g = 0; g < sweep->n_groups; g++)
        add_group(sweep, g, point, run, &label);
    if (sweep->n_groups == 0 && sweep->n_seeds == 1 &&
        sweep->seeds[0] == expansion->experiment->config.seed)
        text_add(&label, "run");
    else
        label_add_seed(&label, run->config.seed);
    run->label = text_steal(&label, expansion->err);
    text_free(&label);
    return run->label == NULL ? M2_E_MEMORY : 0;
}

/* Gives a config the values of a point. */
static void assign(struct expansion *expansion, size_t point,
                   struct config *config)
{
    const struct sweep *sweep = expansion->sweep;

    for (size_t g = 0; g < sweep->n_groups; g++) {
        const struct sweep_group *group = &sweep->groups[g];
        size_t k = value_index(sweep, g, point);

        for (size_t i = group->first; i < group->first + group->n_axes; i++)
            if (sweep->axes[i].nodes[k] != NULL)
                binding_assign(&expansion->binding, sweep->axes[i].row,
                               sweep->axes[i].nodes[k], config,
                               expansion->messages);
    }
}

static void set_settings(struct expansion *expansion, struct sweep_run *run,
                         size_t point)
{
    const struct sweep *sweep = expansion->sweep;
    const struct schema *schema = &expansion->experiment->schema;

    for (size_t g = 0; g < sweep->n_groups; g++) {
        const struct sweep_group *group = &sweep->groups[g];
        size_t k = value_index(sweep, g, point);

        for (size_t i = group->first; i < group->first + group->n_axes; i++)
            run->settings[i] = (struct sweep_setting){
                schema->rows[sweep->axes[i].row].path, sweep->axes[i].texts[k]};
    }
}

/* Nodes of the base again: a point of a list may leave a key as it is. */
static void reset_binding(struct expansion *expansion)
{
    const struct binding *base = &expansion->experiment->binding;

    for (size_t i = 0; i < expansion->sweep->n_axes; i++) {
        size_t row = expansion->sweep->axes[i].row;

        expansion->binding.nodes[row] = base->nodes[row];
        expansion->binding.is_wrong[row] = base->is_wrong[row];
    }
}

/* The rules between keys.  A random sweep can break one in a thousand ways: a
 * few of them say it all. */
static void check_rules(struct expansion *expansion,
                        const struct config *config)
{
    struct messages quiet = {0};
    struct messages *messages =
        expansion->n_broken < MAX_BROKEN_SHOWN ? expansion->messages : &quiet;
    size_t before = messages->n_errors;

    binding_check_rules(&expansion->binding, config, messages);
    expansion->n_broken += messages->n_errors > before;
    expansion->messages->failed = expansion->messages->failed || quiet.failed;
    messages_free(&quiet);
}

static void report_broken(const struct expansion *expansion)
{
    if (expansion->n_broken > MAX_BROKEN_SHOWN)
        message_error(expansion->messages, block_place(expansion->experiment),
                      "%zu of %zu points break a rule between keys; %d are "
                      "shown. 'exclude' leaves points out",
                      expansion->n_broken, expansion->sweep->n_points,
                      MAX_BROKEN_SHOWN);
}

static int make_run(struct expansion *expansion, size_t index)
{
    struct sweep *sweep = expansion->sweep;
    struct sweep_run *run = &sweep->runs[index];
    int code = config_copy(&expansion->experiment->config, &run->config,
                           expansion->err);
    size_t point;

    if (code != 0)
        return code;
    run->settings =
        memory_zeroed(sweep->n_axes, sizeof *run->settings, expansion->err);
    if (run->settings == NULL)
        return M2_E_MEMORY;
    run->point = index / sweep->n_seeds;
    run->config.seed = sweep->seeds[index % sweep->n_seeds];
    point = expansion->points[run->point];
    reset_binding(expansion);
    assign(expansion, point, &run->config);
    set_settings(expansion, run, point);
    if (index % sweep->n_seeds == 0) /* no rule looks at the seed */
        check_rules(expansion, &run->config);
    return set_label(expansion, run, point);
}

static int make_runs(struct expansion *expansion)
{
    struct sweep *sweep = expansion->sweep;
    size_t count = sweep->n_points * sweep->n_seeds;
    int code = 0;

    sweep->runs = memory_zeroed(count, sizeof *sweep->runs, expansion->err);
    if (sweep->runs == NULL)
        return M2_E_MEMORY;
    while (code == 0 && sweep->n_runs < count)
        code = make_run(expansion, sweep->n_runs++);
    report_broken(expansion);
    return code;
}

/* ---- the points --------------------------------------------------------- */

/* The size of the product; false when it is too large to be looked at. */
static bool count_products(struct expansion *expansion)
{
    struct sweep *sweep = expansion->sweep;
    double all = 1;

    for (size_t i = 0; i < sweep->n_groups; i++)
        all *= (double)sweep->groups[i].count;
    if (all > SWEEP_MAX_POINTS) {
        message_error(expansion->messages, block_place(expansion->experiment),
                      "the product of this sweep has %.0f points; it may have "
                      "%d",
                      all, SWEEP_MAX_POINTS);
        return false;
    }
    expansion->n_products = (size_t)all;
    return true;
}

static int choose_points(struct expansion *expansion)
{
    const struct config *base = &expansion->experiment->config;
    struct sweep *sweep = expansion->sweep;
    struct config config;
    int code = 0;

    expansion->points = memory_zeroed(
        expansion->n_products, sizeof *expansion->points, expansion->err);
    if (expansion->points == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; code == 0 && i < expansion->n_products; i++) {
        bool is_excluded = false;

        if (expansion->exclusions.n > 0) {
            code = config_copy(base, &config, expansion->err);
            if (code != 0)
                break;
            assign(expansion, i, &config);
            is_excluded = exclusions_apply(&expansion->exclusions, &config,
                                           expansion->messages);
            config_free(&config);
        }
        if (!is_excluded)
            expansion->points[sweep->n_points++] = i;
    }
    sweep->n_excluded = expansion->n_products - sweep->n_points;
    exclusions_report(&expansion->exclusions, expansion->n_products,
                      sweep->n_points, expansion->messages);
    return code;
}

/* False, after a message, when there are more runs than allowed. */
static bool check_count(struct expansion *expansion)
{
    const struct experiment *experiment = expansion->experiment;
    const struct sweep *sweep = expansion->sweep;
    size_t limit = block_max_runs(experiment, expansion->messages);

    if (sweep->n_points <= limit / sweep->n_seeds)
        return true;
    message_error(expansion->messages, block_place(experiment),
                  "this sweep has %.0f runs: %zu configuration%s with %zu "
                  "seed%s each; the limit is %zu, and sweep.max_runs=N allows "
                  "more",
                  (double)sweep->n_points * (double)sweep->n_seeds,
                  sweep->n_points, sweep->n_points == 1 ? "" : "s",
                  sweep->n_seeds, sweep->n_seeds == 1 ? "" : "s", limit);
    return false;
}

static int expand_points(struct expansion *expansion)
{
    int code = binding_copy(&expansion->experiment->binding,
                            &expansion->binding, expansion->err);

    if (code == 0)
        code = choose_points(expansion);
    if (code == 0 && expansion->sweep->n_points > 0 && check_count(expansion))
        code = make_runs(expansion);
    binding_free(&expansion->binding);
    free(expansion->points);
    return code;
}

/* Whether there are values to combine.  The rules are checked although single
 * keys may be wrong: they leave out what they cannot judge. */
static bool is_complete(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_groups; i++)
        if (sweep->groups[i].count == 0)
            return false;
    return sweep->n_seeds > 0;
}

/* The runs; errors of the sweep block go to the messages. */
static int expand(const struct experiment *experiment, struct sweep *sweep,
                  struct messages *messages, struct m2_error *err)
{
    struct expansion expansion = {
        .experiment = experiment,
        .sweep = sweep,
        .messages = messages,
        .err = err,
    };
    int code;

    block_check(experiment, messages);
    code = block_read_seeds(experiment, sweep, messages, err);
    if (code == 0)
        code = axes_read(experiment, sweep, messages, err);
    if (code == 0)
        code = exclusions_read(experiment, &sweep->tree, messages,
                               &expansion.exclusions, err);
    if (code == 0 && is_complete(sweep) && count_products(&expansion))
        code = expand_points(&expansion);
    exclusions_free(&expansion.exclusions);
    if (code == 0 && sweep->tree.failed)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    return code;
}

int sweep_load(const struct experiment_request *request,
               struct experiment *experiment, struct sweep *sweep,
               struct messages *messages, struct m2_error *err)
{
    int code = experiment_load(request, experiment, messages, err);

    *sweep = (struct sweep){0};
    tree_init(&sweep->tree);
    if (experiment->root == NULL || experiment->binding.nodes == NULL)
        return code;
    code = expand(experiment, sweep, messages, err);
    if (code != 0)
        return code;
    return messages_result(messages, request->path, err);
}

/* ---- afterwards --------------------------------------------------------- */

static void free_run(struct sweep_run *run)
{
    config_free(&run->config);
    free(run->label);
    free(run->settings);
}

void sweep_fold(struct sweep *sweep, const bool *is_double)
{
    size_t kept = 0, last = 0;

    sweep->n_points = 0;
    for (size_t i = 0; i < sweep->n_runs; i++) {
        if (is_double[i]) {
            free_run(&sweep->runs[i]);
            continue;
        }
        if (kept == 0 || sweep->runs[i].point != last)
            sweep->n_points++;
        last = sweep->runs[i].point;
        sweep->runs[kept++] = sweep->runs[i];
    }
    sweep->n_folded += sweep->n_runs - kept;
    sweep->n_runs = kept;
}

void sweep_free(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_runs; i++)
        free_run(&sweep->runs[i]);
    free(sweep->runs);
    free(sweep->seeds);
    axes_free(sweep);
    tree_free(&sweep->tree);
    *sweep = (struct sweep){0};
}
