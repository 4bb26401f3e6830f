/* Axes of a sweep - a key and the values it takes - and groups of axes, which
 * change together. */
#ifndef M2_SWEEP_AXIS_H
#define M2_SWEEP_AXIS_H

#include "sweep/sweep.h"

struct sweep_axis {
    size_t row;                /* of the schema */
    const char *short_name;    /* unique ending of the key: "lr" */
    struct place place;        /* of the key */
    const char *block;         /* "sweep.grid": where it was read */
    const struct node **nodes; /* (count); NULL: the key stays as it is */
    char **texts;              /* (count) canonical text of each value */
    size_t count, room;
};

/* Axes first .. first+n_axes-1 have `count` values each, used together. */
struct sweep_group {
    struct place place;
    size_t first, n_axes;
    size_t count;
    const char **labels; /* (count) of a list, NULL: none; or NULL */
};

/* Everything that reading needs, and what it makes.  Errors go to `messages`;
 * functions that return a code return M2_E_MEMORY or 0. */
struct reading {
    const struct experiment *experiment;
    struct sweep *sweep;
    struct messages *messages;
    struct m2_error *err;
    struct config scratch; /* values are read into it to be checked */
};

/* All groups of an experiment: of its sweep block and of the command line. */
int axes_read(const struct experiment *experiment, struct sweep *sweep,
              struct messages *messages, struct m2_error *err);
void axes_free(struct sweep *sweep);

/* ---- pieces, shared by the files of this room --------------------------- */

/* Where a key stands, for messages: "sweep.grid", and the key's own node. */
struct axis_key {
    const char *block;
    const struct node *key;
};

enum axis_use {
    AXIS_USED,
    AXIS_WRONG,      /* after a message */
    AXIS_OVERRIDDEN, /* the command line gives a value, an axis, or ~key */
};

/* The row of a key that stands in the sweep block, by full name or unique
 * ending, and whether it may be an axis of the group that is being read, which
 * begins at axis `first`. */
enum axis_use axis_find(struct reading *reading, const struct axis_key *at,
                        size_t first, size_t *row);

/* The index of a row's axis, from `first` on; n_axes if there is none. */
size_t axis_index(const struct sweep *sweep, size_t first, size_t row);

/* Reports that a key is swept, or set, twice. */
void axis_report_twice(struct reading *reading, const struct axis_key *at,
                       const struct sweep_axis *axis);

/* The axis of the command line for a row, or NULL. */
const struct override_axis *axis_override(const struct reading *reading,
                                          size_t row);

/* Adds an axis with room for values; the sweep keeps it whatever its values
 * are.  NULL when out of memory. */
struct sweep_axis *axis_new(struct reading *reading, size_t row,
                            const struct axis_key *at, size_t room);

/* Checks and sets one value; false after a message. */
bool axis_set(struct reading *reading, struct sweep_axis *axis, size_t index,
              const struct node *node);

/* The values of an axis as a list: of a list, or of "range(...)".  NULL after
 * a message. */
const struct node *axis_list(struct reading *reading, size_t row,
                             const struct node *values);

/* Makes a group of the axes that were added since axis `first`.  NULL when out
 * of memory. */
struct sweep_group *group_new(struct reading *reading, size_t first,
                              size_t count, struct place place);

/* Leaves out the points of a group that repeat earlier ones, and calls
 * `report` (NULL: nobody) for each with their first index. */
typedef void group_report(struct reading *reading,
                          const struct sweep_group *group, size_t point,
                          size_t first);
int group_fold(struct reading *reading, struct sweep_group *group,
               group_report *report);

/* sweep: zip, list and random: each adds its groups. */
int zip_read(struct reading *reading, const struct node *zip);
int list_read(struct reading *reading, const struct node *list);
int random_read(struct reading *reading, const struct node *sweep);

/* ---- the block itself: block.c ------------------------------------------ */

/* Reports keys of the sweep block that are unknown. */
void block_check(const struct experiment *experiment,
                 struct messages *messages);

/* The seeds of each point, at least one, into sweep->seeds. */
int block_read_seeds(const struct experiment *experiment, struct sweep *sweep,
                     struct messages *messages, struct m2_error *err);

/* sweep: max_runs:. */
size_t block_max_runs(const struct experiment *experiment,
                      struct messages *messages);

/* The place of the sweep block. */
struct place block_place(const struct experiment *experiment);

/* A seed: `path` is the full name of the key. */
bool block_read_seed(const struct node *node, const char *path, uint64_t *out,
                     struct messages *messages);

/* An integer of the sweep block: `name` is the key's, `path` its full name. */
struct block_integer {
    const char *name, *path;
    double low, high;
    int64_t initial;
};
int64_t block_read_integer(const struct node *map,
                           const struct block_integer *key,
                           struct messages *messages);

/* Reports the keys of `map` that are not in the list (NULL ends it). */
void block_check_keys(const struct node *map, const char *path,
                      const char *const *known, struct messages *messages);

#endif
