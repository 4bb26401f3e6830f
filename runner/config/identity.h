/* Canonical text and identity of a config.
 *
 * The canonical text is a run's config.yaml: every key resolved, in the order
 * of the schema, beginning with `format: 1`; loading it gives the same config.
 *
 * The identity is the SHA-256 of
 *
 *     m2run-identity-1
 *     KEY: VALUE        every key that is not at its default, sorted by its
 *                       full name, the value as in the canonical text
 *     data:
 *     ...               names and SHA-256 of the data files
 *
 * so a key that is added later changes no old identity, as long as a released
 * default never changes.  Left out are keys that change no result: name, path,
 * threads, checkpoint.  A device is in by the name of its backend, without
 * index or folder; init_from by the SHA-256 of the file. */
#ifndef M2_CONFIG_IDENTITY_H
#define M2_CONFIG_IDENTITY_H

#include "config/schema.h"
#include "util/sha256.h"

/* Adds the canonical text. */
void config_write(const struct schema *schema, const struct config *config,
                  struct text *out);

/* Adds the canonical text of one key's value. */
void config_write_value(const struct schema *schema, size_t row,
                        const struct config *config, struct text *out);

/* Adds the name of a device or a data source as it enters the identity: "cuda"
 * of cuda, cuda:1 and /opt/m2_cuda.so. */
void identity_write_plugin(const char *name, struct text *out);

struct identity_facts {
    const char *backend;     /* that runs it; NULL: the one device names, which
                                then must not be auto */
    const char *init_sha256; /* 64 hex digits; NULL when init_from is null */
    const char *data;        /* text of dataset_fingerprint; NULL: no files */
};

/* Adds the text that is hashed. */
void identity_write(const struct schema *schema, const struct config *config,
                    const struct identity_facts *facts, struct text *out);

/* The identity, 64 hex digits. */
int identity_hash(const struct schema *schema, const struct config *config,
                  const struct identity_facts *facts, char out[SHA256_HEX_SIZE],
                  struct m2_error *err);

#endif
