/* A model on a table of rows, without files: what tests of the predict room
 * share. */
#ifndef M2_TESTS_PREDICT_FIXTURE_H
#define M2_TESTS_PREDICT_FIXTURE_H

#include "predict/batch_predict.h"
#include "predict/predictor.h"
#include "table_source.h"

struct fixture {
    struct config config;
    struct session session;
    struct checkpoint_parts checkpoint; /* of the session's parameters */
};

/* The rest of a config made by test_config: a small model on the reference
 * backend in f64. */
void fixture_model(struct config *config);

/* Opens a session on all windows of the table, with parameters from a seed and
 * the scaling of the table's training part.  Failures end the test. */
void fixture_open(struct fixture *fixture, const struct table *table,
                  const struct config *config);
void fixture_close(struct fixture *fixture);

/* Makes the model predict `value`, in scaled units, whatever its input. */
void fixture_constant(struct fixture *fixture, double value);

/* Predictions of a choice of windows as CSV; the caller frees the text. */
struct text fixture_predict(struct fixture *fixture,
                            enum window_choice windows);

#endif
