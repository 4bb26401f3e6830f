/* Results as JSON on stdout. */
#ifndef M2_CLI_JSON_OUTPUT_H
#define M2_CLI_JSON_OUTPUT_H

#include "m2_plugin.h"
#include "util/json.h"

/* Prints a value, indented, with a final newline, and lets go of it.  NULL is
 * a value that could not be built: M2_E_MEMORY. */
int print_json(json_t *value, struct m2_error *err);

#endif
