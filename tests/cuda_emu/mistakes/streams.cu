/* Planted mistakes: copies, and work on streams that is out of order. */
#include "mistakes.h"

static float *pinned_numbers(size_t n)
{
    float *pinned = (float *)(void *)new_pinned(n * sizeof(float));

    for (size_t i = 0; i < n; i++)
        pinned[i] = 7;
    return pinned;
}

/* ---- one copy -------------------------------------------------------------
 */

static void wrong_kind(void)
{
    (void)cudaMemcpyAsync(array_of<float>(4), pinned_numbers(4), 16,
                          cudaMemcpyDeviceToHost, first());
}

static void default_kind(void)
{
    (void)cudaMemcpyAsync(array_of<float>(4), pinned_numbers(4), 16,
                          cudaMemcpyDefault, first());
}

static void past_destination(void)
{
    (void)cudaMemcpyAsync(array_of<float>(4), pinned_numbers(8), 20,
                          cudaMemcpyHostToDevice, first());
}

static void past_source(void)
{
    (void)cudaMemcpyAsync(array_of<float>(8), filled(4, 1), 20,
                          cudaMemcpyDeviceToDevice, first());
}

static void past_pinned_source(void)
{
    (void)cudaMemcpyAsync(array_of<float>(8), pinned_numbers(4), 20,
                          cudaMemcpyHostToDevice, first());
}

static void past_pinned_destination(void)
{
    (void)cudaMemcpyAsync(pinned_numbers(4), filled(8, 1), 20,
                          cudaMemcpyDeviceToHost, first());
}

static void pageable_source(void)
{
    float host[4] = {1, 2, 3, 4};

    (void)cudaMemcpyAsync(array_of<float>(4), host, 16, cudaMemcpyHostToDevice,
                          first());
}

static void fill_past_end(void)
{
    (void)cudaMemsetAsync(array_of<float>(4), 0, 20, first());
}

static void copy_of_unwritten(void)
{
    RESULT(value_at(array_of<float>(4), 0) == 0);
}

static void copy_of_freed(void)
{
    float *from = filled(4, 1);

    GOOD(cudaFree(from));
    (void)cudaMemcpyAsync(pinned_numbers(4), from, 16, cudaMemcpyDeviceToHost,
                          first());
}

/* ---- the host does not wait -----------------------------------------------
 */

static void result_too_early(void)
{
    float *from = filled(4, 3), *to = pinned_numbers(4);

    GOOD(cudaMemcpyAsync(to, from, 16, cudaMemcpyDeviceToHost, first()));
    RESULT(to[0] == 3);
}

static void source_changed(void)
{
    float *to = array_of<float>(1), *from = pinned_numbers(1);

    GOOD(cudaMemcpyAsync(to, from, 4, cudaMemcpyHostToDevice, first()));
    *from = 2;
    RESULT(value_at(to, 0) == 7);
}

/* Waits for what was before the copy. */
static void event_too_early(void)
{
    float *from = filled(4, 3), *to = pinned_numbers(4);
    cudaEvent_t event;

    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    RUN(set_numbers, 1, 32, from, 4, 5.0f);
    GOOD(cudaEventRecord(event, first()));
    GOOD(cudaMemcpyAsync(to, from, 16, cudaMemcpyDeviceToHost, first()));
    GOOD(cudaEventSynchronize(event));
    RESULT(to[0] == 5);
}

static void other_stream_awaited(void)
{
    float *from = filled(4, 3), *to = pinned_numbers(4);

    GOOD(cudaMemcpyAsync(to, from, 16, cudaMemcpyDeviceToHost, first()));
    GOOD(cudaStreamSynchronize(second()));
    RESULT(to[0] == 3);
}

/* ---- streams --------------------------------------------------------------
 */

struct relay {
    float *a, *b, *c;
};

static struct relay new_relay(void)
{
    return {filled(64, 1), filled(64, 0), filled(64, 0)};
}

