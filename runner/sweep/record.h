/* The record of one invocation: sweep-<hash8>.yaml.
 *
 *   format: 1
 *   overrides: [...]         as on the command line
 *   source: |                every file that was read
 *     ...
 *   base: |                  canonical text of the experiment without sweep
 *     ...
 *   runs:
 *   - {"run": "...", "identity": "...", "set": ["key=value", ...]}
 *
 * Workers read their run from here and from nowhere else: a file that is
 * edited while a sweep runs changes nothing.  hash8 is the start of the
 * record's own SHA-256, so the same invocation writes the same record. */
#ifndef M2_SWEEP_RECORD_H
#define M2_SWEEP_RECORD_H

#include "sweep/sweep.h"
#include "util/sha256.h"

/* One run as the record has it. */
struct record_run {
    char *label;
    char identity[SHA256_HEX_SIZE];
    struct string_list set; /* overrides on the base */
};

struct sweep_record {
    struct record_run *runs;
    size_t n_runs;
};
void sweep_record_free(struct sweep_record *record);

/* The record's text. */
int sweep_record_text(const struct experiment *experiment,
                      const struct sweep_record *record,
                      const char *const *overrides, size_t n_overrides,
                      struct text *out, struct m2_error *err);

/* Writes it as DIR/sweep-<hash8>.yaml, unless it is there already; *path_out
 * is the caller's.  Another content under that name is an error. */
int sweep_record_write(const char *dir, const struct text *text,
                       char **path_out, struct m2_error *err);

/* Reads run number `index`: *base is the canonical text. */
int sweep_record_read(const char *path, size_t index, struct text *base,
                      struct record_run *out, struct m2_error *err);
void record_run_free(struct record_run *run);

/* The same of a record's text; `path` is the name for messages. */
struct record_text {
    const char *path, *text;
};
int sweep_record_parse(const struct record_text *record, size_t index,
                       struct text *base, struct record_run *out,
                       struct m2_error *err);

#endif
