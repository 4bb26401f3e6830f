/* The trace of a training run: eight bytes that depend on every bit of every
 * step so far.  trace = first 8 bytes of SHA-256(previous trace, step as
 * little-endian u64, bits of the loss, bits of the gradient norm), the last
 * two as little-endian IEEE-754 doubles; all zero before step 1. */
#ifndef M2_TRAIN_TRACE_H
#define M2_TRAIN_TRACE_H

#include <stdint.h>

#include "m2_plugin.h"

#define TRACE_BYTES 8
#define TRACE_TEXT  (2 * TRACE_BYTES + 1)

int trace_step(uint8_t trace[TRACE_BYTES], int64_t step, double loss,
               double grad_norm, struct m2_error *err);
void trace_print(const uint8_t trace[TRACE_BYTES], char out[TRACE_TEXT]);
/* 0, or -1 when the text is not a trace. */
int trace_parse(const char *text, uint8_t trace[TRACE_BYTES]);

#endif
