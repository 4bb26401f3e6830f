/* Planted mistakes: captured work, and what becomes of its memory before it
 * runs once more. */
#include "mistakes.h"

static void begin(void)
{
    GOOD(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal));
}

static cudaGraphExec_t end(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;

    GOOD(cudaStreamEndCapture(first(), &graph));
    GOOD(cudaGraphInstantiate(&executable, graph, 0));
    GOOD(cudaGraphDestroy(graph));
    return executable;
}

static cudaEvent_t new_event(void)
{
    cudaEvent_t event;

    GOOD(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

/* `waiting` goes on after all that `stream` has. */
static void follow(cudaStream_t stream, cudaStream_t waiting)
{
    cudaEvent_t event = new_event();

    GOOD(cudaEventRecord(event, stream));
    GOOD(cudaStreamWaitEvent(waiting, event, 0));
}

/* ---- what a capture refuses -----------------------------------------------
 */

static void wait_in_capture(void)
{
    cudaGraph_t graph;

    begin();
    EXPECT_EQUAL(cudaStreamSynchronize(first()),
                 cudaErrorStreamCaptureUnsupported);
    REFUSED(cudaStreamEndCapture(first(), &graph),
            cudaErrorStreamCaptureInvalidated);
}

static void allocate_in_capture(void)
{
    float *more;
    cudaGraph_t graph;

    begin();
    EXPECT_EQUAL(cudaMalloc(&more, 4), cudaErrorStreamCaptureUnsupported);
    REFUSED(cudaStreamEndCapture(first(), &graph),
            cudaErrorStreamCaptureInvalidated);
}

static void free_in_capture(void)
{
    float *device = array_of<float>(4);
    cudaGraph_t graph;

    begin();
    EXPECT_EQUAL(cudaFree(device), cudaErrorStreamCaptureUnsupported);
    REFUSED(cudaStreamEndCapture(first(), &graph),
            cudaErrorStreamCaptureInvalidated);
}

static void event_awaited_in_capture(void)
{
    cudaEvent_t event = new_event();
    cudaGraph_t graph;

    begin();
    GOOD(cudaEventRecord(event, first()));
    EXPECT(cudaEventSynchronize(event) != cudaSuccess);
    REFUSED(cudaStreamEndCapture(first(), &graph),
            cudaErrorStreamCaptureInvalidated);
}

static void fork_without_join(void)
{
    float *to = array_of<float>(32);
    cudaGraph_t graph;

    (void)second();
    begin();
    follow(first(), second());
    GOOD(M2_LAUNCH(set_numbers, 1, 32, 0, second(), to, 32, 1.0f));
    REFUSED(cudaStreamEndCapture(first(), &graph),
            cudaErrorStreamCaptureUnjoined);
}

static void ended_elsewhere(void)
{
    cudaGraph_t graph;

    (void)second();
    begin();
    follow(first(), second());
    REFUSED(cudaStreamEndCapture(second(), &graph),
            cudaErrorStreamCaptureUnmatched);
}

static void captured_twice(void)
{
    begin();
    REFUSED(cudaStreamBeginCapture(first(), cudaStreamCaptureModeThreadLocal),
            cudaErrorInvalidValue);
}

/* ---- the order of nodes ---------------------------------------------------
 */

/* Both branches begin at the fork; the second reads what the first writes. */
static void branches_without_event(void)
{
    float *a = filled(64, 1), *b = filled(64, 0), *c = filled(64, 0);
    cudaGraphExec_t graph;

    (void)second();
    begin();
    follow(first(), second());
    RUN(copy_numbers, 1, 64, (const float *)a, b, 64);
    GOOD(M2_LAUNCH(copy_numbers, 1, 64, 0, second(), (const float *)b, c, 64));
    follow(second(), first());
    graph = end();
    GOOD(cudaGraphLaunch(graph, first()));
    RESULT(all_are(c, 64, 1));
}

/* Captured work has not run. */
static void result_of_capture(void)
{
    float *to = filled(4, 0);

    begin();
    RUN(set_numbers, 1, 32, to, 4, 1.0f);
    (void)end();
    RESULT(value_at(to, 0) == 1);
}

/* Two launches on two streams write the same memory. */
static void graph_on_two_streams(void)
{
    float *to = filled(64, 0);
    cudaGraphExec_t graph;

    begin();
    RUN(set_numbers, 1, 64, to, 64, 1.0f);
    graph = end();
    GOOD(cudaGraphLaunch(graph, first()));
    GOOD(cudaGraphLaunch(graph, second()));
    FINISH();
    GOOD(cudaStreamSynchronize(second()));
}

/* ---- memory of a graph ----------------------------------------------------
 */

static void freed_memory_in_graph(void)
{
    float *from = filled(64, 1), *to = array_of<float>(64);
    cudaGraphExec_t graph;

    begin();
    RUN(copy_numbers, 1, 64, (const float *)from, to, 64);
    graph = end();
    GOOD(cudaFree(from));
    GOOD(cudaGraphLaunch(graph, first()));
    FINISH();
}

static void freed_copy_in_graph(void)
{
    float *to = array_of<float>(4), *from = (float *)(void *)new_pinned(16);
    cudaGraphExec_t graph;

    begin();
    GOOD(cudaMemcpyAsync(to, from, 16, cudaMemcpyHostToDevice, first()));
    graph = end();
    GOOD(cudaFree(to));
    GOOD(cudaGraphLaunch(graph, first()));
    FINISH();
}

static void freed_pinned_in_graph(void)
{
    float *to = array_of<float>(4), *from = (float *)(void *)new_pinned(16);
    cudaGraphExec_t graph;

    begin();
    GOOD(cudaMemcpyAsync(to, from, 16, cudaMemcpyHostToDevice, first()));
    graph = end();
    GOOD(cudaFreeHost(from));
    GOOD(cudaGraphLaunch(graph, first()));
    FINISH();
}

/* A graph that brings `from` to a kernel, which copies it to `to`. */
struct staged {
    float *from, *device, *to;
    cudaGraphExec_t graph;
};

static struct staged new_staged(void)
{
    struct staged s = {(float *)(void *)new_pinned(4), array_of<float>(1),
                       array_of<float>(1), nullptr};

    begin();
    GOOD(cudaMemcpyAsync(s.device, s.from, 4, cudaMemcpyHostToDevice, first()));
    RUN(copy_numbers, 1, 32, (const float *)s.device, s.to, 1);
    s.graph = end();
    return s;
}

/* The next step's number is written while this step may not have read. */
static void staging_changed(void)
{
    struct staged s = new_staged();

    *s.from = 1;
    GOOD(cudaGraphLaunch(s.graph, first()));
    *s.from = 2;
    GOOD(cudaGraphLaunch(s.graph, first()));
    FINISH();
}

static void result_of_graph_too_early(void)
{
    float *from = filled(1, 3), *to = (float *)(void *)new_pinned(4);
    cudaGraphExec_t graph;

    begin();
    GOOD(cudaMemcpyAsync(to, from, 4, cudaMemcpyDeviceToHost, first()));
    graph = end();
    GOOD(cudaGraphLaunch(graph, first()));
    RESULT(*to == 3);
}

static const struct mistake mistakes[] = {
    {"waiting during a capture", wait_in_capture, "alc", "refused", NULL},
    {"allocating during a capture", allocate_in_capture, "alc", "refused",
     NULL},
    {"freeing during a capture", free_in_capture, "alc", "refused", NULL},
    {"waiting for an event of a capture", event_awaited_in_capture, "ac",
     "refused", NULL},
    {"a capture that forks and does not join", fork_without_join, "alc",
     "refused", NULL},
    {"a capture ended on another stream", ended_elsewhere, "ac", "refused",
     NULL},
    {"a capture begun twice", captured_twice, "ac", "refused", NULL},
    {"branches of a graph without an event", branches_without_event, "lcC",
     NULL, "a race ("},
    {"the result of a capture that has not been launched", result_of_capture,
     "alc", NULL, NULL},
    {"a graph on two streams at once", graph_on_two_streams, "cC", "a race (",
     NULL},
    {"freed memory in a graph's kernel", freed_memory_in_graph, "alcC",
     "already freed", NULL},
    {"freed memory in a graph's copy", freed_copy_in_graph, "alcC",
     "already freed", NULL},
    {"freed pinned memory in a graph's copy", freed_pinned_in_graph, "alcC",
     "host memory that is not pinned", NULL},
    {"a graph's pinned memory changed before it has run", staging_changed, "lC",
     "changed between", NULL},
    {"a graph's result read before it arrives", result_of_graph_too_early, "lC",
     NULL, NULL},
};
static const int added =
    emu_add_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
