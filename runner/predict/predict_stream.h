/* The loop of `predict --stream`: a row in, its lines out, flushed. */
#ifndef M2_PREDICT_PREDICT_STREAM_H
#define M2_PREDICT_PREDICT_STREAM_H

#include <stdio.h>

#include "predict/latency.h"
#include "predict/stream.h"

struct predict_stream_request {
    struct predictor_request run;
    FILE *in, *out;
    const char *in_name; /* in messages */
    bool json, unbounded;
    struct latency *latency; /* NULL: not measured.  Steps that predicted:
                                features, model, undoing; no text */
};
/* Until the input ends. */
int predict_stream(const struct predict_stream_request *request,
                   struct m2_error *err);

#endif
