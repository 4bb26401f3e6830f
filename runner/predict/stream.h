/* Predicting rows as they arrive.
 *
 * Every row is answered: with the prediction that begins after it, or, while
 * no whole window ends in it, with missing values.  Windowed, a prediction is
 * that of the window of the last L rows, computed by the same ops as in
 * evaluation.  Unbounded, the model is stepped row by row and its state
 * reaches back to the start of the piece (the last gap or break); predictions
 * begin once L rows have been seen.
 *
 * No memory is taken in a push, but for the first row of an instrument and a
 * change of contract. */
#ifndef M2_PREDICT_STREAM_H
#define M2_PREDICT_STREAM_H

#include "predict/lines.h"
#include "predict/predictor.h"
#include "predict/row_reader.h"

struct stream; /* opaque */

/* An instrument that the run was trained on: what run.json records. */
struct stream_instrument {
    char *name;
    int64_t step_ns;
    enum m2_stamp stamp;
};
struct stream_instruments {
    struct stream_instrument *items;
    size_t n;
};
/* From the run.json of a run; M2_E_RESULTS when it names none. */
int stream_instruments_read(const char *run, struct stream_instruments *out,
                            struct m2_error *err);
void stream_instruments_free(struct stream_instruments *instruments);

struct stream_request {
    const struct config *config;
    const struct checkpoint_parts *checkpoint;
    const struct stream_instruments *instruments;
    const char *const *columns; /* of the rows; must outlive the stream */
    size_t n_columns;
    bool unbounded;
    int threads;
};

/* M2_E_CONFIG: columns that features or targets need are not among the rows',
 * or unbounded with window_norm or readout mean. */
int stream_open(const struct stream_request *request, struct stream **out,
                struct m2_error *err);
void stream_close(struct stream *stream);

/* Columns (n_columns) whose values are used. */
const bool *stream_wanted(const struct stream *stream);

/* How its forecasts are printed. */
struct lines_format stream_format(const struct stream *stream, bool json);

/* The answer to a row: one forecast per channel, valid until the next push;
 * `ready` when at least one has values. */
struct stream_answer {
    const struct forecast *forecasts;
    size_t n;
    bool ready;
};
/* A row of an instrument that training did not know is scaled like all of them
 * together. */
int stream_push(struct stream *stream, const struct stream_row *row,
                struct stream_answer *out, struct m2_error *err);

#endif
