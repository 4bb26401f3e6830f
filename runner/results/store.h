/* Where runs live: names and paths of a results folder.
 *
 *   ROOT/<name>/<label>-<hash12>/      a published run
 *   ROOT/<name>/.active/<hash12>/NNNN/ an unfinished run, one folder per
 *                                      attempt, written by one process only
 *   ROOT/<name>/sweep-<hash8>.yaml     one invocation of `m2run run`
 *
 * There is no database: state is derived from these directories. */
#ifndef M2_RESULTS_STORE_H
#define M2_RESULTS_STORE_H

#include <stdbool.h>

#include "m2_plugin.h"
#include "util/text.h"

#define RUN_HASH_LENGTH 12
#define RUN_LABEL_MAX   80

/* Which run of which experiment; all strings are borrowed. */
struct run_place {
    const char *root;     /* results folder */
    const char *name;     /* experiment */
    const char *label;    /* for a name not yet fixed by an earlier claim */
    const char *identity; /* 64 hex digits; the first 12 name the run */
};

/* A label becomes part of a folder's name: 1 to RUN_LABEL_MAX characters of
 * [A-Za-z0-9._-], not beginning with a dot. */
bool run_label_is_valid(const char *label);

/* A run's name, "<label>-<hash12>", into `out`, which is returned; and what a
 * name has behind its last dash, which is the hash: "" where there is none. */
#define RUN_NAME_SIZE (RUN_LABEL_MAX + RUN_HASH_LENGTH + 2)
const char *run_name_print(const char *label, const char *identity,
                           char out[RUN_NAME_SIZE]);
const char *run_name_hash(const char *run);

/* Number of an attempt's folder; 0 for any other name. */
int store_attempt_number(const char *name);

/* ROOT, from --results, M2RUN_RESULTS or "results"; the caller frees it. */
char *store_root(const char *option);

/* "ROOT/<name>", ".../.active/<hash12>"; the caller frees them; NULL only
 * when out of memory. */
char *store_experiment_path(const struct run_place *place);
char *store_active_path(const struct run_place *place);
char *store_published_path(const struct run_place *place, const char *label);

/* True when a published run of this identity exists: *path_out (freed by the
 * caller) is its directory.  A folder with the right suffix whose run.json
 * names another identity is an error. */
int store_find_published(const struct run_place *place, char **path_out,
                         struct m2_error *err);

/* The hashes that the names of the published runs of an experiment end with,
 * sorted: a run whose hash is not among them need not be looked for. */
int store_list_hashes(const char *root, const char *name,
                      struct string_list *out, struct m2_error *err);

/* Removes what unfinished attempts of a published run left behind, and the
 * owner.json of a publisher that was killed before it could.  Failing harms
 * nobody: a later run tries again. */
void store_remove_leftovers(const struct run_place *place,
                            const char *published);

/* Removes .active/<hash12> when no attempt is in it. */
void store_remove_if_idle(const struct run_place *place);

/* Finds the directory of a RUN as users write it: a run's directory, a unique
 * prefix or suffix (hash) of a run's name in any experiment of root, or
 * "@last", the run that was started last. */
int store_resolve(const char *root, const char *run, char **path_out,
                  struct m2_error *err);

/* The same for several, looking through the folder once: adds a path for
 * each. */
int store_resolve_all(const char *root, const char *const *runs, size_t n,
                      struct string_list *paths, struct m2_error *err);

#endif
