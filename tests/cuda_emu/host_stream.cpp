/* Cases: streams, events, capture and graphs. */
#include "cases.h"

#include <string.h>

static cudaStream_t one, two;
static cudaEvent_t event;
static char *device, *pinned;

static void prepare(void)
{
    one = new_stream();
    two = new_stream();
    device = new_device(64);
    pinned = new_pinned(64);
    memset(pinned, 0, 64);
    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
}

static cudaError_t fill(int value, cudaStream_t stream)
{
    return cudaMemsetAsync(device, value, 64, stream);
}

static cudaError_t copy_out(cudaStream_t stream)
{
    return cudaMemcpyAsync(pinned, device, 64, cudaMemcpyDeviceToHost, stream);
}

/* ---- streams and events ------------------------------------------------- */

static void in_order(void)
{
    prepare();
    for (int i = 0; i < 50; i++) {
        GOOD(fill(i, one));
        GOOD(copy_out(one));
        GOOD(cudaStreamSynchronize(one));
        EXPECT_EQUAL(pinned[63], i);
    }
}

static void event_orders(void)
{
    prepare();
    for (int i = 0; i < 50; i++) {
        GOOD(fill(i, one));
        GOOD(cudaEventRecord(event, one));
        GOOD(cudaStreamWaitEvent(two, event, 0));
        GOOD(copy_out(two));
        GOOD(cudaEventRecord(event, two));
        GOOD(cudaStreamWaitEvent(one, event, 0));
        GOOD(cudaEventSynchronize(event));
        EXPECT_EQUAL(pinned[0], i);
    }
}

static void host_orders(void)
{
    prepare();
    GOOD(fill(1, one));
    GOOD(cudaStreamSynchronize(one));
    GOOD(fill(2, two));
    GOOD(cudaDeviceSynchronize());
    GOOD(fill(3, one));
    GOOD(cudaDeviceSynchronize());
}

static void two_writers(void)
{
    prepare();
    GOOD(fill(1, one));
    GOOD(fill(2, two));
    GOOD(cudaDeviceSynchronize());
}

static void reader_and_writer(void)
{
    prepare();
    GOOD(fill(1, one));
    GOOD(cudaStreamSynchronize(one));
    GOOD(copy_out(one));
    GOOD(fill(2, two));
    GOOD(cudaDeviceSynchronize());
}

static void waits_for_the_wrong_point(void)
{
    prepare();
    GOOD(cudaEventRecord(event, one));
    GOOD(fill(1, one)); /* after the event */
    GOOD(cudaStreamWaitEvent(two, event, 0));
    GOOD(copy_out(two));
    GOOD(cudaDeviceSynchronize());
}

static void lazy_is_lazy(void)
{
    prepare();
    GOOD(fill(5, one));
    GOOD(cudaStreamSynchronize(one));
    GOOD(copy_out(one));
    GOOD(cudaStreamSynchronize(two));
    EXPECT_EQUAL(pinned[0], -1); /* nobody waited for it */
    GOOD(cudaStreamSynchronize(one));
    EXPECT_EQUAL(pinned[0], 5);
}

static void never_recorded(void)
{
    prepare();
    GOOD(cudaEventSynchronize(event));
    GOOD(cudaStreamWaitEvent(one, event, 0));
    GOOD(fill(1, one));
    GOOD(cudaStreamSynchronize(one));
}

static void default_stream(void)
{
    prepare();
    (void)fill(1, NULL);
}

static void blocking_stream(void)
{
    (void)cudaStreamCreateWithFlags(&one, cudaStreamDefault);
}

