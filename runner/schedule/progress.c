/* Drawing the progress of running jobs on stderr. */
#include "schedule/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/timefmt.h"

#define REDRAW_S 0.1
#define PLAIN_S  10.0

struct slot {
    char *label; /* NULL: free */
    struct event last;
    double plain_s; /* when the last plain line was printed */
};

struct progress {
    struct slot *slots;
    int n_slots;
    size_t n_runs, n_ended;
    bool redraw, quiet;
    int lines_drawn;
    double drawn_s, started_s;
};

struct progress *progress_new(int jobs, size_t n_runs, bool quiet)
{
    struct progress *progress = memory_zeroed(1, sizeof *progress, NULL);

    if (progress == NULL)
        return NULL;
    progress->slots = memory_zeroed((size_t)jobs, sizeof(struct slot), NULL);
    if (progress->slots == NULL) {
        free(progress);
        return NULL;
    }
    progress->n_slots = jobs;
    progress->n_runs = n_runs;
    progress->quiet = quiet;
    progress->redraw = terminal_can_redraw(STDERR_FILENO);
    progress->started_s = time_monotonic();
    return progress;
}

static void erase(struct progress *progress)
{
    for (int i = 0; i < progress->lines_drawn; i++)
        fputs("\033[A\033[2K", stderr);
    progress->lines_drawn = 0;
}

void progress_free(struct progress *progress)
{
    if (progress == NULL)
        return;
    erase(progress);
    fflush(stderr);
    for (int i = 0; i < progress->n_slots; i++)
        free(progress->slots[i].label);
    free(progress->slots);
    free(progress);
}

static void describe(const struct slot *slot, struct text *out)
{
    const struct event *last = &slot->last;
    char eta[NUMBER_TEXT_SIZE];

    text_addf(out, "%s: ", slot->label);
    if (last->kind != EVENT_PROGRESS) {
        text_add(out, "starting");
        return;
    }
    text_addf(out, "step %" PRId64 "/%" PRId64, last->step, last->total);
    if (!isnan(last->loss))
        text_addf(out, "  loss %.4g", last->loss);
    if (last->rate > 0)
        text_addf(out,
                  last->rate < 100 ? "  %.3g windows/s" : "  %.0f windows/s",
                  last->rate);
    if (!isnan(last->eta))
        text_addf(out, "  eta %s", number_print_duration(last->eta, eta));
}

static void put_line(struct progress *progress, const struct text *line)
{
    int width = terminal_width(STDERR_FILENO) - 1;

    fprintf(stderr, "%.*s\n", width, text_string(line));
    progress->lines_drawn++;
}

static void draw(struct progress *progress)
{
    struct text line = {0};
    char elapsed[NUMBER_TEXT_SIZE];

    erase(progress);
    for (int i = 0; i < progress->n_slots; i++) {
        if (progress->slots[i].label == NULL)
            continue;
        text_clear(&line);
        describe(&progress->slots[i], &line);
        put_line(progress, &line);
    }
    text_clear(&line);
    text_addf(
        &line, "%zu of %zu runs, %s", progress->n_ended, progress->n_runs,
        number_print_duration(time_monotonic() - progress->started_s, elapsed));
    put_line(progress, &line);
    fflush(stderr);
    text_free(&line);
    progress->drawn_s = time_monotonic();
}

static void print_plain(struct slot *slot)
{
    struct text line = {0};

    if (time_monotonic() - slot->plain_s < PLAIN_S)
        return;
    slot->plain_s = time_monotonic();
    describe(slot, &line);
    fprintf(stderr, "%s\n", text_string(&line));
    text_free(&line);
}

void progress_start(struct progress *progress, int slot, const char *label)
{
    struct slot *place;

    if (progress == NULL)
        return;
    place = &progress->slots[slot];
    free(place->label);
    *place = (struct slot){
        .label = label != NULL ? strdup(label) : NULL,
        .plain_s = time_monotonic(),
    };
    if (progress->redraw && !progress->quiet)
        draw(progress);
}

void progress_update(struct progress *progress, int slot,
                     const struct event *event)
{
    if (progress == NULL || progress->quiet ||
        progress->slots[slot].label == NULL)
        return;
    progress->slots[slot].last = *event;
    if (!progress->redraw)
        print_plain(&progress->slots[slot]);
    else if (time_monotonic() - progress->drawn_s >= REDRAW_S)
        draw(progress);
}

void progress_ended(struct progress *progress, size_t n_ended)
{
    if (progress != NULL)
        progress->n_ended = n_ended;
}

void progress_message(struct progress *progress, const char *line)
{
    if (progress != NULL)
        erase(progress);
    fprintf(stderr, "%s\n", line);
    if (progress != NULL && progress->redraw && !progress->quiet)
        draw(progress);
}
