/* What `m2run reproduce` says in the end. */
#ifndef M2_CLI_REPRODUCE_REPORT_H
#define M2_CLI_REPRODUCE_REPORT_H

#include <jansson.h>

#include "cli/reproduce_run.h"
#include "reproduce/difference.h"
#include "reproduce/rerun.h"
#include "results/facts.h"

struct reproduce_report {
    const struct recorded_run *run;
    const struct rerun *rerun;            /* NULL: nothing was computed */
    const struct difference *difference;  /* the same */
    const struct fact_differences *facts; /* since the run; NULL: unknown */
    double tolerance;
    int64_t last_step; /* only steps up to it were compared; 0: all */
    bool kept;         /* the folder of the new run is still there */
};

/* "identical: 400 rows, ..." or "differs from step 412: ...", then a line for
 * everything else that is known. */
void reproduce_write(const struct reproduce_report *report, struct text *out);

/* The same as an object, NULL when out of memory. */
json_t *reproduce_json(const struct reproduce_report *report);

#endif
