/* Options of the dbn source: the table, and from values to settings. */
#include "dbn/dbn.h"

#include <string.h>

enum option {
    OPTION_INSTRUMENT,
    OPTION_FRONT_ROOT,
    OPTION_SCHEMA,
    OPTION_PUBLISHER,
    OPTION_DUPLICATES,
    OPTION_SORT,
    OPTION_ALLOW_TRUNCATED,
    OPTION_FRAGMENT,
    N_OPTIONS
};

static const char *const schemas[] = {
    "auto", "ohlcv-1s", "ohlcv-1m", "ohlcv-1h", "ohlcv-1d", "ohlcv-eod", NULL};

const struct m2_option dbn_options[] = {
    [OPTION_INSTRUMENT] =
        {"instrument", M2_OPTION_STRINGS, NULL, 0, 0, NULL,
         "Which instruments become series: a symbol (6EH4), a pattern with * "
         "and ? (6E?4), a list of them, or front: per root, on each UTC day, "
         "the outright future that had the most volume on the day before in "
         "the files (on the first day: on that day), never back to an earlier "
         "expiry. Needed when the files hold more than one."},
    [OPTION_FRONT_ROOT] = {"front_root", M2_OPTION_STRING, NULL, 0, 0, NULL,
                           "With front: follow this root alone, as 6E."},
    [OPTION_SCHEMA] =
        {"schema", M2_OPTION_CHOICE, "auto", 0, 0, schemas,
         "Which bars are read; auto: those the metadata names, or the only "
         "kind there is."},
    [OPTION_PUBLISHER] =
        {"publisher", M2_OPTION_INT, NULL, 0, 65535, NULL,
         "Read the bars of this publisher (venue) only. Needed where several "
         "publish the same instrument, as for options."},
    [OPTION_DUPLICATES] =
        {"duplicates", M2_OPTION_CHOICE, "error", 0, 0, duplicates_names,
         "Two bars of a series at one time: an error, or keep the first or "
         "the last one read. The latter hold the series in memory."},
    [OPTION_SORT] = {"sort", M2_OPTION_BOOL, "false", 0, 0, NULL,
                     "Accept bars out of order, also of files that overlap, "
                     "and sort them; holds the series in memory."},
    [OPTION_ALLOW_TRUNCATED] =
        {"allow_truncated", M2_OPTION_BOOL, "false", 0, 0, NULL,
         "Accept files that end in the middle of a record or of a zstd frame."},
    [OPTION_FRAGMENT] =
        {"fragment", M2_OPTION_BOOL, "false", 0, 0, NULL,
         "Accept files that hold records without metadata (*.dbn.frag); "
         "instruments are then known by number only."},
    [N_OPTIONS] = {0},
};

static const char *text_of(const struct m2_value *value)
{
    return value->n_texts > 0 ? value->texts[0] : NULL;
}

int settings_read(const struct m2_data_open *open, struct settings *out,
                  struct m2_error *err)
{
    const struct m2_value *v = open->options;

    for (size_t i = 0; i < N_OPTIONS; i++)
        if (i >= open->n_options || strcmp(v[i].name, dbn_options[i].name) != 0)
            return m2_fail(err, M2_E_INTERNAL, "dbn: option %s is missing",
                           dbn_options[i].name);
    const char *schema = text_of(&v[OPTION_SCHEMA]);
    const struct m2_value *instrument = &v[OPTION_INSTRUMENT];
    struct settings s = {
        .instruments = instrument->texts,
        .n_instruments = instrument->n_texts,
        .front = instrument->n_texts == 1 &&
                 strcmp(instrument->texts[0], "front") == 0,
        .front_root = text_of(&v[OPTION_FRONT_ROOT]),
        .schema = strcmp(schema, "auto") == 0 ? NULL : schema,
        .publisher =
            v[OPTION_PUBLISHER].n_texts > 0 ? v[OPTION_PUBLISHER].integer : -1,
        .duplicates = duplicates_from(text_of(&v[OPTION_DUPLICATES])),
        .sort = v[OPTION_SORT].integer != 0,
        .allow_truncated = v[OPTION_ALLOW_TRUNCATED].integer != 0,
        .fragment = v[OPTION_FRAGMENT].integer != 0,
    };
    if (s.front_root != NULL && !s.front)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.front_root: '%s' needs "
                       "`instrument: front`",
                       s.front_root);
    *out = s;
    return M2_OK;
}
