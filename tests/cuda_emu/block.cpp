/* The threads of one block.  Each runs until it waits or ends; one that never
 * waits leaves its fiber to the next, without a switch. */
#include "emu.h"

#include <algorithm>
#include <stdio.h>
#include <string.h>

enum { MAX_THREADS = 1024, QUEUE = 2048 };

emu_thread *emu_self;
emu_warp emu_warps[32];
static emu_thread threads[MAX_THREADS];
static unsigned n_threads, n_alive, n_waiting; /* at the barrier */
static emu_thread *first_waiting;
static uint16_t phase;
static std::vector<emu_fiber *> idle;

emu_thread *emu_thread_at(unsigned linear)
{
    return &threads[linear];
}

uint16_t emu_phase(void)
{
    return phase;
}

/* ---- the run queue: a ring ---------------------------------------------- */

static uint16_t queue[QUEUE];
static uint32_t head, tail;

void emu_make_ready(unsigned linear, bool next)
{
    threads[linear].state = READY;
    if (next)
        queue[--head % QUEUE] = (uint16_t)linear;
    else
        queue[tail++ % QUEUE] = (uint16_t)linear;
}

static emu_thread *take(void)
{
    if (emu.order == ORDER_RANDOM && tail - head > 1)
        std::swap(queue[head % QUEUE],
                  queue[(head + emu.order_random() % (tail - head)) % QUEUE]);
    return &threads[queue[head++ % QUEUE]];
}

/* ---- threads ------------------------------------------------------------ */

static void run_threads(void);

static void start(emu_thread *thread)
{
    if (idle.empty())
        thread->fiber = emu_fiber_new(run_threads);
    else {
        thread->fiber = idle.back();
        idle.pop_back();
    }
}

/* Runs the next thread, or goes back to the grid when there is none. */
static void yield(void)
{
    emu_thread *thread;

    if (head == tail) {
        emu_fiber_switch(emu_fiber_main());
        return;
    }
    thread = take();
    if (thread->state == FRESH)
        start(thread);
    emu_self = thread;
    emu_fiber_switch(thread->fiber);
}

void emu_wait(void)
{
    emu_thread *self = emu_self;

    yield();
    emu_self = self;
}

static void release_barrier(void);

/* A thread that leaves while others wait leaves them waiting for ever: on a
 * device that is undefined, and mostly a hang. */
static void finish(emu_thread *thread)
{
    thread->state = DONE;
    thread->fiber = NULL;
    n_alive--;
    emu_warps[thread->linear / 32].done |= 1u << (thread->linear % 32);
    if (n_waiting == 0)
        return;
    emu_mistake(NULL,
                "a thread leaves the kernel while %u threads of its block "
                "wait at a barrier (%s:%d)",
                n_waiting, first_waiting->file, first_waiting->line);
    if (n_waiting == n_alive)
        release_barrier();
}

/* The life of a fiber: one thread after the other. */
static void run_threads(void)
{
    for (;;) {
        emu_fiber *fiber = emu_fiber_now();
        emu_thread *next;

        emu_self->state = READY;
        emu_current->invoke(emu_current->closure);
        finish(emu_self);
        if (head == tail) {
            idle.push_back(fiber);
            emu_fiber_switch(emu_fiber_main());
            continue;
        }
        next = take();
        emu_self = next;
        if (next->state == FRESH) {
            next->fiber = fiber;
            continue;
        }
        idle.push_back(fiber);
        emu_fiber_switch(next->fiber);
    }
}

/* ---- barriers ----------------------------------------------------------- */

static void release_barrier(void)
{
    n_waiting = 0;
    phase++;
    for (unsigned k = 0; k < n_threads; k++) {
        unsigned i = emu.order == ORDER_DESCENDING ? n_threads - 1 - k : k;

        if (threads[i].state == AT_BARRIER)
            emu_make_ready(i, false);
    }
}

static bool same_place(const emu_thread *a, const char *file, int line)
{
    return a->line == line && strcmp(a->file, file) == 0;
}

