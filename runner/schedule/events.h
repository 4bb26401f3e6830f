/* What a worker tells its parent: one line of JSON per event on stdout.
 *
 *   {"event": "progress", "step": 12, "total": 400, "saved": 10,
 *    "loss": 0.98, "rate": 1234.5, "eta": 31.0}
 *   {"event": "end", "state": "done", "path": "...", "reason": "..."}
 *   {"event": "held"}
 *   {"event": "error", "code": -5, "reason": "..."}
 *
 * A reader ignores lines it does not understand. */
#ifndef M2_SCHEDULE_EVENTS_H
#define M2_SCHEDULE_EVENTS_H

#include <stdint.h>

enum event_kind {
    EVENT_NONE,
    EVENT_PROGRESS,
    EVENT_END,
    EVENT_HELD,
    EVENT_ERROR,
};

struct event {
    enum event_kind kind;
    int64_t step, total;
    int64_t saved; /* step of the last checkpoint */
    double loss;   /* NaN: none yet */
    double rate;   /* samples per second */
    double eta;    /* seconds to the end, NaN: unknown */
    char state[16];
    int code;
    char path[4096];
    char reason[2040];
};

/* Writes the event to a file descriptor as one line.  A reader that is gone is
 * no error. */
void event_send(int fd, const struct event *event);

/* Parses a line; EVENT_NONE when it is not an event. */
void event_parse(const char *line, struct event *out);

#endif
