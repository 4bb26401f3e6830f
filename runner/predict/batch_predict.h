/* Predicting the windows of a dataset, in the order of their list. */
#ifndef M2_PREDICT_BATCH_PREDICT_H
#define M2_PREDICT_BATCH_PREDICT_H

#include "predict/lines.h"
#include "train/session.h"

/* Which windows.  ALL: every window of the data, of any part or none, then the
 * live ones; LIVE: those whose targets are not all known yet, the newest of
 * each series last. */
enum window_choice {
    WINDOWS_TRAIN,
    WINDOWS_VAL,
    WINDOWS_TEST,
    WINDOWS_ALL,
    WINDOWS_LIVE,
};

/* Predictions are the bits that evaluation sees: the same windows in the same
 * batches.  `write` gets the text as it comes, header first, and may fail.
 * M2_E_DATA when there is no such window. */
struct batch_predict_request {
    struct session *session;
    enum window_choice windows;
    bool json;
    int (*write)(void *context, const struct text *text, struct m2_error *err);
    void *context;
};
int batch_predict(const struct batch_predict_request *request,
                  struct m2_error *err);

/* The part that is predicted when nothing is said: test, else val, else
 * train. */
enum window_choice windows_default(const struct dataset *dataset);

#endif
