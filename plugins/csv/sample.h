/* A look at the first rows of a file: what divides its cells, whether it has a
 * header, and what its columns hold. */
#ifndef M2_CSV_SAMPLE_H
#define M2_CSV_SAMPLE_H

#include "csv/settings.h"

enum cell_class {
    CELL_MISSING,
    CELL_NUMBER,
    CELL_NEAR_NUMBER, /* a number under other options */
    CELL_TIME,        /* a calendar time */
    CELL_TEXT,
    N_CELL_CLASSES
};

struct sample_column {
    char *first; /* the cell of the first row */
    enum cell_class first_class;
    size_t counts[N_CELL_CLASSES]; /* of the rows after the first */
};

struct sample {
    char delimiter;
    bool has_header;
    struct sample_column *columns;
    size_t n_columns; /* of the first row; 0: there is no row */
    size_t n_rows;    /* after the first */
    size_t n_below;   /* cells of the row below the first; 0: there is none */
    uint64_t first_line;
    bool is_damaged;     /* a row after the first cannot be read */
    bool is_only_header; /* and the file ends there */
};

/* The caller frees *out, also after an error.  An error in a row after the
 * first ends the sample: it comes again when the file is read. */
int sample_take(const struct input_source *source,
                const struct settings *settings, struct sample *out,
                struct m2_error *err);
void sample_free(struct sample *sample); /* a zeroed one is allowed */

#endif
