/* From the rows of a data source to what a model is trained and judged on.
 *
 *   source plugin -> series (rows in time order)
 *     -> missing values, gaps, contract changes (segments)
 *     -> feature and target functions (expression.h)
 *     -> split by time (split.h) -> scaling fitted on the training part
 *     -> windows: a list of first rows per part
 *
 * A dataset is complete on the host; it is a pure function of the config's
 * data block, the seed (generators only) and the bytes of the files.
 *
 * Rows of all series are stacked in one matrix.  With independent channels
 * every (series, channel) is a stacked series of its own with one feature and
 * one target.  A window starts at row s of the stack: its look-back is rows
 * s .. s+L-1, its targets are rows s+L .. s+L+horizon-1.  No window contains a
 * break, a gap, or a row whose feature or target is undefined.
 *
 * No look-ahead: a feature at row t depends on rows <= t of its own series,
 * and scaling on the training part alone.  A window belongs to the part that
 * holds all its target rows; its look-back may reach into the part before
 * when split.context is true.  Training windows lie wholly in the training
 * part. */
#ifndef M2_DATA_DATASET_H
#define M2_DATA_DATASET_H

#include "config/config.h"
#include "m2_data.h"
#include "util/text.h"

enum part { PART_TRAIN, PART_VAL, PART_TEST, N_PARTS };
extern const char *const part_names[N_PARTS]; /* "train", "val", "test" */

/* How the value of a target is turned back into a level (a price). */
enum target_transform {
    TARGET_VALUE,      /* the column itself: level = value */
    TARGET_DIFF,       /* diff(column): level = base + value */
    TARGET_LOG_RETURN, /* log_return(column): level = base * exp(value) */
    TARGET_RETURN,     /* return(column): level = base * (1 + value) */
    TARGET_OTHER,      /* no level can be given */
};

/* A stacked series. */
struct dataset_series {
    char *name;       /* instrument; "instrument/column" when independent */
    char *instrument; /* the source's name of the series */
    int64_t channel;  /* index into the config's features and targets of this
                         series' first one; 0 when mixed */
    int64_t first, n; /* rows of the stack */
    int64_t step_ns;  /* nominal, or the median step when unknown */
    enum m2_stamp stamp;
};

struct dataset_windows {
    int32_t *starts; /* (n) rows of the stack, ascending in the time of the
                        last row of the look-back, then by series; training
                        order is by the same rule, shuffled later */
    int64_t n;
};

struct dataset_scaling_table; /* scaling.h */

struct dataset_scaling { /* per stacked series: value = shift + spread*x */
    double *feature_shift, *feature_spread; /* (n_series, F) */
    double *target_shift, *target_spread;   /* (n_series, O) */
};

struct dataset_fact { /* what was read, dropped, repaired */
    char *what;
    uint64_t n;
    char *where; /* NULL: nowhere in particular */
    bool warning;
};

struct dataset {
    int64_t S, F, O; /* rows of the stack, features, targets */
    /* Per feature and target of the config: F and O, but with independent
     * channels one per channel, so that those of a series are at
     * [series.channel + o]. */
    char **feature_names, **target_names; /* canonical text */
    int64_t n_feature_names, n_target_names;
    enum target_transform *transforms; /* (n_target_names) */
    bool *target_is_return;            /* (n_target_names) sign has a meaning */
    double *features;    /* (S, F) scaled; NaN only outside windows */
    double *targets;     /* (S, O) scaled */
    double *targets_raw; /* (S, O) as computed, not scaled */
    double *levels;  /* (S, O) raw column behind each target, NaN if OTHER */
    int64_t *times;  /* (S) ns, as stamped */
    uint8_t *starts; /* (S) 1: first row of a piece (no gap, no change of
                        contract inside) */
    struct dataset_series *series;
    int64_t n_series;
    struct dataset_windows parts[N_PARTS];
    struct dataset_windows live; /* look-back complete, targets not yet known
                                    (or only in part): for predict; their
                                    targets must not be gathered */
    struct dataset_windows all;  /* with request.all_windows: every window with
                                    known targets, of any part or of none */
    struct dataset_scaling scaling;
    struct dataset_scaling_table *scaling_table; /* what scaling is made of,
                                                    to be saved (scaling.h) */
    struct dataset_fact *facts;
    size_t n_facts;
    int64_t part_first_ns[N_PARTS], part_last_ns[N_PARTS]; /* of targets */
    int64_t part_rows[N_PARTS];                            /* distinct times */
};

/* Scaling to be used instead of fitting, from a checkpoint; NULL to fit. */
struct dataset_request {
    const struct config *config;
    const struct dataset_scaling_table *scaling; /* scaling.h */
    bool all_windows; /* eval_stride for training too, no windows required, a
                         split that asks for more rows than there are is cut:
                         for predict */
};

/* Errors: M2_E_DATA with file and place, also when a part that was asked for
 * has no window; M2_E_CONFIG for an unknown column or function, with the
 * columns there are.
 *
 * A value that a function is not defined for (the logarithm of 0) is M2_E_DATA
 * with series, time and value; with `missing: drop` the row has no value
 * instead, no window contains it, and such rows are counted. */
int dataset_load(const struct dataset_request *request, struct dataset *out,
                 struct m2_error *err);
/* The same with a data plugin that is loaded already. */
struct plugin; /* loader.h */
int dataset_load_with(const struct plugin *plugin,
                      const struct dataset_request *request,
                      struct dataset *out, struct m2_error *err);
void dataset_free(struct dataset *dataset);

/* The series of row `row`. */
int64_t dataset_series_of(const struct dataset *dataset, int64_t row);

/* First moment at which everything up to row `row` is known. */
int64_t dataset_known_at(const struct dataset *dataset, int64_t row);

/* Names and SHA-256 of the files the config names, one "name sha256" line
 * each in bytewise order: the data's share of a run's identity.  Sources
 * without files give an empty text.  Cached by path, size and mtime under
 * $XDG_CACHE_HOME/m2run when that can be written. */
int dataset_fingerprint(const struct config *config, struct text *out,
                        struct m2_error *err);

#endif