static void destroyed(void)
{
    cudaStream_t gone;

    prepare();
    gone = new_stream();
    GOOD(cudaStreamDestroy(gone));
    EXPECT_EQUAL(fill(1, gone), cudaErrorInvalidResourceHandle);
    EXPECT_EQUAL(cudaStreamSynchronize(gone), cudaErrorInvalidResourceHandle);
    EXPECT_EQUAL(cudaStreamDestroy(gone), cudaErrorInvalidResourceHandle);
    GOOD(cudaEventDestroy(event));
    EXPECT_EQUAL(cudaEventRecord(event, one), cudaErrorInvalidResourceHandle);
    EXPECT_EQUAL(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
}

/* Destroying a stream does not drop its work. */
static void destroyed_with_work(void)
{
    prepare();
    GOOD(fill(9, one));
    GOOD(copy_out(one));
    GOOD(cudaStreamDestroy(one));
    GOOD(cudaDeviceSynchronize());
    EXPECT_EQUAL(pinned[1], 9);
}

static void many_streams(void)
{
    for (int i = 0; i < 500; i++)
        GOOD(cudaStreamDestroy(new_stream()));
    EXPECT_EQUAL(emu_stream_count(), 0);
}

/* ---- capture ------------------------------------------------------------ */

static void begin(void)
{
    GOOD(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
}

static cudaGraphExec_t end(void)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable = NULL;

    GOOD(cudaStreamEndCapture(one, &graph));
    GOOD(cudaGraphInstantiate(&executable, graph, 0));
    GOOD(cudaGraphDestroy(graph));
    return executable;
}

/* A graph reads the bytes that are in pinned memory when it is launched. */
static void graph_reads_new_bytes(void)
{
    cudaGraphExec_t graph;
    char *source = new_pinned(64);

    prepare();
    memset(source, 1, 64);
    begin();
    GOOD(cudaMemcpyAsync(device, source, 64, cudaMemcpyHostToDevice, one));
    GOOD(copy_out(one));
    graph = end();
    EXPECT_EQUAL(pinned[0], 0); /* captured, not run */
    for (int i = 2; i < 10; i++) {
        memset(source, i, 64);
        GOOD(cudaGraphLaunch(graph, one));
        GOOD(cudaStreamSynchronize(one));
        EXPECT_EQUAL(pinned[63], i);
    }
    GOOD(cudaGraphExecDestroy(graph));
    EXPECT_EQUAL(emu_graph_count(), 0);
    EXPECT_EQUAL(emu_count.graph_launches, 8);
    EXPECT_EQUAL(emu_count.graph_nodes, 16);
}

static void forked_graph(void)
{
    cudaGraphExec_t graph;
    char *other;

    prepare();
    other = new_device(64);
    begin();
    GOOD(cudaEventRecord(event, one));
    GOOD(cudaStreamWaitEvent(two, event, 0));
    GOOD(fill(4, one));
    GOOD(cudaMemsetAsync(other, 6, 64, two));
    GOOD(cudaEventRecord(event, two));
    GOOD(cudaStreamWaitEvent(one, event, 0));
    GOOD(
        cudaMemcpyAsync(device + 32, other, 32, cudaMemcpyDeviceToDevice, one));
    GOOD(copy_out(one));
    graph = end();
    for (int i = 0; i < 20; i++) {
        GOOD(cudaGraphLaunch(graph, one));
        GOOD(cudaStreamSynchronize(one));
        EXPECT_EQUAL(pinned[0], 4);
        EXPECT_EQUAL(pinned[32], 6);
    }
}

static void expect_end(cudaError_t error)
{
    cudaGraph_t graph = (cudaGraph_t)1;

    EXPECT_EQUAL(cudaStreamEndCapture(one, &graph), error);
    EXPECT(graph == NULL);
    EXPECT_EQUAL(cudaGetLastError(), error);
    EXPECT_EQUAL(emu_graph_count(), 0);
    GOOD(fill(1, one)); /* the stream is as before */
    GOOD(cudaStreamSynchronize(one));
}

static void allocates(void)
{
    char *memory = NULL;

    prepare();
    begin();
    EXPECT_EQUAL(cudaMalloc(&memory, 8), cudaErrorStreamCaptureUnsupported);
    expect_end(cudaErrorStreamCaptureInvalidated);
}

static void frees(void)
{
    prepare();
    begin();
    EXPECT_EQUAL(cudaFree(new_pinned(8) == NULL ? NULL : device),
                 cudaErrorStreamCaptureUnsupported);
    expect_end(cudaErrorStreamCaptureInvalidated);
}

static void synchronizes(void)
{
    prepare();
    begin();
    EXPECT_EQUAL(cudaStreamSynchronize(one), cudaErrorStreamCaptureUnsupported);
    expect_end(cudaErrorStreamCaptureInvalidated);
}

static void waits_for_its_event(void)
{
    prepare();
    begin();
    GOOD(cudaEventRecord(event, one));
    EXPECT_EQUAL(cudaEventSynchronize(event),
                 cudaErrorStreamCaptureUnsupported);
    expect_end(cudaErrorStreamCaptureInvalidated);
}

static void not_begun(void)
{
    prepare();
    expect_end(cudaErrorStreamCaptureUnmatched);
}

static void ends_elsewhere(void)
{
    cudaGraph_t graph = NULL;

    prepare();
    begin();
    GOOD(cudaEventRecord(event, one));
    GOOD(cudaStreamWaitEvent(two, event, 0));
    EXPECT_EQUAL(cudaStreamEndCapture(two, &graph),
                 cudaErrorStreamCaptureUnmatched);
}

static void not_joined(void)
{
    prepare();
    begin();
    GOOD(cudaEventRecord(event, one));
    GOOD(cudaStreamWaitEvent(two, event, 0));
    GOOD(fill(1, two));
    expect_end(cudaErrorStreamCaptureUnjoined);
    GOOD(fill(1, two));
    GOOD(cudaStreamSynchronize(two));
}

static void begun_twice(void)
{
    prepare();
    begin();
    EXPECT(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal) !=
           cudaSuccess);
    (void)end();
}

