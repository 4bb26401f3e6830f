/* One experiment, resolved: the values a run is made of.
 *
 * Text becomes a config in one direction: YAML text -> tree with line and
 * column (tree.h) -> checked against the schema tables (schema.h) -> struct
 * config -> canonical text and identity (identity.h).  The schema tables name
 * every key once, with type, default, range and help; parsing, overrides,
 * sweep axes, `m2run schema`, the reference page and the canonical text are
 * all driven by them.
 *
 * Every string and list in a struct config is owned by it.  A config that was
 * loaded is complete and in range; code past this room never checks again
 * what a schema table can say. */
#ifndef M2_CONFIG_CONFIG_H
#define M2_CONFIG_CONFIG_H

#include <stdbool.h>

#include "m2_backend.h"

struct string_list; /* util/text.h */

/* Where a part of the data ends: a share of the rows, a number of rows, or
 * the UTC instant at which the part ends (exclusive). */
enum bound_kind { BOUND_FRACTION, BOUND_ROWS, BOUND_DATE };
struct split_bound {
    enum bound_kind kind;
    double fraction;
    int64_t rows;
    int64_t time_ns;
};

enum channels { CHANNELS_MIXED, CHANNELS_INDEPENDENT };
enum scale_kind { SCALE_ZSCORE, SCALE_MINMAX, SCALE_NONE };
enum missing_policy { MISSING_ERROR, MISSING_DROP, MISSING_FFILL };

/* An option of the data plugin: as written, checked against its table.
 * explicit is false for the plugin's default. */
struct config_option {
    char *name;
    char **texts;
    size_t n_texts;
    int64_t integer;
    double number;
    bool is_default;
};

struct config_data {
    char *source; /* csv, dbn, synthetic, or a plugin's name or path */
    char **paths; /* as written, resolved to absolute patterns */
    size_t n_paths;
    struct config_option *options; /* the plugin's table, in its order */
    size_t n_options;
    char **features; /* expressions, data/expression.h */
    size_t n_features;
    char **targets;
    size_t n_targets;
    int64_t window;  /* look-back L, rows */
    int64_t horizon; /* steps ahead */
    enum m2_horizon horizon_mode;
    int64_t stride, eval_stride;
    enum channels channels;
    double max_gap; /* in steps; 0: ignore gaps */
    int64_t fill;   /* missing bars to forward-fill at most */
    enum missing_policy missing;
    struct {
        struct split_bound train, val, test;
        int64_t embargo; /* rows left out between parts */
        bool context;    /* look-back may reach into the part before */
    } split;
    enum scale_kind scale;
    enum m2_window_norm window_norm;
};

enum head_kind { HEAD_FORECAST, HEAD_LM };
enum readout { READOUT_LAST, READOUT_MEAN, READOUT_ALL };

struct config_model {
    char *type; /* mamba2 */
    int64_t d_model, n_layer, d_state, expand, headdim, d_conv, ngroups;
    int64_t norm_groups, chunk;
    double dt_limit[2]; /* the second may be infinite */
    double norm_eps;
    bool conv_bias, proj_bias;
    enum head_kind head;
    enum readout readout;
    bool tie_embedding; /* head lm */
    int64_t vocab_size; /* head lm; 0: the data's */
    char *init_from;    /* RUN or file; NULL: fresh */
};

enum loss_kind { LOSS_MSE, LOSS_MAE, LOSS_HUBER, LOSS_CROSS_ENTROPY };
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_LINEAR, SCHEDULE_COSINE };
enum spectral_kind { SPECTRAL_OFF, SPECTRAL_DISCRETE, SPECTRAL_CONTINUOUS };

struct config_train {
    int64_t epochs, steps; /* exactly one is not 0 */
    int64_t batch_size;
    int64_t microbatch; /* 0: batch_size */
    enum loss_kind loss;
    double huber_delta;
    struct {
        double lr, betas[2], eps, weight_decay;
    } optimizer; /* type: adamw */
    struct {
        enum schedule_kind type;
        int64_t warmup_steps;
        double min_ratio;
    } schedule;
    double clip_norm; /* 0: off */
    struct {
        enum spectral_kind mode;
        double rho, dt_ref;
    } spectral_radius;
    int64_t eval_every; /* steps; 0: every epoch */
    int64_t log_every;  /* steps; 0: at each evaluation */
    struct {
        int64_t patience; /* evaluations; 0: off */
        double min_delta;
    } early_stopping;
};

struct config_checkpoint {
    int64_t every;                /* steps; 0: every epoch */
    int64_t keep_last, keep_best; /* 0 or 1 each */
};

struct config {
    char *name;
    uint64_t seed;
    char *device; /* cpu, cuda, cuda:1, auto, ref, or a file */
    enum m2_dtype dtype;
    bool tf32;       /* f32 on cuda only */
    int64_t threads; /* 0: the share of the allowed cores */
    char *metric;    /* as val/loss */
    struct config_data data;
    struct config_model model;
    struct config_train train;
    struct config_checkpoint checkpoint;
};

void config_free(struct config *config); /* frees the members */

/* A deep copy; *to is overwritten. */
int config_copy(const struct config *from, struct config *to,
                struct m2_error *err);

#endif
