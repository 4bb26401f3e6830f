/* The files of a data source, each with what tells it from another. */
#ifndef M2_DATA_FINGERPRINT_H
#define M2_DATA_FINGERPRINT_H

#include "config/config.h"
#include "util/file.h"
#include "util/sha256.h"

struct data_file {
    char *path; /* absolute */
    struct file_facts facts;
    char sha256[SHA256_HEX_SIZE];
};

struct data_files {
    struct data_file *items; /* in bytewise order of their paths */
    size_t n, capacity;
};

/* The files that the config names, with their digests (digest_cache.h).
 * M2_E_DATA when an entry of data.path matches nothing, or a file cannot be
 * read.  A source without files has none. */
int data_files_find(const struct config_data *config, struct data_files *out,
                    struct m2_error *err);
void data_files_free(struct data_files *files);

#endif
