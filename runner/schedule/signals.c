/* Counting stop requests. */
#include "schedule/signals.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define EXIT_STOPPED 75
/* Sent to a worker whose parent has died. */
#define SIGNAL_ORPHANED SIGUSR2

static volatile sig_atomic_t requests, requests_of_parent;
static struct timespec counted_at; /* seen by handlers only */

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) +
           1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

static void count(int number)
{
    (void)number;
    if (requests > 0 && seconds_since(&counted_at) < SIGNAL_BURST_S)
        return;
    requests++;
    clock_gettime(CLOCK_MONOTONIC, &counted_at);
}

static void note_orphaned(int number)
{
    (void)number;
    if (requests == 0)
        requests = 1;
}

static void count_or_leave(int number)
{
    if (number == SIGNAL_STOP_WORKER)
        requests_of_parent++;
    else
        requests++;
    if (requests >= 2 || requests_of_parent >= 2)
        _exit(EXIT_STOPPED);
}

/* A count is not atomic, so no handler interrupts another; and reads and
 * writes that wait go on after one. */
static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* What nohup or a shell's & has made deaf to a signal stays so. */
static void count_unless_ignored(int number)
{
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        handle(number, count);
}

void signals_for_parent(void)
{
    count_unless_ignored(SIGINT);
    count_unless_ignored(SIGTERM);
    count_unless_ignored(SIGHUP);
    handle(SIGPIPE, SIG_IGN);
}

void signals_for_worker(int64_t parent)
{
    handle(SIGTERM, count_or_leave);
    handle(SIGNAL_STOP_WORKER, count_or_leave);
    handle(SIGINT, SIG_IGN);
    handle(SIGHUP, SIG_IGN);
    handle(SIGPIPE, SIG_IGN);
    handle(SIGNAL_ORPHANED, note_orphaned);
    prctl(PR_SET_PDEATHSIG, SIGNAL_ORPHANED);
    if (parent != 0 && getppid() != parent) /* it has died before that */
        raise(SIGNAL_ORPHANED);
}

int stop_requests(void)
{
    return (int)(requests > requests_of_parent ? requests : requests_of_parent);
}
