/* An attempt: this process's own folder for one run, from claim to publish.
 *
 * Claim: prepare a folder, lock its owner.json, rename it to the next NNNN
 * under .active/<hash12>, then look for the published run: if it is there,
 * withdraw.  An attempt never touches another attempt's files.
 * Publish: fsync everything, then ONE rename to the published name.  The
 * rename fails on a folder that is there already, so the first wins and the
 * loser removes itself.  Whoever publishes removes the other attempts of the
 * run: one that still works is superseded, and leaves.
 *
 * Files of an attempt are written through the descriptor of its folder: when
 * the folder is gone, writing fails by ENOENT or ESTALE and harms nobody, even
 * where another attempt has the same path by then. */
#ifndef M2_RESULTS_ATTEMPT_H
#define M2_RESULTS_ATTEMPT_H

#include <jansson.h>

#include "results/owner.h"
#include "results/store.h"
#include "util/file.h"

struct attempt; /* opaque */

enum claim {
    CLAIM_OWNED,     /* *out is ours */
    CLAIM_PUBLISHED, /* there is a published run: *published_out */
    CLAIM_HELD,      /* another live process works on it */
    CLAIM_UNSURE,    /* another host's silence is not long enough yet */
};

struct claim_request {
    struct run_place place;
    bool takeover;            /* do not ask whether the owner lives */
    const char *silent_owner; /* token of an owner that attempt_look has found
                                 silent for long enough, or NULL */
};

/* On CLAIM_PUBLISHED what is left of other attempts is removed. */
int attempt_claim(const struct claim_request *request, enum claim *result,
                  struct attempt **out, char **published_out,
                  struct m2_error *err);

/* What a claim would give now; nothing is changed.  CLAIM_OWNED: the run can
 * be had.  The watch (zero at first) is kept by the caller between two looks:
 * it tells an owner on another host that is silent from one that has died,
 * and its token then is the silent_owner of a claim. */
int attempt_look(const struct run_place *place, struct owner_watch *watch,
                 enum claim *result, struct m2_error *err);

const char *attempt_path(const struct attempt *attempt);
const char *attempt_label(const struct attempt *attempt);
int attempt_dirfd(const struct attempt *attempt);
/* A file of it; the name is borrowed. */
struct file_at attempt_file(const struct attempt *attempt, const char *name);
int attempt_number(const struct attempt *attempt);
const struct owner *attempt_owner(const struct attempt *attempt);

/* Folders of all attempts in a run's active folder (store_active_path), newest
 * first; the list ends with NULL and is freed by attempt_free_folders. */
int attempt_list_folders(const char *active, char ***out, struct m2_error *err);
void attempt_free_folders(char **folders);

/* Folders of earlier attempts of this run, newest first; the list ends with
 * NULL and belongs to the attempt. */
char *const *attempt_earlier(const struct attempt *attempt);

/* True when another attempt has published the run, so that our files are gone
 * or will be in a moment, or when a newer attempt has been begun: somebody took
 * us for dead. */
bool attempt_superseded(const struct attempt *attempt);

/* Call often; writes a heartbeat at most every ten seconds.  M2_E_RESULTS
 * when superseded. */
int attempt_heartbeat(struct attempt *attempt, struct m2_error *err);

/* Writes run.json (atomically, fsync). */
int attempt_write_record(struct attempt *attempt, const json_t *record,
                         struct m2_error *err);

/* Copies a file of an earlier attempt into ours, atomically; a missing one is
 * left out. */
int attempt_copy_file(const struct attempt *attempt, const char *from_dir,
                      const char *name, struct m2_error *err);

/* Removes the folders of earlier attempts, except `keep` (NULL: none), and
 * tells whether there were any: a run that is killed often must not fill the
 * disk.  One whose owner might live, on another host, stays. */
bool attempt_prune(const struct attempt *attempt, const char *keep);

/* Publishes and frees the attempt.  *won_out is false when another attempt
 * was first and this one removed itself; *path_out is what is published. */
int attempt_publish(struct attempt *attempt, bool *won_out, char **path_out,
                    struct m2_error *err);

/* Removes the folder, and those around it when nothing else is in them; frees
 * the attempt.  For one that holds nothing to go on from.  NULL is allowed. */
void attempt_discard(struct attempt *attempt);

/* Lets go without publishing: the folder stays for a later attempt.  NULL is
 * allowed. */
void attempt_release(struct attempt *attempt);

#endif
