/* SIGINT, SIGTERM and SIGHUP while something exists that is to be tidied up.
 *
 * Between hold and release the first of them is only noted, unless it was
 * ignored before; whoever works looks at interrupt_came now and then and comes
 * to an end.  release raises it again, so that the process ends by it as if it
 * had never been held.  A second one, INTERRUPT_BURST_S later or more, ends the
 * process at once.  Signals are the process's: one hold at a time. */
#ifndef M2_UTIL_INTERRUPT_H
#define M2_UTIL_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

#define INTERRUPT_BURST_S 0.2 /* timeout(1) asks a process, then its group */

enum { INTERRUPT_SIGNALS = 3 };
struct interrupt_hold {
    struct sigaction before[INTERRUPT_SIGNALS];
};

void interrupt_hold(struct interrupt_hold *out);
void interrupt_release(const struct interrupt_hold *hold);

/* The signal that was noted since interrupt_hold, or 0. */
int interrupt_came(void);

#endif
