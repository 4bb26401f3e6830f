/* The inside of a comparison, shared by what looks at rows, at checkpoints and
 * at run.json. */
#ifndef M2_REPRODUCE_DIFFERENCE_PRIVATE_H
#define M2_REPRODUCE_DIFFERENCE_PRIVATE_H

#include <jansson.h>

#include "reproduce/difference.h"
#include "results/csvlog.h"
#include "train/checkpoint.h"

/* metrics.csv of one of the two runs. */
struct run_rows {
    struct csv_table table;
    int64_t *steps; /* (n_rows); of the new run ascending; -1: no number */
    int trace;      /* column, -1: there is none */
    int64_t bytes;  /* of the whole file; -1: there is none */
};

/* Rows of the two that belong together; -1: the other one has no such row. */
struct row_pair {
    int64_t recorded, again;
};

/* A checkpoint of one of the two runs. */
struct run_checkpoint {
    struct st_file file;
    int64_t step;       /* -1: not known */
    int64_t rows_bytes; /* of metrics.csv it counted; -1: not known */
    char trace[TRACE_TEXT];
    bool there, readable; /* readable: file is filled */
    bool sealed;          /* its own SHA-256 fits */
};

enum { SIDE_RECORDED, SIDE_AGAIN, N_SIDES };
enum { CHECKPOINT_OF_LAST, CHECKPOINT_OF_BEST, N_CHECKPOINTS };

struct comparison {
    const struct difference_request *request;
    struct difference *out;
    struct run_rows rows[N_SIDES];
    struct row_pair *pairs; /* (n_pairs) in order; NULL: nothing to compare */
    size_t n_pairs, n_rows_differ;
    struct run_checkpoint checkpoints[N_CHECKPOINTS][N_SIDES];
    json_t *record[N_SIDES]; /* run.json, NULL: none that can be read */
    /* Highest step at which both traces are equal, and the lowest step above it
     * at which they differ; 0: none. */
    int64_t agreed, parted;
    size_t n_altered; /* findings of that kind so far, told or not */
};

/* Adds a finding; what the format gives is its text.  Of altered ones only the
 * first few are kept.  M2_E_MEMORY. */
struct finding_place {
    enum finding_kind kind;
    const char *file;
    int64_t step;
};
__attribute__((format(printf, 4, 5))) int
finding_add(struct comparison *comparison, struct finding_place place,
            struct m2_error *err, const char *format, ...);

/* What an error says of a file, without the path it begins with. */
const char *finding_cause(const struct m2_error *cause, const char *path);

/* Notes the largest relative difference. */
void difference_note(struct comparison *comparison, double relative,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* |a-b| / max(|a|,|b|); 0 for the same number, infinite when only one is a
 * number. */
double relative_difference(double a, double b);

/* ---- difference_rows.c --------------------------------------------------- */

/* Reads metrics.csv of both runs, and finds which rows belong together. */
int rows_read(struct comparison *comparison, struct m2_error *err);
void rows_free(struct comparison *comparison);
/* Compares them; agreed and parted must be known. */
int rows_compare(struct comparison *comparison, struct m2_error *err);

/* The new run's row of a step, or -1. */
int64_t rows_find(const struct comparison *comparison, int64_t step);
/* A cell by row and column; never NULL. */
const char *rows_cell(const struct run_rows *rows, size_t row, int column);

/* ---- cells.c ------------------------------------------------------------- */

/* A cell as it can be shown: what was altered may hold anything. */
enum { CELL_SHOWN_SIZE = 48 };
const char *cell_shown(const char *cell, char out[CELL_SHOWN_SIZE]);
/* Its number; NaN when it is none. */
double cell_value(const char *cell);

/* Columns of validation scores; columns of numbers that may be rounded. */
bool column_is_score(const char *column);
bool column_is_number(const char *column);

/* ---- checkpoint_pairs.c, difference_tensors.c ---------------------------- */

extern const char *const checkpoint_names[N_CHECKPOINTS]; /* of the files */

/* Reads both checkpoints of both runs. */
int checkpoints_read(struct comparison *comparison, struct m2_error *err);
void checkpoints_free(struct comparison *comparison);
int checkpoints_compare(struct comparison *comparison, struct m2_error *err);

/* ---- difference_record.c ------------------------------------------------- */

/* Scores, state and end in run.json. */
int record_compare(struct comparison *comparison, struct m2_error *err);
/* Does the recorded run.json hold this cell of metrics.csv once more? */
bool record_repeats(const struct comparison *comparison, int64_t step,
                    const char *column, const char *cell);
/* Whole number of the recorded run.json; -1: there is none. */
int64_t record_integer(const struct comparison *comparison, const char *key);

#endif
