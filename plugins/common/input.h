/* Bytes of one input, in order: a file, or memory (for fuzzing). */
#ifndef M2_PLUGINS_COMMON_INPUT_H
#define M2_PLUGINS_COMMON_INPUT_H

#include <stdbool.h>

#include "m2_plugin.h"

/* Where an input's bytes are.  bytes is NULL for a file. */
struct input_source {
    const char *path; /* for messages, too */
    const uint8_t *bytes;
    size_t n_bytes;
};

struct input {
    struct input_source source; /* borrowed */
    int fd;                     /* -1 for memory */
    uint64_t offset;            /* bytes read so far */
};

/* M2_E_DATA with the system's reason when the file cannot be opened, or is a
 * directory. */
int input_open(struct input *input, const struct input_source *source,
               struct m2_error *err);

/* Up to `size` bytes; *got is 0 only at the end. */
int input_read(struct input *input, void *buffer, size_t size, size_t *got,
               struct m2_error *err);

/* May be called on a zeroed or a closed input. */
void input_close(struct input *input);

/* The part of a path after its last slash. */
const char *input_base_name(const char *path);

#endif
