/* Circumstances of a run that can change its result, then and now.
 *
 * What is compared are two objects with the keys of run.json: a run's record
 * and, of the process that looks at it, fact_sheet_now (train/fact_sheet.h).
 * Only "data", "backend", "build", "libraries", "host" and "environment" are
 * looked at.  A fact that one side does not know (a record of an earlier
 * version, a library that is not loaded) is no difference; a file that one
 * side lacks, and a variable that one side has not set, are. */
#ifndef M2_RESULTS_FACTS_H
#define M2_RESULTS_FACTS_H

#include <jansson.h>
#include <stdbool.h>

#include "m2_plugin.h"
#include "util/text.h"

struct fact_difference {
    char *what;           /* "numerics number of the backend cpu" */
    char *then, *now;     /* "1", "2"; "not set", "not there" */
    bool may_change_bits; /* false: it explains times, never results */
};

/* The likeliest to change a result first: data; the backend, its numerics and
 * device; variables that choose kernels; numeric libraries; the backend's file;
 * m2run's own build; processor and C library; the data plugin.  Then what
 * changes no bit: threads, host, kernel, other variables and libraries. */
struct fact_differences {
    struct fact_difference *items;
    size_t n, capacity;
};

/* `then` and `now` are objects with the keys of run.json; those that are no
 * objects know nothing.  The only error is M2_E_MEMORY. */
int facts_compare(const json_t *then, const json_t *now,
                  struct fact_differences *out, struct m2_error *err);
void fact_differences_free(struct fact_differences *differences);

/* How many of them can change a bit; these come first in the list. */
size_t facts_that_change_bits(const struct fact_differences *differences);

/* Adds a line, "WHAT: THEN, now NOW" behind `indent`, per difference that can
 * change a bit. */
void facts_write(const struct fact_differences *differences, const char *indent,
                 struct text *out);

#endif
