/* Warp operations: lanes of a mask meet, and the last one to arrive computes
 * what each of them gets. */
#include "emu.h"

#include <string.h>

/* Numbers of the operations, for comparison: shuffles, then votes. */
enum { VOTES = 10, SYNC = 20 };

static bool same_call(const emu_thread *a, const emu_thread *b)
{
    return a->mask == b->mask && a->warp_operation == b->warp_operation &&
           a->line == b->line && strcmp(a->file, b->file) == 0;
}

static void check_mask(const emu_warp *warp, const emu_thread *self)
{
    unsigned lane = self->linear % 32;
    uint32_t mask = self->mask;

    if (((mask >> lane) & 1) == 0)
        emu_mistake(NULL,
                    "%s:%d: lane %u calls with the mask %#x, in which "
                    "it is not",
                    self->file, self->line, lane, mask);
    if ((mask & ~warp->exists) != 0)
        emu_mistake(NULL,
                    "%s:%d: the mask %#x names lanes that do not exist: "
                    "the block's size is no multiple of 32",
                    self->file, self->line, mask);
    if ((mask & warp->done) != 0)
        emu_mistake(NULL,
                    "%s:%d: the mask %#x names lanes that have left (%#x)",
                    self->file, self->line, mask, warp->done);
}

/* The lane whose value lane `lane` gets. */
static int source_of(const emu_thread *thread, int lane)
{
    int width = thread->width, by = thread->by;
    int segment = lane & ~(width - 1);

    switch (thread->warp_operation) {
    case EMU_SHUFFLE_UP:
        return lane - by < segment ? lane : lane - by;
    case EMU_SHUFFLE_DOWN:
        return lane + by >= segment + width ? lane : lane + by;
    case EMU_SHUFFLE_XOR:
        return (lane ^ by) >= segment + width ? lane : lane ^ by;
    default:
        return segment + (by & (width - 1));
    }
}

static uint64_t shuffled(emu_thread *lanes, int lane)
{
    emu_thread *thread = &lanes[lane];
    int source = source_of(thread, lane);

    if (((thread->mask >> source) & 1) == 0)
        emu_mistake(NULL,
                    "%s:%d: a shuffle: lane %d reads lane %d, which is "
                    "not in the mask %#x",
                    thread->file, thread->line, lane, source, thread->mask);
    return lanes[source].value;
}

static uint64_t voted(const emu_thread *thread, uint32_t ballot)
{
    switch (thread->warp_operation - VOTES) {
    case EMU_VOTE_BALLOT:
        return ballot;
    case EMU_VOTE_ANY:
        return ballot != 0;
    default:
        return ballot == thread->mask;
    }
}

/* All lanes of the mask are here. */
static void complete(emu_thread *lanes, const emu_thread *last)
{
    uint32_t ballot = 0;

    for (int i = 0; i < 32; i++) {
        if (((last->mask >> i) & 1) == 0)
            continue;
        if (!same_call(&lanes[i], last))
            emu_mistake(NULL,
                        "a warp diverges: lane %d is at %s:%d with the mask "
                        "%#x, lane %d at %s:%d with %#x",
                        i, lanes[i].file, lanes[i].line, lanes[i].mask,
                        last->linear % 32, last->file, last->line, last->mask);
        ballot |= (uint32_t)lanes[i].predicate << i;
    }
    for (int i = 0; i < 32; i++) {
        if (((last->mask >> i) & 1) == 0 || last->warp_operation == SYNC)
            continue;
        lanes[i].result = last->warp_operation < VOTES
                              ? shuffled(lanes, i)
                              : voted(&lanes[i], ballot);
    }
}

/* Released lanes go first: a warp runs on until the block's barrier, while its
 * stacks are in the cache. */
static void release(unsigned first, uint32_t mask)
{
    for (int k = 31; k >= 0; k--) {
        int i = emu.order == ORDER_DESCENDING ? 31 - k : k;

        if ((mask >> i) & 1)
            emu_make_ready(first + (unsigned)i, true);
    }
}

static void meet(emu_thread *self)
{
    unsigned first = self->linear / 32 * 32;
    emu_warp *warp = &emu_warps[self->linear / 32];
    uint32_t mask = self->mask;

    check_mask(warp, self);
    self->state = AT_WARP;
    warp->arrived |= 1u << (self->linear % 32);
    if ((warp->arrived & mask) == mask) {
        complete(emu_thread_at(first), self);
        warp->arrived &= ~mask;
        if (self->warp_operation == SYNC) /* only this orders memory */
            warp->phase++;
        release(first, mask);
    }
    emu_wait();
}

static emu_thread *call(int operation, unsigned mask, const char *file,
                        int line)
{
    emu_thread *self = emu_self;

    self->warp_operation = (uint8_t)operation;
    self->mask = mask;
    self->file = file;
    self->line = line;
    self->predicate = 0;
    return self;
}

void emu_syncwarp(unsigned mask, const char *file, int line)
{
    meet(call(SYNC, mask, file, line));
}

uint64_t emu_shuffle(unsigned mask, uint64_t value, int by, int width, int how,
                     const char *file, int line)
{
    emu_thread *self = call(how, mask, file, line);

    self->value = value;
    self->by = (short)by;
    self->width = (short)width;
    meet(self);
    return self->result;
}

unsigned emu_vote(unsigned mask, int predicate, int how, const char *file,
                  int line)
{
    emu_thread *self = call(VOTES + how, mask, file, line);

    self->predicate = predicate;
    meet(self);
    return (unsigned)self->result;
}
