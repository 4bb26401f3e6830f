/* A small model on the reference backend in f64, for tests of the model room:
 * B windows of L rows of F features, Y outputs, V tokens. */
#ifndef M2_TESTS_SMALL_MODEL_H
#define M2_TESTS_SMALL_MODEL_H

#include "model/model.h"

enum { B = 3, L = 10, F = 2, Y = 2, V = 11 };

/* Group fixtures of cmocka: the device all the others use. */
int small_open(void **state);
int small_close(void **state);
struct m2_device *small_device(void);

struct config_model small_config(enum readout readout);

/* Created and initialised; a failure fails the test. */
struct model *small_model(const struct config_model *config, bool training);

/* Fills a view with values, or tokens, that are the same for the same
 * `first`. */
void small_upload(struct m2_view view, int64_t first);
/* All elements; the caller frees them. */
double *small_download(struct m2_view view);

/* Asserts the same shape and bits, or elements no further apart than limit. */
void small_same(struct m2_view a, struct m2_view b);
void small_close_to(struct m2_view a, struct m2_view b, double limit);

#endif
