/* What a stream knows of one instrument: its history, as far as features and
 * windows look back, and what the data policies (missing, fill, max_gap) make
 * of each new row, as for rows from files. */
#ifndef M2_PREDICT_STREAM_SERIES_H
#define M2_PREDICT_STREAM_SERIES_H

#include "data/columns.h"
#include "data/rolling.h"
#include "predict/row_reader.h"
#include "predict/stream_model.h"

/* The same for all instruments of a stream. */
struct stream_setup {
    const struct config *config;
    const char *const *columns; /* (n_columns) of the input */
    size_t n_columns;
    bool *wanted;          /* (n_columns) */
    struct columns parsed; /* features and targets against the columns */
    struct dataset shape;  /* names, transforms, F and O; no rows */
    size_t *level_columns; /* (targets) column of the price, or SIZE_MAX */
    const struct dataset_scaling_table *scaling;
    struct stream_model model;
    bool unbounded;
};

/* One channel: with mixed channels, the only one. */
struct stream_channel {
    struct dataset view; /* scaling and levels of the newest row, for
                            target_unscale and target_levels: the window that
                            ends in row 0 */
    struct dataset_series series;
    void *features, *targets; /* rings (2*L, F) and (2*L, O), scaled, of the
                                 device's type: row i is written at i and at
                                 i + L, so that a window lies in one run */
    int64_t feature_run, target_run; /* rows in one piece with all values */
};

struct stream_series {
    struct stream_setup *setup; /* borrowed; its model runs the windows */
    char *name;
    int64_t step_ns;
    enum m2_stamp stamp;
    struct rolling *rolling;
    struct stream_channel *channels; /* (C) */
    struct model_stepper *stepper;   /* unbounded only */
    int64_t at;                      /* newest row of the rings */
    double *last;                    /* (n_columns) of the last row kept */
    double *filled;                  /* (n_columns) */
    double *values;                  /* (features, targets) of the newest row */
    double *scaled;                  /* (C, F) */
    double *pred;                    /* (C, Y) scaled, then raw */
    bool any, broken; /* a row was kept; the next one starts a piece */
    int64_t last_time, seen_time;
    char *contract; /* of the last row, or NULL */
};

struct stream_series_facts {
    const char *name;
    int64_t step_ns;
    enum m2_stamp stamp;
};
int stream_series_create(struct stream_setup *setup,
                         const struct stream_series_facts *facts,
                         struct stream_series **out, struct m2_error *err);
void stream_series_free(struct stream_series *series);

/* Takes a row.  *kept is false when it was left out (missing: drop).
 * M2_E_DATA, without a place, for a row that goes back in time, a missing
 * value, and one that a function is not defined for. */
int stream_series_push(struct stream_series *series,
                       const struct stream_row *row, bool *kept,
                       struct m2_error *err);

/* Whether channel c has a whole window that ends in the newest row. */
bool stream_series_ready(const struct stream_series *series, int64_t c);

/* Predicts from the newest row: series->pred in scaled units.  At least one
 * channel must be ready. */
int stream_series_predict(struct stream_series *series, struct m2_error *err);

#endif
