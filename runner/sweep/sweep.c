/* From an experiment to the ordered list of its runs. */
#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/axis.h"
#include "sweep/label.h"
#include "util/memory.h"

struct expansion {
    const struct experiment *experiment;
    struct sweep *sweep;
    struct messages *messages;
    struct m2_error *err;
    struct binding binding; /* of the run that is being made */
};

/* Index of an axis' value at a grid point; the last axis varies fastest. */
static size_t value_index(const struct sweep *sweep, size_t axis, size_t point)
{
    for (size_t i = sweep->n_axes - 1; i > axis; i--)
        point /= sweep->axes[i].count;
    return point % sweep->axes[axis].count;
}

/* ---- one run ------------------------------------------------------------ */

static int set_label(struct expansion *expansion, struct sweep_run *run)
{
    const struct sweep *sweep = expansion->sweep;
    struct text label = {0};

    for (size_t i = 0; i < sweep->n_axes; i++)
        label_add(&label, sweep->axes[i].short_name, run->settings[i].value);
    if (sweep->n_axes == 0 && sweep->n_seeds == 1)
        text_add(&label, "run");
    else
        label_add_seed(&label, run->config.seed);
    run->label = text_steal(&label, expansion->err);
    text_free(&label);
    return run->label == NULL ? M2_E_MEMORY : 0;
}

static void assign(struct expansion *expansion, struct sweep_run *run)
{
    const struct sweep *sweep = expansion->sweep;
    const struct schema *schema = &expansion->experiment->schema;

    for (size_t i = 0; i < sweep->n_axes; i++) {
        const struct sweep_axis *axis = &sweep->axes[i];
        size_t k = value_index(sweep, i, run->point);

        binding_assign(&expansion->binding, axis->row, axis->nodes[k],
                       &run->config, expansion->messages);
        run->settings[i] = (struct sweep_setting){schema->rows[axis->row].path,
                                                  axis->texts[k]};
    }
}

static int make_run(struct expansion *expansion, size_t index)
{
    struct sweep *sweep = expansion->sweep;
    struct sweep_run *run = &sweep->runs[index];
    int code = config_copy(&expansion->experiment->config, &run->config,
                           expansion->err);

    if (code != 0)
        return code;
    run->settings =
        memory_zeroed(sweep->n_axes, sizeof *run->settings, expansion->err);
    if (run->settings == NULL)
        return M2_E_MEMORY;
    run->point = index / sweep->n_seeds;
    run->config.seed += index % sweep->n_seeds;
    assign(expansion, run);
    if (index % sweep->n_seeds == 0) /* no rule looks at the seed */
        binding_check_rules(&expansion->binding, &run->config,
                            expansion->messages);
    return set_label(expansion, run);
}

static int make_runs(struct expansion *expansion)
{
    const struct binding *binding = &expansion->experiment->binding;
    struct sweep *sweep = expansion->sweep;
    size_t count = sweep->n_points * sweep->n_seeds;
    int code;

    sweep->runs = memory_zeroed(count, sizeof *sweep->runs, expansion->err);
    if (sweep->runs == NULL)
        return M2_E_MEMORY;
    code = binding_copy(binding, &expansion->binding, expansion->err);
    while (code == 0 && sweep->n_runs < count)
        code = make_run(expansion, sweep->n_runs++);
    binding_free(&expansion->binding);
    return code;
}

/* ---- how many ----------------------------------------------------------- */

static void report_count(struct expansion *expansion, const char *what)
{
    const struct experiment *experiment = expansion->experiment;
    struct place place = experiment->binding.whole;

    if (experiment->sweep != NULL && experiment->sweep->key != NULL)
        place = experiment->sweep->key->place;
    message_error(expansion->messages, place, "%s", what);
}

/* The number of points; false when there are too many runs. */
static bool count_points(struct expansion *expansion)
{
    struct sweep *sweep = expansion->sweep;
    size_t count = 1;

    for (size_t i = 0; i < sweep->n_axes; i++) {
        count *= sweep->axes[i].count;
        if (count * sweep->n_seeds > SWEEP_MAX_RUNS) {
            report_count(expansion, "more than 10000 runs");
            return false;
        }
    }
    if (expansion->experiment->config.seed > UINT64_MAX - sweep->n_seeds) {
        report_count(expansion, "'seed' is so large that seed + seeds does "
                                "not fit");
        return false;
    }
    sweep->n_points = count;
    return true;
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

    axes_check_block(experiment, messages);
    sweep->n_seeds = axes_read_seeds(experiment, messages);
    code = axes_read(experiment, sweep, messages, err);
    if (code != 0)
        return code;
    /* the rules are checked although single keys may be wrong: they leave out
     * what they cannot judge */
    for (size_t i = 0; i < sweep->n_axes; i++)
        if (sweep->axes[i].count == 0)
            return 0;
    return count_points(&expansion) ? make_runs(&expansion) : 0;
}

int sweep_load(const struct experiment_request *request,
               struct experiment *experiment, struct sweep *sweep,
               struct messages *messages, struct m2_error *err)
{
    int code = experiment_load(request, experiment, messages, err);

    *sweep = (struct sweep){0};
    if (experiment->root == NULL || experiment->binding.nodes == NULL)
        return code;
    code = expand(experiment, sweep, messages, err);
    if (code != 0)
        return code;
    return messages_result(messages, request->path, err);
}

void sweep_free(struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->n_runs; i++) {
        config_free(&sweep->runs[i].config);
        free(sweep->runs[i].label);
        free(sweep->runs[i].settings);
    }
    free(sweep->runs);
    axes_free(sweep->axes, sweep->n_axes);
    *sweep = (struct sweep){0};
}
