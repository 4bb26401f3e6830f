/* A results folder for tests, empty at first, and runs in it. */
#ifndef M2_TESTS_RESULTS_FOLDER_H
#define M2_TESTS_RESULTS_FOLDER_H

#include "results/attempt.h"

#define IDENTITY_A                                                             \
    "aaaaaaaaaaaa0123456789abcdef0123456789abcdef0123456789abcdef0123"
#define HASH_A "aaaaaaaaaaaa"
#define IDENTITY_B                                                             \
    "bbbbbbbbbbbb0123456789abcdef0123456789abcdef0123456789abcdef0123"
#define HASH_B "bbbbbbbbbbbb"

/* Fixtures of cmocka; *state is the folder's path. */
int folder_open(void **state);
int folder_close(void **state);

/* Run of the experiment "exp" in the folder. */
struct run_place folder_place(const char *root, const char *label,
                              const char *identity);

/* root/NAME, in one of four buffers used in turn; and whether it exists. */
const char *folder_path(const char *root, const char *name);
bool folder_has(const char *root, const char *name);

/* A claim that must give `expected`; the attempt, or NULL. */
struct attempt *folder_claim(const struct claim_request *request,
                             enum claim expected);

/* Claims, writes run.json with this state and more members, publishes. */
void folder_publish(const struct run_place *place, const char *state,
                    const char *members);

/* Writes a file with its folders. */
void folder_write(const char *root, const char *name, const char *contents);

#endif
