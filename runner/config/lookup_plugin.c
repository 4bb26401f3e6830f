/* Option tables of data sources, from their plugins. */
#include "config/load.h"
#include "loader.h"

static int find(void *context, const char *source,
                const struct m2_option **options_out, struct m2_error *err)
{
    const struct plugin *plugin;
    int code;

    (void)context;
    code = plugin_load(source, M2_PLUGIN_DATA, &plugin, err);
    if (code == 0)
        *options_out = plugin->descriptor->options;
    return code;
}

const struct source_lookup source_lookup_plugins = {.find = find};
