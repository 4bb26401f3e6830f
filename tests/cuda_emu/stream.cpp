/* Streams and events.  A stream is a queue: eager runs an operation when it is
 * enqueued, lazy when somebody waits, random now and then.  Vector clocks tell
 * which operations are ordered; what is not must not touch the same memory. */
#include "emu.h"

#include <algorithm>
#include <deque>
#include <set>

enum { MAX_STREAMS = 32 };

struct CUstream_st {
    int slot, device; /* slot: its place in vector clocks */
    std::deque<emu_operation> queue;
    uint64_t done, enqueued;
    vector_clock clock;
    emu_capture capture;
};
struct CUevent_st {
    std::shared_ptr<emu_mark> mark; /* NULL: never recorded */
};

static std::set<CUstream_st *> streams;
static std::set<CUevent_st *> events;
static std::vector<std::pair<int, uint64_t>> free_slots; /* and their clock */
static int next_slot;
static vector_clock host_clock; /* what the host has waited for */

void vector_clock::join(const vector_clock &other)
{
    for (int i = 0; i < MAX_STREAMS; i++)
        at[i] = std::max(at[i], other.at[i]);
}

/* ---- the operation that runs -------------------------------------------- */

struct identity {
    uint32_t slot, sequence;
    std::string name;
    uint64_t launch;
    size_t node;
};
static std::vector<identity> operations(1); /* 0: none */
static vector_clock clock_now;
static emu_place place_now, place_next; /* of what runs, of what is enqueued */

uint32_t emu_operation_now(void)
{
    return (uint32_t)operations.size() - 1;
}

const char *emu_operation_name(uint32_t operation)
{
    return operation < operations.size() ? operations[operation].name.c_str()
                                         : "?";
}

bool emu_happened_before(uint32_t operation)
{
    const identity &one = operations[operation];

    if (one.launch != 0 && one.launch == place_now.launch)
        return (*place_now.before)[place_now.node][one.node];
    return clock_now.at[one.slot] >= one.sequence;
}

/* ---- running ------------------------------------------------------------ */

static void run_until(CUstream_st *stream, uint64_t sequence)
{
    while (stream->done < sequence) {
        emu_operation op = std::move(stream->queue.front());

        stream->queue.pop_front();
        for (const auto &mark : op.after)
            if (!mark->done)
                run_until(mark->stream, mark->sequence);
        stream->clock.join(op.host);
        for (const auto &mark : op.after)
            stream->clock.join(mark->clock);
        stream->clock.at[stream->slot] = (uint32_t)++stream->done;
        operations.push_back({(uint32_t)stream->slot, (uint32_t)stream->done,
                              op.name, op.place.launch, op.place.node});
        clock_now = stream->clock;
        place_now = op.place;
        if (op.run && emu_sticky == cudaSuccess)
            op.run();
        if (op.mark) {
            op.mark->clock = stream->clock;
            op.mark->done = true;
        }
    }
}

void emu_set_place(const emu_place &place)
{
    place_next = place;
}

static bool is_runnable(const CUstream_st *stream)
{
    if (stream->queue.empty())
        return false;
    for (const auto &mark : stream->queue.front().after)
        if (!mark->done)
            return false;
    return true;
}

/* In random mode some operations run at some time. */
static void run_some(void)
{
    while (emu.async == ASYNC_RANDOM && (emu.async_random() & 1)) {
        std::vector<CUstream_st *> ready;

        for (CUstream_st *stream : streams)
            if (is_runnable(stream))
                ready.push_back(stream);
        if (ready.empty())
            return;
        CUstream_st *chosen = ready[emu.async_random() % ready.size()];
        run_until(chosen, chosen->done + 1);
    }
}

static cudaError_t drain(CUstream_st *stream)
{
    run_until(stream, stream->enqueued);
    host_clock.join(stream->clock);
    return emu_sticky;
}

void emu_drain_all(void)
{
    std::vector<CUstream_st *> all(streams.begin(), streams.end());

    if (emu.async == ASYNC_RANDOM)
        std::shuffle(all.begin(), all.end(), emu.async_random);
    for (CUstream_st *stream : all)
        drain(stream);
}

bool emu_stream_is(cudaStream_t stream)
{
    if (stream == NULL)
        emu_mistake(NULL, "rule: no work on the default stream");
    return streams.count(stream) > 0;
}

int emu_stream_device(cudaStream_t stream)
{
    return stream->device;
}

emu_capture *emu_capture_of(CUstream_st *stream)
{
    return &stream->capture;
}

