/* Columns: their names, and what each of them is for. */
#ifndef M2_CSV_COLUMNS_H
#define M2_CSV_COLUMNS_H

#include "csv/sample.h"

enum column_role {
    COLUMN_LEFT_OUT,
    COLUMN_VALUE, /* a column of the series */
    COLUMN_TIME,
    COLUMN_INSTRUMENT,
};

enum { NO_COLUMN = SIZE_MAX };

struct column {
    char *name;
    char *header; /* as written in the header; NULL without one */
    enum column_role role;
    size_t index; /* of the value */
    bool is_text; /* left out for it holds no numbers */
};

struct columns {
    struct column *items;
    size_t n, n_values;
    size_t time[2];     /* date and time of day, or all and NO_COLUMN */
    size_t instrument;  /* or NO_COLUMN */
    bool time_by_cells; /* its name is not one that a time has as a rule */
};

/* Columns of the first file.  The caller frees *out, also after an error.
 * path is for messages. */
int columns_choose(const char *path, const struct sample *sample,
                   const struct settings *settings, struct columns *out,
                   struct m2_error *err);

/* Columns of another file: the same names, in any order, for the same ends. */
int columns_match(const char *path, const struct sample *sample,
                  const struct settings *settings, const struct columns *first,
                  struct columns *out, struct m2_error *err);

void columns_free(struct columns *columns); /* a zeroed one is allowed */

#endif
