/* The folder of a new run, shared by working it and by finding it. */
#ifndef M2_REPRODUCE_RERUN_PRIVATE_H
#define M2_REPRODUCE_RERUN_PRIVATE_H

#include "reproduce/rerun.h"
#include "results/driver.h"

#define TRACE_FILE "trace.txt"

struct rerun_folder {
    char *path;            /* RUN.repro-K */
    char *work;            /* .work below it: a results folder */
    struct driver *driver; /* our mark in it */
};

/* A folder to work in: one that an earlier call has left and nobody works in,
 * if it was begun with the same request by the same program; else a new one. */
int rerun_folder_open(const struct rerun_request *request,
                      struct rerun_folder *out, struct m2_error *err);
void rerun_folder_close(struct rerun_folder *folder);

/* Moves the files of the run directory `dir` up to the folder's path and
 * removes .work. */
int rerun_folder_finish(struct rerun_folder *folder, const char *dir,
                        struct m2_error *err);

#endif