cudaError_t emu_enqueue(cudaStream_t stream, const char *name,
                        const emu_maker &make, std::shared_ptr<emu_mark> mark,
                        std::vector<std::shared_ptr<emu_mark>> after)
{
    if (!emu_stream_is(stream))
        return cudaErrorInvalidResourceHandle;
    if (stream->capture.graph != NULL) {
        emu_graph_add(stream->capture.graph, stream, name, make, mark);
        return cudaSuccess;
    }
    stream->queue.push_back({name, make ? make() : nullptr, host_clock,
                             place_next, std::move(after), mark});
    stream->enqueued++;
    if (mark) {
        mark->stream = stream;
        mark->sequence = stream->enqueued;
    }
    if (emu.async == ASYNC_EAGER)
        run_until(stream, stream->enqueued);
    run_some();
    return emu_sticky;
}

/* As with cudaStreamCaptureModeThreadLocal, one host thread per capture: the
 * emulator knows of one program at a time and takes any capture. */
bool emu_breaks_capture(void)
{
    bool any = false;

    for (CUstream_st *stream : streams)
        if (stream->capture.graph != NULL) {
            emu_graph_break(stream->capture.graph);
            any = true;
        }
    return any;
}

/* ---- streams
 * ---------------------------------------------------------------------------
 */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    emu_call call("cudaStreamCreateWithFlags");
    int slot;
    uint64_t begin = 0;

    *out = NULL;
    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (flags != cudaStreamNonBlocking)
        emu_mistake(NULL, "rule: streams are made with cudaStreamNonBlocking");
    if (!free_slots.empty()) { /* the clock of a slot counts on */
        slot = free_slots.back().first;
        begin = free_slots.back().second;
        free_slots.pop_back();
    } else {
        slot = next_slot++;
        if (next_slot > MAX_STREAMS)
            emu_mistake(NULL, "more than %d streams at once", MAX_STREAMS);
    }
    *out = new CUstream_st{slot, emu_device(), {}, begin, begin, {}, {}};
    (*out)->clock.at[slot] = (uint32_t)begin;
    streams.insert(*out);
    return cudaSuccess;
}

/* The object stays: marks may point to it. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    emu_call call("cudaStreamDestroy");

    if (streams.count(stream) == 0)
        return emu_return(cudaErrorInvalidResourceHandle);
    run_until(stream, stream->enqueued);
    streams.erase(stream);
    free_slots.push_back({stream->slot, stream->done});
    return emu_return(call.failure);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    emu_call call("cudaStreamSynchronize");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (emu_breaks_capture())
        return emu_return(cudaErrorStreamCaptureUnsupported);
    if (!emu_stream_is(stream))
        return emu_return(cudaErrorInvalidResourceHandle);
    return emu_return(drain(stream));
}

cudaError_t cudaDeviceSynchronize(void)
{
    emu_call call("cudaDeviceSynchronize");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (emu_breaks_capture())
        return emu_return(cudaErrorStreamCaptureUnsupported);
    emu_drain_all();
    return emu_return(emu_sticky);
}

/* ---- events
 * ------------------------------------------------------------------------------
 */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned)
{
    emu_call call("cudaEventCreateWithFlags");

    *out = NULL;
    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    *out = new CUevent_st{nullptr};
    events.insert(*out);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    emu_call call("cudaEventDestroy");

    if (events.erase(event) == 0)
        return emu_return(cudaErrorInvalidResourceHandle);
    delete event;
    return emu_return(call.failure);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    emu_call call("cudaEventRecord");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (events.count(event) == 0)
        return emu_return(cudaErrorInvalidResourceHandle);
    event->mark = std::make_shared<emu_mark>();
    return emu_return(
        emu_enqueue(stream, "cudaEventRecord", nullptr, event->mark));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned)
{
    emu_call call("cudaStreamWaitEvent");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (events.count(event) == 0 || !emu_stream_is(stream))
        return emu_return(cudaErrorInvalidResourceHandle);
    if (!event->mark)
        return cudaSuccess;
    if (event->mark->graph != NULL)
        return emu_return(
            emu_graph_wait(event->mark->graph, stream, event->mark->node)
                ? cudaSuccess
                : cudaErrorStreamCaptureUnsupported);
    if (stream->capture.graph != NULL) {
        emu_graph_break(stream->capture.graph);
        return emu_return(cudaErrorStreamCaptureUnsupported);
    }
    return emu_return(emu_enqueue(stream, "cudaStreamWaitEvent", nullptr,
                                  nullptr, {event->mark}));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    emu_call call("cudaEventSynchronize");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (events.count(event) == 0)
        return emu_return(cudaErrorInvalidResourceHandle);
    if (!event->mark)
        return cudaSuccess;
    if (event->mark->graph != NULL) {
        emu_graph_break(event->mark->graph);
        return emu_return(cudaErrorStreamCaptureUnsupported);
    }
    run_until(event->mark->stream, event->mark->sequence);
    host_clock.join(event->mark->clock);
    return emu_return(emu_sticky);
}

size_t emu_stream_count(void)
{
    return streams.size();
}

size_t emu_event_count(void)
{
    return events.size();
}
