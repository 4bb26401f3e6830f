/* Stop requests: SIGINT, SIGTERM and SIGHUP, counted.
 *
 * The count is the one thing a signal handler can change; it is process-wide
 * because signals are. */
#ifndef M2_SCHEDULE_SIGNALS_H
#define M2_SCHEDULE_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* For a program that people stop: counts SIGINT, SIGTERM, SIGHUP, each unless
 * it was ignored before (nohup, a background job).  Requests that come within
 * SIGNAL_BURST_S of one that counted are that one: timeout(1) asks the process
 * and then its group, a service manager sends SIGTERM and SIGHUP. */
#define SIGNAL_BURST_S 0.2
void signals_for_parent(void);

/* How a parent passes a stop request on.  Not SIGTERM: whoever sends that to
 * the whole process group (timeout, a batch system) would ask twice. */
#define SIGNAL_STOP_WORKER SIGUSR1

/* For a worker: counts SIGTERM and SIGNAL_STOP_WORKER, each on its own, and
 * ignores SIGINT and SIGHUP; is asked to stop, but never as the second
 * request, when its parent dies, or if `parent` (a process id, 0: anyone) is
 * no longer its parent.  The second of either kind ends the process with exit
 * code 75 at once: a checkpoint that is being written leaves the one before
 * as it is. */
void signals_for_worker(int64_t parent);

/* Number of stop requests so far. */
int stop_requests(void);

#endif