void emu_syncthreads(const char *file, int line)
{
    emu_thread *self = emu_self;

    if (!emu_in_kernel()) {
        emu_mistake(NULL, "__syncthreads outside of a kernel");
        return;
    }
    if (n_waiting == 0)
        first_waiting = self;
    else if (!same_place(first_waiting, file, line))
        emu_mistake(NULL,
                    "barriers diverge: thread %u waits at %s:%d, this one at "
                    "%s:%d",
                    first_waiting->linear, first_waiting->file,
                    first_waiting->line, file, line);
    if (n_alive != n_threads)
        emu_mistake(NULL,
                    "a barrier (%s:%d) after %u threads of the block have "
                    "left",
                    file, line, n_threads - n_alive);
    self->state = AT_BARRIER;
    self->file = file;
    self->line = line;
    if (++n_waiting == n_alive)
        release_barrier();
    emu_wait();
}

/* ---- the block ---------------------------------------------------------- */

void emu_block_prepare(const emu_kernel *kernel)
{
    n_threads = kernel->block.x * kernel->block.y * kernel->block.z;
}

static void begin(void)
{
    unsigned x = emu_current->block.x, y = emu_current->block.y;

    head = tail = 0;
    n_alive = n_threads;
    n_waiting = 0;
    phase = 1;
    for (unsigned w = 0; w * 32 < n_threads; w++) {
        unsigned lanes = n_threads - 32 * w;

        emu_warps[w] = {lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1, 0, 0, 1};
    }
    for (unsigned k = 0; k < n_threads; k++) {
        unsigned i = emu.order == ORDER_DESCENDING ? n_threads - 1 - k : k;

        threads[i] = emu_thread{};
        threads[i].index = {i % x, i / x % y, i / (x * y)};
        threads[i].linear = (uint16_t)i;
        emu_make_ready(i, false);
        threads[i].state = FRESH;
    }
}

/* Nobody can go on, and not all have left. */
static void report_deadlock(void)
{
    std::map<std::string, int> places;
    std::string text;

    for (unsigned i = 0; i < n_threads; i++) {
        char place[300];

        if (threads[i].state == DONE)
            continue;
        snprintf(place, sizeof place, "%s at %s:%d",
                 threads[i].state == AT_BARRIER ? "__syncthreads"
                                                : "a warp operation",
                 threads[i].file, threads[i].line);
        places[place]++;
    }
    for (const auto &place : places)
        text += (text.empty() ? "" : ", ") + std::to_string(place.second) +
                " threads in " + place.first;
    emu_mistake(NULL, "deadlock in block (%u,%u,%u): %s", emu_block_at.x,
                emu_block_at.y, emu_block_at.z, text.c_str());
}

void emu_block_run(void)
{
    begin();
    emu_count.threads += n_threads;
    while (head != tail)
        yield();
    emu_self = NULL;
    if (n_alive > 0)
        report_deadlock();
}

/* ---- where a thread is -------------------------------------------------- */

uint3 emu_thread_index(void)
{
    return emu_self->index;
}

uint3 emu_block_index(void)
{
    return emu_block_at;
}

uint3 emu_block_size(void)
{
    const dim3 &block = emu_current->block;

    return {block.x, block.y, block.z};
}

uint3 emu_grid_size(void)
{
    const dim3 &grid = emu_current->grid;

    return {grid.x, grid.y, grid.z};
}

std::string emu_where(void)
{
    char text[400];

    if (emu_current == NULL)
        return "";
    if (emu_self == NULL) {
        snprintf(text, sizeof text, "[kernel %s; launched %s:%d]",
                 emu_current->name.c_str(), emu_current->file,
                 emu_current->line);
        return text;
    }
    snprintf(text, sizeof text,
             "[kernel %s, block (%u,%u,%u), thread (%u,%u,%u); launched "
             "%s:%d]",
             emu_current->name.c_str(), emu_block_at.x, emu_block_at.y,
             emu_block_at.z, emu_self->index.x, emu_self->index.y,
             emu_self->index.z, emu_current->file, emu_current->line);
    return text;
}
