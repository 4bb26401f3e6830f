/* What compare-backends has found, in words and as JSON. */
#ifndef M2_CLI_COMPARE_BACKENDS_H
#define M2_CLI_COMPARE_BACKENDS_H

#include "equality/free_run.h"
#include "equality/op_by_op.h"
#include "util/json.h"
#include "util/text.h"

int op_by_op_write(const struct config *config, const struct op_by_op *found,
                   struct text *out, struct m2_error *err);
int free_run_write(const struct config *config, const struct free_run *found,
                   struct text *out, struct m2_error *err);

/* New objects, or NULL when out of memory. */
json_t *op_by_op_json(const struct config *config,
                      const struct op_by_op *found);
json_t *free_run_json(const struct config *config,
                      const struct free_run *found);

#endif
