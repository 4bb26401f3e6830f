/* Options of the csv source as a struct. */
#ifndef M2_CSV_SETTINGS_H
#define M2_CSV_SETTINGS_H

#include "common/rows.h"
#include "csv/numbers.h"
#include "csv/reader.h"
#include "csv/times.h"

/* Copies of an option's texts. */
struct texts {
    char **items;
    size_t n;
};

enum header { HEADER_AUTO, HEADER_YES, HEADER_NO };
/* Several files: a series together, one each, or together only if their names
 * differ in nothing but digits. */
enum file_series { FILES_AUTO, FILES_JOINED, FILES_APART };
enum time_source { TIME_BY_NAME, TIME_COLUMNS, TIME_NONE };

struct settings {
    char delimiter; /* 0: auto */
    char *comment;
    uint64_t skip_rows;
    enum header header;
    bool skip_repeated_header;
    struct texts columns; /* none: n is 0 */
    struct texts skip_columns;
    enum time_source time_source;
    struct texts time_columns; /* TIME_COLUMNS: one or two */
    struct times times;        /* as the first file starts; owns the zone */
    char *pattern;             /* what times points to */
    int64_t start;             /* TIME_NONE: of the first row */
    int64_t step_ns;           /* 0: unknown */
    enum m2_stamp stamp;
    struct texts missing;
    struct number_format numbers; /* points to missing; owns the locale */
    char *instrument;             /* column; NULL: none */
    struct texts instruments;     /* patterns; none: n is 0, all are read */
    enum duplicates duplicates;
    bool sort;
    enum file_series file_series;
};

extern const struct m2_option csv_options[];

/* M2_E_CONFIG naming the option.  The caller frees *out, also after an
 * error. */
int settings_read(const struct m2_value *options, size_t n,
                  struct settings *out, struct m2_error *err);
void settings_free(struct settings *settings); /* a zeroed one is allowed */

#endif
