/* Noting a signal that would end the process, and raising it later. */
#include "util/interrupt.h"

#include <time.h>

static const int numbers[INTERRUPT_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t came;
static struct timespec came_at; /* seen by the handler only */

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) +
           1e-9 * (double)(now.tv_nsec - then->tv_nsec);
}

/* What is raised here is delivered when the handler returns. */
static void note(int number)
{
    if (came == 0) {
        clock_gettime(CLOCK_MONOTONIC, &came_at);
        came = number;
    } else if (seconds_since(&came_at) >= INTERRUPT_BURST_S) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void interrupt_hold(struct interrupt_hold *out)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};

    sigfillset(&action.sa_mask);
    came = 0;
    for (int i = 0; i < INTERRUPT_SIGNALS; i++) {
        sigaction(numbers[i], NULL, &out->before[i]);
        if (out->before[i].sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
}

void interrupt_release(const struct interrupt_hold *hold)
{
    int number = came;

    for (int i = 0; i < INTERRUPT_SIGNALS; i++)
        sigaction(numbers[i], &hold->before[i], NULL);
    came = 0;
    if (number != 0)
        raise(number);
}

int interrupt_came(void)
{
    return came;
}