static void fails_to_end(void)
{
    prepare();
    begin();
    GOOD(fill(1, one));
    expect_end(cudaErrorUnknown);
}

/* No error of a launch within a capture is lost. */
static void fails_within(void)
{
    prepare();
    begin();
    EXPECT_EQUAL(fill(1, one), cudaErrorUnknown);
    GOOD(fill(2, one));
    (void)end();
}

static void destroyed_graph(void)
{
    cudaGraphExec_t graph;

    prepare();
    begin();
    GOOD(fill(1, one));
    graph = end();
    GOOD(cudaGraphExecDestroy(graph));
    EXPECT(cudaGraphLaunch(graph, one) != cudaSuccess);
    EXPECT(cudaGraphExecDestroy(graph) != cudaSuccess);
}

/* A launched graph has its buffers' addresses: they must still be there. */
static void freed_under_graph(void)
{
    cudaGraphExec_t graph;

    prepare();
    begin();
    GOOD(fill(1, one));
    graph = end();
    GOOD(cudaFree(device));
    (void)cudaGraphLaunch(graph, one);
    (void)cudaStreamSynchronize(one);
}

static const char race[] = "a race";

static const emu_case cases[] = {
    {"a stream is in order, eager", "async=eager", in_order, 0, NULL},
    {"a stream is in order, lazy", "async=lazy", in_order, 0, NULL},
    {"a stream is in order, random", "async=rand:5", in_order, 0, NULL},
    {"an event orders two streams, eager", "async=eager", event_orders, 0,
     NULL},
    {"an event orders two streams, lazy", "async=lazy", event_orders, 0, NULL},
    {"an event orders two streams, random", "async=rand:2", event_orders, 0,
     NULL},
    {"a host that waits orders two streams", "", host_orders, 0, NULL},
    {"two streams that write are a race", "", two_writers, 86, race,
     ONLY_CHECK},
    {"a reading and a writing stream are a race", "", reader_and_writer, 86,
     race, ONLY_CHECK},
    {"an event before the work does not order it", "async=lazy",
     waits_for_the_wrong_point, 86, "cuda_emu: error: ", ONLY_CHECK},
    {"a lazy stream runs when somebody waits", "async=lazy", lazy_is_lazy, 0,
     NULL},
    {"an event that was never recorded has happened", "async=lazy",
     never_recorded, 0, NULL},
    {"the default stream is not used", "", default_stream, 86,
     "default stream"},
    {"streams do not block", "", blocking_stream, 86, "NonBlocking"},
    {"what was destroyed is no longer valid", "", destroyed, 0, NULL},
    {"a destroyed stream's work is done", "async=lazy", destroyed_with_work, 0,
     NULL},
    {"streams may come and go", "", many_streams, 0, NULL},
    {"a graph reads new bytes, eager", "async=eager", graph_reads_new_bytes, 0,
     NULL},
    {"a graph reads new bytes, lazy", "async=lazy", graph_reads_new_bytes, 0,
     NULL},
    {"a graph of two streams, eager", "async=eager", forked_graph, 0, NULL},
    {"a graph of two streams, lazy", "async=lazy", forked_graph, 0, NULL},
    {"a graph of two streams, random", "async=rand:9", forked_graph, 0, NULL},
    {"no allocation in a capture", "", allocates, 0, NULL},
    {"no free in a capture", "", frees, 0, NULL},
    {"no waiting in a capture", "", synchronizes, 0, NULL},
    {"no waiting for an event of a capture", "", waits_for_its_event, 0, NULL},
    {"a capture that was not begun does not end", "", not_begun, 0, NULL},
    {"a capture ends where it began", "", ends_elsewhere, 0, NULL},
    {"a capture ends with its streams joined", "", not_joined, 0, NULL},
    {"a capture is begun once", "", begun_twice, 0, NULL},
    {"an end that fails has ended", "fail=cudaStreamEndCapture:1", fails_to_end,
     0, NULL},
    {"a call within a capture can fail", "fail=cudaMemsetAsync:1", fails_within,
     0, NULL},
    {"a destroyed graph is not launched", "", destroyed_graph, 0, NULL},
    {"a graph does not outlive its memory", "", freed_under_graph, 86,
     "cuda_emu: error: "},
};

static __attribute__((constructor)) void add(void)
{
    emu_add_cases(cases, sizeof cases / sizeof *cases);
}
