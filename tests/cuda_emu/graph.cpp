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
    std::vector<std::vector<size_t>> next; /* nodes that wait for each */
    /* [i][j]: j lies before i; NULL: they are a chain */
    std::shared_ptr<const std::vector<std::vector<bool>>> before;
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

static bool is_chain(const std::vector<graph_node> &nodes)
{
    for (size_t i = 1; i < nodes.size(); i++)
        if (nodes[i].after.size() != 1 || nodes[i].after[0] != (int)i - 1)
            return false;
    return true;
}

/* A node is captured after those that it waits for. */
static std::shared_ptr<const std::vector<std::vector<bool>>>
before_each(const std::vector<graph_node> &nodes)
{
    auto before = std::make_shared<std::vector<std::vector<bool>>>();

    for (const graph_node &node : nodes) {
        std::vector<bool> mine(nodes.size());

        for (int last : node.after) {
            const std::vector<bool> &its = (*before)[(size_t)last];

            for (size_t j = 0; j < nodes.size(); j++)
                mine[j] = mine[j] || its[j];
            mine[(size_t)last] = true;
        }
        before->push_back(mine);
    }
    return before;
}

static CUgraphExec_st *new_executable(const CUgraph_st *graph)
{
    CUgraphExec_st *made = new CUgraphExec_st{graph->nodes, {}, nullptr};

    made->next.resize(made->nodes.size());
    for (size_t i = 0; i < made->nodes.size(); i++)
        for (int last : made->nodes[i].after)
            made->next[(size_t)last].push_back(i);
    if (emu_checks && !is_chain(made->nodes))
        made->before = before_each(made->nodes);
    return made;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                 unsigned long long)
{
    emu_call call("cudaGraphInstantiate");

    *out = NULL;
    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (graphs.count(graph) == 0)
        return emu_return(cudaErrorInvalidValue);
    *out = new_executable(graph);
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

static cudaError_t enqueue_node(CUgraphExec_st *graph, size_t i,
                                cudaStream_t stream)
{
    const graph_node &node = graph->nodes[i];
    cudaError_t result;

    if (!node.make)
        return cudaSuccess;
    emu_count.graph_nodes++;
    if (graph->before)
        emu_set_place({emu_count.graph_launches, i, graph->before});
    result = emu_enqueue(stream, node.name.c_str(), node.make);
    emu_set_place({});
    return result;
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
        cudaError_t result = enqueue_node(graph, i, stream);

        ready.erase(ready.begin() + (long)which);
        if (result != cudaSuccess)
            return emu_return(result);
        for (size_t j : graph->next[i])
            if (--waits[j] == 0)
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
