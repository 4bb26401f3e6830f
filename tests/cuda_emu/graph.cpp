/* Stream capture and graphs: nodes with the nodes they wait for, run in any
 * order that these allow. */
#include "emu.h"

#include <algorithm>
#include <set>

struct graph_node {
    std::string name;
    emu_maker make; /* NULL: an event, nothing to run */
    std::vector<int> after;
};
struct CUgraph_st {
    std::vector<graph_node> nodes;
    CUstream_st *origin;
    std::set<CUstream_st *> members; /* streams in the capture */
    bool broken;
};
struct CUgraphExec_st {
    std::vector<graph_node> nodes;
};

static std::set<CUgraph_st *> graphs;
static std::set<CUgraphExec_st *> executables;

size_t emu_graph_count(void)
{
    return graphs.size() + executables.size();
}

/* ---- capture ------------------------------------------------------------ */

void emu_graph_add(CUgraph_st *graph, CUstream_st *stream, const char *name,
                   const emu_maker &make, std::shared_ptr<emu_mark> mark)
{
    emu_capture *capture = emu_capture_of(stream);
    int node = (int)graph->nodes.size();

    graph->nodes.push_back({name, make, capture->tail});
    capture->tail = {node};
    if (mark) {
        mark->graph = graph;
        mark->node = node;
    }
}

void emu_graph_break(CUgraph_st *graph)
{
    graph->broken = true;
}

/* A stream that waits for an event of a capture becomes part of it. */
bool emu_graph_wait(CUgraph_st *graph, CUstream_st *stream, int node)
{
    emu_capture *capture = emu_capture_of(stream);

    if (graphs.count(graph) == 0 ||
        (capture->graph != NULL && capture->graph != graph))
        return false;
    if (capture->graph == NULL) {
        capture->graph = graph;
        capture->tail.clear();
        graph->members.insert(stream);
    }
    capture->tail.push_back(node);
    return true;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    emu_call call("cudaStreamBeginCapture");
    CUgraph_st *graph;

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (!emu_stream_is(stream) || emu_capture_of(stream)->graph != NULL)
        return emu_return(cudaErrorInvalidValue);
    graph = new CUgraph_st{{}, stream, {stream}, false};
    graphs.insert(graph);
    *emu_capture_of(stream) = {graph, {}};
    return cudaSuccess;
}

/* Nodes that the last ones of the origin stream wait for, themselves
 * included. */
static std::set<int> reachable(const CUgraph_st *graph, std::vector<int> from)
{
    std::set<int> found;

    while (!from.empty()) {
        int node = from.back();

        from.pop_back();
        if (found.insert(node).second)
            for (int before : graph->nodes[(size_t)node].after)
                from.push_back(before);
    }
    return found;
}

/* Ends the capture even where the call itself is to fail. */
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    emu_call call("cudaStreamEndCapture");
    CUgraph_st *graph;
    cudaError_t result;

    *out = NULL;
    if (!emu_stream_is(stream) || emu_capture_of(stream)->graph == NULL ||
        emu_capture_of(stream)->graph->origin != stream)
        return emu_return(call.failure != cudaSuccess
                              ? call.failure
                              : cudaErrorStreamCaptureUnmatched);
    graph = emu_capture_of(stream)->graph;
    result = call.failure != cudaSuccess ? call.failure
             : graph->broken             ? cudaErrorStreamCaptureInvalidated
             : reachable(graph, emu_capture_of(stream)->tail).size() !=
                     graph->nodes.size()
                 ? cudaErrorStreamCaptureUnjoined
                 : cudaSuccess;
    for (CUstream_st *member : graph->members)
        *emu_capture_of(member) = {};
    if (result == cudaSuccess) {
        *out = graph;
        return cudaSuccess;
    }
    graphs.erase(graph);
    delete graph;
    return emu_return(result);
}

/* ---- graphs ------------------------------------------------------------- */

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                 unsigned long long)
{
    emu_call call("cudaGraphInstantiate");

    *out = NULL;
    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (graphs.count(graph) == 0)
        return emu_return(cudaErrorInvalidValue);
    *out = new CUgraphExec_st{graph->nodes};
    executables.insert(*out);
    return cudaSuccess;
}

/* Which of the nodes that may run comes next: random orders show where an
 * order was taken for granted. */
static size_t choose(size_t n)
{
    return emu.async == ASYNC_RANDOM ? emu.async_random() % n
           : emu.async == ASYNC_LAZY ? n - 1
                                     : 0;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
    emu_call call("cudaGraphLaunch");
    std::vector<size_t> waits, ready;

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (executables.count(graph) == 0)
        return emu_return(cudaErrorInvalidValue);
    if (emu_breaks_capture())
        return emu_return(cudaErrorStreamCaptureUnsupported);
    emu_count.graph_launches++;
    for (size_t i = 0; i < graph->nodes.size(); i++) {
        waits.push_back(graph->nodes[i].after.size());
        if (waits[i] == 0)
            ready.push_back(i);
    }
    while (!ready.empty()) {
        size_t which = choose(ready.size()), i = ready[which];
        const graph_node &node = graph->nodes[i];

        ready.erase(ready.begin() + (long)which);
        if (node.make) {
            cudaError_t result =
                emu_enqueue(stream, node.name.c_str(), node.make);

            emu_count.graph_nodes++;
            if (result != cudaSuccess)
                return emu_return(result);
        }
        for (size_t j = 0; j < graph->nodes.size(); j++)
            for (int before : graph->nodes[j].after)
                if (before == (int)i && --waits[j] == 0)
                    ready.push_back(j);
    }
    return emu_return(emu_sticky);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    emu_call call("cudaGraphDestroy");

    if (graphs.erase(graph) == 0)
        return emu_return(cudaErrorInvalidValue);
    delete graph;
    return emu_return(call.failure);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    emu_call call("cudaGraphExecDestroy");

    if (executables.erase(graph) == 0)
        return emu_return(cudaErrorInvalidValue);
    delete graph;
    return emu_return(call.failure);
}
