/* The DBN source: from options and files to series of bars.
 *
 * Opening it looks at the metadata of every file, puts the files in order of
 * their start, finds the one length of bar that is to be read (interval.c) and
 * decides which instruments make which series (select.c).  Where metadata
 * alone cannot tell, all bars are counted first (scan.c).  After that every
 * file is read once, front to back. */
#ifndef M2_DBN_H
#define M2_DBN_H

#include "common/rows.h"
#include "dbn/front.h"
#include "dbn/reader.h"

enum { N_COLUMNS = 5 }; /* open, high, low, close, volume */

/* The texts are borrowed until dbn_open returns. */
struct settings {
    const char *const *instruments; /* symbols and patterns; none: n is 0 */
    size_t n_instruments;
    bool front;
    const char *front_root; /* NULL: every root */
    const char *schema;     /* NULL: auto */
    int64_t publisher;      /* -1: any, but only one per series */
    bool fragment, allow_truncated, sort;
    enum duplicates duplicates;
};

extern const struct m2_option dbn_options[];
int settings_read(const struct m2_data_open *open, struct settings *out,
                  struct m2_error *err);

/* Counters, as the runner shows them. */
enum dbn_count {
    COUNT_BARS,
    COUNT_OTHER_INSTRUMENTS,
    COUNT_OTHER_PUBLISHERS,
    COUNT_NOT_FRONT,
    COUNT_NO_PRICE,
    COUNT_HIGH_BELOW_LOW,
    COUNT_NO_VOLUME,
    COUNT_NO_NAME,
    COUNT_FRONT_ABSENT,
    COUNT_TRUNCATED,
    COUNT_MAPPINGS_LEFT_OUT,
    COUNT_MAPPING_CONFLICTS,
    N_COUNTS
};

/* The instrument id of a series' latest bar, as text. */
struct id_name {
    uint32_t id;
    const char *name; /* NULL before the first bar */
};

struct dbn_source {
    struct settings settings;
    struct dbn_file *files;
    size_t n_files;
    struct symbols symbols;
    bool all_mapped; /* every file has mappings */
    size_t n_mapped; /* symbols that mappings name: the first ones */
    const struct interval *interval;
    struct front front;
    bool scanned;
    struct m2_series_info *series; /* names belong to symbols or front */
    struct id_name *id_names;      /* (n_series) */
    size_t n_series, series_capacity;
    bool only_series; /* no instrument was chosen: there may be one only */
    bool with_ids;    /* the contract of a row is not its series' name */
    struct counts counts;
    struct rows rows;
    struct reader reader;
    bool ended;
};

/* Opens a source on files or memory (whose bytes stay where they are).  *out
 * is written on success only. */
int dbn_open(const struct input_source *inputs, size_t n_inputs,
             const struct settings *settings, struct dbn_source **out,
             struct m2_error *err);
void dbn_close(struct dbn_source *source); /* NULL is allowed */

/* The next block, as M2_DATA_NEXT. */
int dbn_next(struct dbn_source *source, struct m2_data_next *out,
             struct m2_error *err);

/* survey.c: reads the metadata of every file, names the symbols, puts the files
 * in order of their start. */
int survey_files(struct dbn_source *source, struct m2_error *err);

/* interval.c: finds source->interval. */
int interval_choose(struct dbn_source *source, struct m2_error *err);

/* select.c: makes the series, and gives symbols theirs. */
int select_series(struct dbn_source *source, struct m2_error *err);

/* bars.c: adds a bar to its series, if it has one; as rows_add. */
int bars_add(struct dbn_source *source, const struct bar *bar,
             struct m2_error *err);

/* scan.c */

/* Counts bars and volume per symbol, once. */
int scan_bars(struct dbn_source *source, struct m2_error *err);

/* Counts all records by type and finds the smallest step of time between bars
 * of any type (0: there is none). */
int scan_types(struct dbn_source *source, uint64_t records[N_RTYPES],
               int64_t *smallest_step, struct m2_error *err);

/* M2_E_DATA: the reason, and the instruments there are, with their numbers. */
__attribute__((format(printf, 3, 4))) int
scan_fail_listing(struct dbn_source *source, struct m2_error *err,
                  const char *format, ...);

/* M2_E_DATA: the publishers a symbol's bars come from. */
int scan_fail_publishers(struct dbn_source *source, uint32_t symbol,
                         struct m2_error *err);

/* The volumes of a root's first day, which begins in files[file]; then its
 * first front. */
int scan_first_day(struct dbn_source *source, uint32_t root, int64_t day,
                   size_t file, struct m2_error *err);

/* A reader as the settings want it, starting at files[first]; wanted NULL:
 * bars of every interval. */
void source_reader(struct dbn_source *source, struct reader *reader,
                   size_t first, const struct interval *wanted);

/* For a message that misses bars: says when a file ended early, else "". */
const char *source_cut_note(const struct dbn_source *source);

/* "path: byte N", as row_place_text. */
const char *source_place(const void *context, struct row_place place,
                         char out[ROW_PLACE_TEXT]);

#endif
