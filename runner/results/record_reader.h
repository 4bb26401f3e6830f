/* Reads the run.json of many runs, one after the other, fast.
 *
 * Runs of a sweep have most of their records in common: a member of the record
 * or of its "config" that has the bytes of the same member in the record before
 * is not parsed again but shared.  So records that were read must not be
 * changed.  What is not plainly an object of members goes through the JSON
 * library as a whole, which has the last word on what is damaged.
 *
 * A reader is used by one thread, and keeps one file open at a time. */
#ifndef M2_RESULTS_RECORD_READER_H
#define M2_RESULTS_RECORD_READER_H

#include "results/listing.h"

/* A member of an earlier record, and its value. */
struct record_member {
    const char *bytes; /* in the buffer of that record */
    size_t size;
    size_t record; /* number of that record */
    json_t *value;
    json_t *key; /* of a setting */
};

struct record_members {
    struct record_member *items;
    size_t n, capacity;
};

/* Bytes of one file. */
struct record_buffer {
    char *bytes;
    size_t capacity;
};

/* `struct record_reader r = {0}` is ready for use. */
struct record_reader {
    bool settings_apart; /* "config" is not in the record, but in the entry */
    struct record_members top, config;
    struct run_settings *settings;   /* of this record, while it is read */
    bool has_new_keys;               /* settings of other names than before */
    struct record_buffer buffers[2]; /* of even and of odd records */
    size_t record;                   /* number of the one that is read now */
};
void record_reader_free(struct record_reader *reader);

/* Gives the entry the record in `path`, or its damage, or neither when there
 * is no such file.  Waits for nothing: a pipe is a damage.  An error is only
 * M2_E_MEMORY. */
int record_reader_read(struct record_reader *reader, const char *path,
                       struct run_entry *entry, struct m2_error *err);

/* The same for bytes. */
int record_reader_parse(struct record_reader *reader, const char *bytes,
                        size_t size, struct run_entry *entry,
                        struct m2_error *err);

#endif
