/* The device side of a stream: one batch of the channels of an instrument,
 * either whole windows or one recurrent step at a time.
 *
 * Everything is prepared when it is opened.  A window is one upload, the
 * model's forward list (with window_norm, the same op that cuts batches before
 * it), and one download. */
#ifndef M2_PREDICT_STREAM_MODEL_H
#define M2_PREDICT_STREAM_MODEL_H

#include "predict/predictor.h"

struct stream_model {
    struct session session; /* device and numerics only */
    struct model *model;
    int64_t C, L, F, O, Y; /* channels; window; columns; width of a forecast */
    size_t real;           /* bytes of a number on the device */
    bool every_row;        /* readout all: the last row counts */
    enum m2_window_norm norm;
    struct m2_view input;
    struct m2_buffer *series, *starts, *norms; /* with window_norm only */
    struct m2_gather_windows gather;
    unsigned char *rows;   /* to be uploaded: (C*L, F), then (C*L, O) */
    unsigned char *output; /* (C, Y) as downloaded */
    double *host_norms;    /* (C, 2*O) */
};

struct stream_model_request {
    const struct config *config;
    const struct checkpoint_parts *checkpoint;
    const struct dataset *shape; /* F and O */
    int64_t channels;
    int threads;
};
int stream_model_open(const struct stream_model_request *request,
                      struct stream_model *out, struct m2_error *err);
void stream_model_close(struct stream_model *model);

/* Numbers of the device's type at index i of an array of them. */
void stream_model_put(const struct stream_model *model, void *array, int64_t i,
                      double value);

/* Where the L rows of channel c go before stream_model_window: features
 * (L, F); targets (L, O), needed with window_norm only. */
void *stream_model_features(const struct stream_model *model, int64_t c);
void *stream_model_targets(const struct stream_model *model, int64_t c);

/* Forecasts of the windows put there, in scaled units: (C, Y). */
int stream_model_window(struct stream_model *model, double *out,
                        struct m2_error *err);

/* One step of a stepper of C channels: features (C, F) scaled -> (C, Y). */
int stream_model_step(struct stream_model *model, struct model_stepper *stepper,
                      const double *features, double *out,
                      struct m2_error *err);

#endif
