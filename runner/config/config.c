/* Copying and freeing a config; direction of metrics. */
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

void config_free(struct config *config)
{
    struct config_data *data = &config->data;

    free(config->name);
    free(config->device);
    free(config->metric);
    free(data->source);
    free_strings(data->paths, data->n_paths);
    free_strings(data->features, data->n_features);
    free_strings(data->targets, data->n_targets);
    for (size_t i = 0; i < data->n_options; i++) {
        free(data->options[i].name);
        free_strings(data->options[i].texts, data->options[i].n_texts);
    }
    free(data->options);
    free(config->model.type);
    free(config->model.init_from);
    *config = (struct config){0};
}

/* Both copy into members that hold the pointers of the original. */
static int copy_string(const char *from, char **to, struct m2_error *err)
{
    *to = NULL;
    if (from == NULL)
        return 0;
    *to = memory_string(from, err);
    return *to == NULL ? M2_E_MEMORY : 0;
}

static int copy_strings(char *const *from, size_t count, char ***to, size_t *n,
                        struct m2_error *err)
{
    *n = 0;
    *to = memory_zeroed(count, sizeof **to, err);
    if (*to == NULL)
        return M2_E_MEMORY;
    for (; *n < count; (*n)++)
        if (copy_string(from[*n], &(*to)[*n], err) != 0)
            return M2_E_MEMORY;
    return 0;
}

static int copy_options(const struct config_data *from, struct config_data *to,
                        struct m2_error *err)
{
    to->n_options = 0;
    to->options = memory_zeroed(from->n_options, sizeof *to->options, err);
    if (to->options == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < from->n_options; i++) {
        struct config_option *option = &to->options[i];

        *option = from->options[i];
        option->name = NULL;
        option->texts = NULL;
        to->n_options = i + 1;
        if (copy_strings(from->options[i].texts, from->options[i].n_texts,
                         &option->texts, &option->n_texts, err) != 0 ||
            copy_string(from->options[i].name, &option->name, err) != 0)
            return M2_E_MEMORY;
    }
    return 0;
}

static int copy_data(const struct config_data *from, struct config_data *to,
                     struct m2_error *err)
{
    if (copy_string(from->source, &to->source, err) != 0 ||
        copy_strings(from->paths, from->n_paths, &to->paths, &to->n_paths,
                     err) != 0 ||
        copy_strings(from->features, from->n_features, &to->features,
                     &to->n_features, err) != 0 ||
        copy_strings(from->targets, from->n_targets, &to->targets,
                     &to->n_targets, err) != 0)
        return M2_E_MEMORY;
    return copy_options(from, to, err);
}

/* The numbers of a config, without what it owns. */
static struct config copy_plain(const struct config *from)
{
    struct config to = *from;

    to.name = to.device = to.metric = NULL;
    to.data.source = NULL;
    to.data.paths = to.data.features = to.data.targets = NULL;
    to.data.n_paths = to.data.n_features = to.data.n_targets = 0;
    to.data.options = NULL;
    to.data.n_options = 0;
    to.model.type = to.model.init_from = NULL;
    return to;
}

int config_copy(const struct config *from, struct config *to,
                struct m2_error *err)
{
    struct config copy = copy_plain(from);

    if (copy_string(from->name, &copy.name, err) != 0 ||
        copy_string(from->device, &copy.device, err) != 0 ||
        copy_string(from->metric, &copy.metric, err) != 0 ||
        copy_string(from->model.type, &copy.model.type, err) != 0 ||
        copy_string(from->model.init_from, &copy.model.init_from, err) != 0 ||
        copy_data(&from->data, &copy.data, err) != 0) {
        config_free(&copy);
        return M2_E_MEMORY;
    }
    *to = copy;
    return 0;
}
