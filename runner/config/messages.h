/* Messages about an experiment file: all of them at once, in file order.
 *
 * A message names a place, and shows it:
 *
 *     exp.yaml:4:3: error: unknown key 'stpes' in 'train'; did you mean
 * 'steps'? 4 |   stpes: 100 |   ^~~~~
 *
 * The sink renders a message when it is added, so it does not depend on the
 * life of the source.  What is said twice about one place is kept once. */
#ifndef M2_CONFIG_MESSAGES_H
#define M2_CONFIG_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "util/text.h"

/* Included files rank below RANK_FILE, the deeper the lower. */
enum { RANK_FILE = 1000, RANK_COMMAND_LINE = 2000 };

/* A text that was read: a file, standard input, or the command line with one
 * override per line. */
struct source {
    const char *name; /* as shown in messages */
    const char *path; /* the file that paths in it are relative to, or NULL:
                         the working directory */
    const char *bytes;
    size_t size;
    int order; /* messages are sorted by it: 0 is the main file */
    int rank;  /* of two keys that exclude each other, that of the source with
                  the higher rank counts */
};

/* A stretch of a source.  line and column count characters from 1; width is
 * what is underlined, at least 1.  line 0 is the source as a whole. */
struct place {
    const struct source *source;
    int line, column, width;
};

struct message {
    int code; /* enum m2_code; 0 is a warning */
    int order, line, column;
    size_t sequence;
    char *text; /* rendered, ends with a newline */
};

/* `struct messages m = {0}` is empty.  A failed allocation is remembered:
 * see messages_result. */
struct messages {
    struct message *items;
    size_t count, capacity;
    size_t n_errors, n_warnings;
    size_t n_dropped; /* past the first 200 */
    bool failed;
};

void messages_free(struct messages *messages);

/* Adds an error with code M2_E_CONFIG. */
__attribute__((format(printf, 3, 4))) void
message_error(struct messages *messages, struct place place, const char *format,
              ...);

/* Adds an error with another code, as M2_E_DEVICE. */
__attribute__((format(printf, 4, 5))) void
message_error_code(struct messages *messages, int code, struct place place,
                   const char *format, ...);

__attribute__((format(printf, 3, 4))) void
message_warning(struct messages *messages, struct place place,
                const char *format, ...);

/* The bytes of the source at a place, *size_out of them up to the source's end;
 * NULL when it has no such place. */
const char *place_bytes(const struct place *place, size_t *size_out);

/* Adds all messages to `out`, sorted by source, line and column. */
void messages_print(struct messages *messages, struct text *out);

/* 0 when there is no error; else the code of the first one in file order,
 * with a summary ("exp.yaml: 3 errors") in err. */
int messages_result(struct messages *messages, const char *name,
                    struct m2_error *err);

#endif
