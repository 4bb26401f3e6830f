/* Who works on an attempt, and whether it still does.
 *
 * owner.json holds host, pid, boot id, start time, a random token and a
 * heartbeat counter.  Its writer keeps an exclusive lock on it (open file
 * description lock) as long as it lives; the kernel drops the lock when the
 * process dies, however it dies.  On the same boot the lock alone decides.
 * For a file written under another boot id (another host, or this one before
 * a restart) a lock that is free is believed only after the heartbeat stood
 * still for OWNER_SILENCE_S of the observer's monotonic clock.
 * M2RUN_BOOT_ID overrides the boot id, M2RUN_SILENCE_S the seconds, for tests
 * of the other-host path. */
#ifndef M2_RESULTS_OWNER_H
#define M2_RESULTS_OWNER_H

#include <stdbool.h>

#include "m2_plugin.h"

#define OWNER_SILENCE_S    60
#define OWNER_TOKEN_LENGTH 32

struct owner {
    char host[256];
    char boot_id[64];
    char token[OWNER_TOKEN_LENGTH + 1]; /* random, names this attempt */
    int64_t pid;
    int64_t start_ns;  /* wall clock, information only */
    int64_t heartbeat; /* counts up while the attempt lives */
};

/* Facts of this process. */
int owner_self(struct owner *out, struct m2_error *err);

/* Creates DIR/owner.json, locks it, returns the descriptor that holds the
 * lock (close it to let go). */
int owner_create(int dirfd, const struct owner *owner, int *fd_out,
                 struct m2_error *err);
/* Rewrites the file with the next heartbeat. */
int owner_beat(int fd, struct owner *owner, struct m2_error *err);

/* What the bytes of an owner.json say; M2_E_RESULTS when they are none. */
int owner_parse(const char *bytes, size_t size, struct owner *out,
                struct m2_error *err);

/* Reads DIR/owner.json; *locked_out tells whether a live process holds it.
 * M2_E_RESULTS when the file is missing or unreadable. */
int owner_read(int dirfd, struct owner *out, bool *locked_out,
               struct m2_error *err);

/* What an observer remembers of a foreign owner between two looks. */
struct owner_watch {
    char token[OWNER_TOKEN_LENGTH + 1];
    int64_t heartbeat;
    double since_s; /* monotonic */
};
enum owner_state { OWNER_ALIVE, OWNER_DEAD, OWNER_UNSURE };
enum owner_state owner_judge(const struct owner *owner, bool locked,
                             struct owner_watch *watch);

#endif
