/* One worker process and the two pipes that come from it. */
#ifndef M2_SCHEDULE_WORKER_PROCESS_H
#define M2_SCHEDULE_WORKER_PROCESS_H

#include <sys/types.h>

#include "m2_plugin.h"
#include "util/text.h"

/* A pipe that is read line by line. */
struct line_pipe {
    int fd; /* -1: closed */
    struct text pending;
};

struct worker_process {
    pid_t pid; /* 0: none */
    struct line_pipe events, messages;
};

/* Starts argv[0] with posix_spawn. */
int worker_spawn(struct worker_process *worker, char *const argv[],
                 struct m2_error *err);

/* Reads what is there and calls `line` for every complete line; closes the
 * pipe at its end. */
void line_pipe_read(struct line_pipe *pipe,
                    void (*line)(void *context, char *text), void *context);

/* Closes the pipes; the process must have been waited for. */
void worker_close(struct worker_process *worker);

#endif
