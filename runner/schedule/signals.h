/* Stop requests: SIGINT, SIGTERM and SIGHUP, counted.
 *
 * The count is the one thing a signal handler can change; it is process-wide
 * because signals are. */
#ifndef M2_SCHEDULE_SIGNALS_H
#define M2_SCHEDULE_SIGNALS_H

/* For a program that people stop: counts SIGINT, SIGTERM, SIGHUP. */
void signals_for_parent(void);

/* For a worker: counts SIGTERM, ignores SIGINT and SIGHUP; is sent SIGTERM
 * when its parent dies.  The second SIGTERM ends the process with exit code
 * 75 at once. */
void signals_for_worker(void);

/* Number of stop requests so far. */
int stop_requests(void);

#endif