/* b from a on the first stream. */
static void first_leg(const struct relay *relay)
{
    RUN(copy_numbers, 1, 64, (const float *)relay->a, relay->b, 64);
}

/* c from b on the second, which is awaited. */
static void second_leg(const struct relay *relay)
{
    GOOD(M2_LAUNCH(copy_numbers, 1, 64, 0, second(), (const float *)relay->b,
                   relay->c, 64));
    GOOD(cudaStreamSynchronize(second()));
    RESULT(all_are(relay->c, 64, 1));
}

static void no_event(void)
{
    struct relay relay = new_relay();

    first_leg(&relay);
    second_leg(&relay);
}

static void event_recorded_early(void)
{
    struct relay relay = new_relay();
    cudaEvent_t event;

    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    GOOD(cudaEventRecord(event, first()));
    first_leg(&relay);
    GOOD(cudaStreamWaitEvent(second(), event, 0));
    second_leg(&relay);
}

/* An event that nobody has recorded makes nobody wait. */
static void event_never_recorded(void)
{
    struct relay relay = new_relay();
    cudaEvent_t event;

    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    first_leg(&relay);
    GOOD(cudaStreamWaitEvent(second(), event, 0));
    second_leg(&relay);
}

/* The reader has its event, the next writer has none. */
static void overwritten_while_read(void)
{
    struct relay relay = new_relay();
    cudaEvent_t event;

    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    first_leg(&relay);
    GOOD(cudaEventRecord(event, first()));
    GOOD(cudaStreamWaitEvent(second(), event, 0));
    GOOD(M2_LAUNCH(copy_numbers, 1, 64, 0, second(), (const float *)relay.b,
                   relay.c, 64));
    RUN(set_numbers, 1, 64, relay.b, 64, 9.0f);
    FINISH();
    GOOD(cudaStreamSynchronize(second()));
    RESULT(all_are(relay.c, 64, 1));
}

static const struct mistake mistakes[] = {
    {"a copy of the wrong kind", wrong_kind, "alc", "kind 2 does not fit",
     NULL},
    {"a copy that names no kind", default_kind, "ac",
     "cudaMemcpyAsync names its kind", NULL},
    {"a copy past its destination", past_destination, "alc",
     "cudaMemcpyAsync, destination: 20 bytes at offset 0 of the 16-byte", NULL},
    {"a copy past its source", past_source, "alc",
     "cudaMemcpyAsync, source: 20 bytes", NULL},
    {"a copy past its pinned source", past_pinned_source, "alc",
     "host memory that is not pinned, 20 bytes", NULL},
    {"a copy past its pinned destination", past_pinned_destination, "ac",
     "host memory that is not pinned, 20 bytes", NULL},
    {"a copy from memory that is not pinned", pageable_source, "alc",
     "host memory that is not pinned", NULL},
    {"a fill past the end", fill_past_end, "ac", "cudaMemsetAsync: 20 bytes",
     NULL},
    {"a copy of memory that nobody has written", copy_of_unwritten, "ac", NULL,
     "cudaMemcpyAsync reads device memory that nobody has written"},
    {"a copy of freed memory", copy_of_freed, "ac", "already freed", NULL},
    {"a result read before it arrives", result_too_early, "lC", NULL, NULL},
    {"pinned memory changed before its copy has run", source_changed, "lC",
     "changed between cudaMemcpyAsync and the copy", NULL},
    {"an event recorded before the copy it is to tell of", event_too_early,
     "lC", NULL, NULL},
    {"waiting for another stream", other_stream_awaited, "lC", NULL, NULL},
    {"two streams without an event", no_event, "lcC", NULL, "a race ("},
    {"two streams with an event that comes too early", event_recorded_early,
     "lcC", NULL, "a race ("},
    {"two streams with an event that was not recorded", event_never_recorded,
     "lcC", NULL, "a race ("},
    {"memory written again while another stream reads", overwritten_while_read,
     "lcC", NULL, "a race ("},
};
static const int added =
    emu_add_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
