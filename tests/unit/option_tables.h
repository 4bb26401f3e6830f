/* Option tables of data sources for the tests of config and sweep: they need
 * no plugin, and stay as they are when a plugin gets a new option. */
#ifndef M2_TESTS_OPTION_TABLES_H
#define M2_TESTS_OPTION_TABLES_H

#include <string.h>

#include "config/load.h"

static const char *const test_kinds[] = {"bars", "sine_mix", NULL};

static const struct m2_option test_synthetic[] = {
    {"kind", M2_OPTION_CHOICE, "bars", 0, 0, test_kinds, "What is made."},
    {"rows", M2_OPTION_INT, "4000", 1, 1e8, NULL, "Rows."},
    {"ic", M2_OPTION_FLOAT, "0.1", 0, 1, NULL, "Coefficient."},
    {"step", M2_OPTION_STRING, "1m", 0, 0, NULL, "Distance of rows."},
    {"wrap", M2_OPTION_BOOL, "false", 0, 0, NULL, "Start over."},
    {0},
};

static const struct m2_option test_csv[] = {
    {"delimiter", M2_OPTION_STRING, ",", 0, 0, NULL, "Between cells."},
    {"time", M2_OPTION_STRINGS, NULL, 0, 0, NULL, "Columns of the time."},
    {"comment", M2_OPTION_STRING, "", 0, 0, NULL, "Start of a comment."},
    {0},
};

static const struct m2_option test_dbn[] = {
    {"instrument", M2_OPTION_STRING, NULL, 0, 0, NULL, "Which contract."},
    {0},
};

static int test_find_options(void *context, const char *source,
                             const struct m2_option **options_out,
                             struct m2_error *err)
{
    static const struct {
        const char *name;
        const struct m2_option *options;
    } sources[] = {
        {"synthetic", test_synthetic},
        {"csv", test_csv},
        {"dbn", test_dbn},
    };

    (void)context;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        if (strcmp(sources[i].name, source) != 0)
            continue;
        *options_out = sources[i].options;
        return 0;
    }
    return m2_fail(err, M2_E_DEVICE, "no data plugin '%s'", source);
}

static const struct source_lookup test_lookup = {.find = test_find_options};

#endif
