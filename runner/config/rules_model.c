/* Rules between the keys of the model block: what must divide what. */
#include "config/binding.h"

/* d_inner = expand * d_model; heads = d_inner / headdim. */
static void check_heads(const struct rules *rules)
{
    const struct config_model *model = &rules->config->model;
    int64_t inner = model->expand * model->d_model;
    const char *const *paths =
        KEYS("model.headdim", "model.d_model", "model.expand");

    if (!rules_can_check(rules, paths))
        return;
    if (inner % model->headdim != 0)
        message_error(rules->messages, rules_place(rules, paths),
                      "'model.headdim' %lld does not divide expand * d_model "
                      "= %lld * %lld = %lld",
                      (long long)model->headdim, (long long)model->expand,
                      (long long)model->d_model, (long long)inner);
    else if (rules_can_check(rules, KEYS("model.ngroups")) &&
             inner / model->headdim % model->ngroups != 0)
        message_error(rules->messages,
                      rules_place(rules, KEYS("model.ngroups", "model.headdim",
                                              "model.d_model", "model.expand")),
                      "'model.ngroups' %lld does not divide the number of "
                      "heads, expand * d_model / headdim = %lld",
                      (long long)model->ngroups,
                      (long long)(inner / model->headdim));
    if (rules_can_check(rules, KEYS("model.norm_groups")) &&
        inner % model->norm_groups != 0)
        message_error(rules->messages,
                      rules_place(rules, KEYS("model.norm_groups",
                                              "model.d_model", "model.expand")),
                      "'model.norm_groups' %lld does not divide expand * "
                      "d_model = %lld",
                      (long long)model->norm_groups, (long long)inner);
}

static void check_dt_limit(const struct rules *rules)
{
    const double *limit = rules->config->model.dt_limit;
    const char *const *paths = KEYS("model.dt_limit");

    if (rules_can_check(rules, paths) && !(limit[0] < limit[1]))
        message_error(rules->messages, rules_place(rules, paths),
                      "'model.dt_limit' must be [low, high] with low < high");
}

/* A forecast at row t of a window would be centred with rows after t. */
static void check_readout(const struct rules *rules)
{
    const struct config *config = rules->config;
    const char *const *paths = KEYS("model.readout", "data.window_norm");

    if (!rules_can_check(rules, paths))
        return;
    if (config->model.readout == READOUT_ALL &&
        config->data.window_norm != M2_NORM_NONE)
        message_error(rules->messages, rules_place(rules, paths),
                      "'model.readout' all with 'data.window_norm' would look "
                      "ahead: the rows before the last are centred with rows "
                      "after them");
}

void rules_check_model(const struct rules *rules)
{
    check_heads(rules);
    check_dt_limit(rules);
    check_readout(rules);
}
