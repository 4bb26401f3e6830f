/* Loading an experiment: file, includes and overrides to a checked config.
 *
 *     struct messages messages = {0};
 *     struct experiment experiment;
 *     int code = experiment_load(&request, &experiment, &messages, &err);
 *
 * Messages (warnings, too) are for the caller to print, by messages_print.
 * Whatever the result, the experiment is initialised: free it.
 *
 * Merging, lowest first: defaults, files included (in their order, each with
 * its own includes below it), the file, overrides.  Mappings are merged key by
 * key; lists and values are replaced. */
#ifndef M2_CONFIG_LOAD_H
#define M2_CONFIG_LOAD_H

#include "config/binding.h"

/* Where the option table of a data source comes from: its plugin
 * (source_lookup_plugins), or a table in a test. */
struct source_lookup {
    /* *options_out: NULL-named end; NULL: no options. */
    int (*find)(void *context, const char *source,
                const struct m2_option **options_out, struct m2_error *err);
    void *context;
};

/* Loads the data plugin named by data.source: lookup_plugin.c. */
extern const struct source_lookup source_lookup_plugins;

struct experiment_request {
    const char *path; /* a file, or "-" for standard input */
    const char *text; /* not NULL: this is the experiment, and path its name;
                         it cannot include files */
    size_t size;      /* of text */
    const char *const *overrides; /* as on the command line */
    size_t n_overrides;
    const struct source_lookup *lookup;
};

/* A grid axis of the command line: key=a,b,c. */
struct override_axis {
    struct place place;  /* of the override */
    size_t row;          /* of the schema */
    struct node *values; /* NODE_LIST */
};

struct experiment {
    struct config config; /* without the sweep */
    struct schema schema;
    struct binding binding;
    struct tree tree;
    struct node *root;  /* what remains below include and sweep; NULL when the
                           file could not be read */
    struct node *sweep; /* the sweep block of the file, or NULL */
    struct override_axis *axes; /* of the command line, one to a key, in order
                                 */
    size_t n_axes;
    size_t *resets; /* rows that ~key of the command line resets */
    size_t n_resets;
};

/* Errors: M2_E_CONFIG (all of them in `messages`), M2_E_DEVICE when the data
 * plugin cannot be loaded and nothing else is wrong, M2_E_MEMORY.  Rules
 * between keys are checked here only when nothing is swept; otherwise the
 * sweep checks every run. */
int experiment_load(const struct experiment_request *request,
                    struct experiment *out, struct messages *messages,
                    struct m2_error *err);
void experiment_free(struct experiment *experiment);

/* Adds the text of every file that was read, each under a comment with its
 * name: the record of what was asked for. */
void experiment_write_sources(const struct experiment *experiment,
                              struct text *out);

#endif
