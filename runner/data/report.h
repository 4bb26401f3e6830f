/* What `m2run data` shows: files, series, gaps, changes of contract, columns,
 * what was dropped or repaired, and the windows of each part.
 *
 * The series are described as the source brings them, all columns of it,
 * before missing values, fill and functions; the windows as a training would
 * get them.  When no dataset can be made of the config, the report still holds
 * what was read, and `problem` says why. */
#ifndef M2_DATA_REPORT_H
#define M2_DATA_REPORT_H

#include "data/dataset.h"
#include "data/facts.h"
#include "data/store.h"

struct report_column { /* of the values that are there */
    uint64_t n, missing;
    double low, high, mean, deviation; /* NaN when n is 0 */
};

/* Distances of neighbouring rows in nominal steps: at most 1, 2, 5, 10, 60,
 * 1440, and more. */
enum { REPORT_GAPS = 7 };
extern const double report_gap_bounds[REPORT_GAPS];

struct report_series {
    int64_t median_step_ns;
    uint64_t gaps[REPORT_GAPS];
    struct report_column *columns; /* (store.columns.count) */
};

struct report_file {
    char *path;
    int64_t bytes;
};

struct report {
    const struct config *config; /* borrowed */
    struct report_file *files;
    size_t n_files;
    struct store store;           /* every column, as read */
    struct report_series *series; /* (store.n_series) */
    struct fact_list facts;       /* of the source, when there is no dataset */
    struct dataset dataset;
    int problem_code; /* M2_OK: there is a dataset */
    struct m2_error problem;
};

/* Reads the data twice: once with every column, once as a dataset.  An error
 * of the source itself is returned; free the report only after M2_OK. */
int report_make(const struct config *config, struct report *out,
                struct m2_error *err);
/* The same with a data plugin that is loaded already. */
int report_make_with(const struct plugin *plugin, const struct config *config,
                     struct report *out, struct m2_error *err);
void report_free(struct report *report);

/* For people, and as one JSON object. */
int report_print_text(const struct report *report, struct text *out,
                      struct m2_error *err);
int report_print_json(const struct report *report, struct text *out,
                      struct m2_error *err);

#endif
