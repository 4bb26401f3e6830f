/* What the files of the emulator share.
 *
 * Host side: config.cpp (M2_EMU), api.cpp (entry of every call, errors,
 * devices), memory.cpp, copy.cpp, stream.cpp, graph.cpp, blas.cpp.  Device
 * side: kernel.cpp (launch and order of blocks), block.cpp (threads of a
 * block, barriers), warp.cpp, fiber.cpp, shared.cpp, shadow.cpp (what each
 * word of device memory saw: the check build), fault.cpp (SIGSEGV).
 *
 * One lock is held during every call, and so during every kernel: the
 * emulator has no other locks.  A mistake of the program under test goes
 * through emu_mistake(), which ends the process with status 86. */
#ifndef M2_EMU_H
#define M2_EMU_H

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

/* ---- config.cpp: M2_EMU -----------------------------------------------------
 */

enum emu_order { ORDER_ASCENDING, ORDER_DESCENDING, ORDER_RANDOM };
enum emu_async { ASYNC_EAGER, ASYNC_LAZY, ASYNC_RANDOM };
enum emu_driver { DRIVER_GOOD, DRIVER_NONE, DRIVER_OLD };

struct emu_failure {
    std::string call; /* "cudaMalloc", "kernel:NAME", "any" */
    long k;           /* the k-th call from the start, from 1 */
    int error;        /* what it gives; 0: cudaErrorUnknown */

    /* Does it lose the context, so that all later calls fail? */
    bool is_sticky() const
    {
        return error == cudaErrorIllegalAddress ||
               error == cudaErrorLaunchFailure;
    }
};

struct emu_config {
    enum emu_order order = ORDER_ASCENDING; /* of threads and blocks */
    enum emu_async async = ASYNC_EAGER;     /* when streams run */
    std::mt19937 order_random{1}, async_random{1};
    bool replay = false;  /* run each kernel in two orders, compare bytes */
    bool collect = false; /* count mistakes instead of ending: own tests */
    enum emu_driver driver = DRIVER_GOOD;
    int devices = 1;
    int capability = 90;             /* 10 * major + minor */
    size_t memory = (size_t)4 << 30; /* per device */
    std::vector<emu_failure> failures;
};
extern emu_config emu;

/* Sets one "key=value"; false where it is not understood. */
bool emu_set(const std::string &key, const std::string &value);

/* Numbers that M2_EMU_STATS gets at the end, and what writes them. */
void emu_write_counts(void);
struct emu_counts {
    uint64_t mistakes, launches, threads, accesses, graph_launches, graph_nodes;
};
extern emu_counts emu_count;

/* ---- api.cpp: entry of every call --------------------------------------- */

/* First in every call: takes the lock, counts the call, and says whether it is
 * to fail.  What frees or destroys does so even then, and gives the failure:
 * as in CUDA, where it may come from earlier work. */
struct emu_call {
    explicit emu_call(const char *name);
    cudaError_t failure;

  private:
    std::lock_guard<std::recursive_mutex> lock;
};
uint64_t emu_calls(const std::string &name); /* so far; "any": all */

/* Last in every call: remembers an error for cudaGetLastError. */
cudaError_t emu_return(cudaError_t result);
extern cudaError_t emu_sticky; /* the context is lost; every call gives it */
int emu_device(void);          /* of this host thread */
size_t emu_shared_limit(void); /* opt-in shared memory of a block, bytes */

/* A mistake of the program under test, with the kernel and thread where one is
 * running, and the source line of pc where there is one. */
void emu_mistake(const void *pc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- pages.cpp ---------------------------------------------------------- */

/* A pattern that repeats a unit, whose size is a power of two. */
int emu_pattern(const void *unit, size_t bytes);
/* Gives [begin, end) the pattern, as far as it comes in large pieces, and says
 * where it stopped.  begin: a multiple of EMU_PAGE. */
char *emu_map_pattern(char *begin, const char *end, int pattern);

/* ---- memory.cpp --------------------------------------------------------- */

constexpr size_t EMU_PAGE = 4096;

struct emu_allocation {
    char *base;
    size_t bytes;
    char *map; /* whole pages around it */
    size_t map_bytes;
    const char *file;
    int line, device;
    uint64_t number;
    bool live;
};

void emu_memory_init(void);
/* Device memory can be touched only while one of these lives. */
struct emu_access {
    emu_access();
    ~emu_access();
};
bool emu_is_open(void); /* for this host thread */
/* After a fault: opens what was touched, where that is allowed now. */
bool emu_open_touched(const void *at);
bool emu_is_device(
    const void *at); /* an address of device memory, live or not */
emu_allocation *emu_find(const void *at, bool dead_too = false);
/* "offset 12 of 64-byte allocation #3 (file:line)". */
std::string emu_describe_address(const void *at);
/* A mistake unless all bytes lie in one live allocation. */
void emu_require(const char *what, const void *at, size_t bytes);
bool emu_is_pinned(const void *at, size_t bytes);
size_t emu_live_count(void), emu_live_bytes(void), emu_pinned_count(void);

/* ---- stream.cpp, graph.cpp ---------------------------------------------- */

/* When each stream was last heard of; stream i counts in at[i]. */
struct vector_clock {
    uint32_t at[32] = {};
    void join(const vector_clock &other);
};

/* A point in a stream that others wait for. */
struct emu_mark {
    CUstream_st *stream = NULL;
    uint64_t sequence = 0;
    vector_clock clock;
    bool done = false;
    CUgraph_st *graph = NULL; /* recorded during a capture: a node of it */
    int node = -1;
};

/* Called when an operation is enqueued, or its graph launched; gives what runs
 * when the stream gets there. */
typedef std::function<std::function<void()>()> emu_maker;

/* Of an operation that came with a graph: which launch, which node, and which
 * nodes lie before each.  An order of the stream is none of the graph. */
struct emu_place {
    uint64_t launch = 0; /* 0: no graph, or one without branches */
    size_t node = 0;
    std::shared_ptr<const std::vector<std::vector<bool>>> before;
};

struct emu_operation {
    std::string name;
    std::function<void()> run;
    vector_clock host;
    emu_place place;
    std::vector<std::shared_ptr<emu_mark>> after;
    std::shared_ptr<emu_mark> mark;
};

cudaError_t emu_enqueue(cudaStream_t stream, const char *name,
                        const emu_maker &make,
                        std::shared_ptr<emu_mark> mark = nullptr,
                        std::vector<std::shared_ptr<emu_mark>> after = {});
/* Where in a graph the operations are that are enqueued from now on. */
void emu_set_place(const emu_place &place);
bool emu_stream_is(cudaStream_t stream);
int emu_stream_device(cudaStream_t stream);
void emu_drain_all(void);
/* A call that may not happen during a capture; true: it does. */
bool emu_breaks_capture(void);
size_t emu_stream_count(void), emu_event_count(void), emu_graph_count(void);
size_t emu_blas_count(void); /* handles of cuBLAS */

/* The operation that runs now, for the checks of who saw what. */
uint32_t emu_operation_now(void);
const char *emu_operation_name(uint32_t operation);
/* Did `operation` finish before the one that runs now began? */
bool emu_happened_before(uint32_t operation);

/* graph.cpp */
struct CUgraph_st;
void emu_graph_add(CUgraph_st *graph, CUstream_st *stream, const char *name,
                   const emu_maker &make, std::shared_ptr<emu_mark> mark);
void emu_graph_break(CUgraph_st *graph);
bool emu_graph_wait(CUgraph_st *graph, CUstream_st *stream, int node);
/* The capture that a stream is in, and the last nodes in it. */
struct emu_capture {
    CUgraph_st *graph = NULL;
    std::vector<int> tail;
};
emu_capture *emu_capture_of(CUstream_st *stream);

/* ---- kernel.cpp, block.cpp, warp.cpp, fiber.cpp ------------------------- */

struct emu_kernel {
    const void *function;
    std::string name;
    const char *file;
    int line;
    dim3 grid, block;
    size_t shared_bytes;
    void (*invoke)(void *), (*destroy)(void *);
    void *closure;
    size_t closure_bytes;
    std::vector<void *> outputs; /* pointers to what it may write */
    ~emu_kernel()
    {
        destroy(closure);
    }
};

/* Runs the blocks of a grid; block.cpp runs the threads of one. */
extern emu_kernel *emu_current; /* NULL: none runs */
extern uint3 emu_block_at;
extern uint32_t emu_block_number;
void emu_block_prepare(const emu_kernel *kernel);
void emu_block_run(void);
bool emu_in_kernel(void); /* does this host thread run one now? */
/* "[kernel NAME block (1,0,0) thread (3,0,0); launched file:line]" */
std::string emu_where(void);

enum emu_state : uint8_t { FRESH, READY, AT_BARRIER, AT_WARP, DONE };

struct emu_fiber {
    void *stack_pointer;
    char *stack;
};
constexpr size_t EMU_STACK = (size_t)64 << 10;

/* One cache line per thread of the block. */
struct alignas(64) emu_thread {
    uint3 index;
    uint16_t linear;
    enum emu_state state;
    uint8_t warp_operation;
    emu_fiber *fiber;
    uint64_t value, result;
    const char *file;
    int line;
    uint32_t mask;
    short by, width;
    int predicate;
};

struct emu_warp {
    uint32_t exists, done, arrived; /* lanes */
    uint16_t phase;                 /* counts __syncwarp */
};

extern emu_thread *emu_self; /* the thread that runs now */
extern emu_warp emu_warps[32];
emu_thread *emu_thread_at(unsigned linear);
uint16_t emu_phase(void); /* counts barriers of the block */
/* Puts threads into the run queue; `next` before those that wait there. */
void emu_make_ready(unsigned linear, bool next);
void emu_wait(void); /* gives the processor to another thread */

/* fiber.cpp: stacks, and switching between them. */
emu_fiber *emu_fiber_new(void (*entry)(void));
void emu_fiber_switch(emu_fiber *to);
emu_fiber *emu_fiber_now(void);
emu_fiber *emu_fiber_main(void); /* the host thread's own stack */
void emu_fiber_enter_main(void);
/* An address in the guard below the stack of the running fiber. */
bool emu_fiber_overflow(const void *at);
bool emu_fiber_owns(const void *at);

/* ---- shared.cpp
 * -------------------------------------------------------------------------------
 */

void emu_shared_init(void);
/* Checks the guards of the last block and forgets its arrays. */
void emu_shared_begin(size_t dynamic_bytes);
bool emu_is_shared(const void *at);
bool emu_near_shared(const void *at); /* or in the guards around it */
std::string emu_describe_shared(const void *at);

/* ---- shadow.cpp
 * --------------------------------------------------------------------------------
 */

extern bool emu_checks; /* the check build: kernels tell of every access */
void emu_shadow_init(char *arena, size_t arena_bytes, char *shared,
                     size_t shared_bytes);
/* The bytes may be accessed from now on, or no more. */
void emu_shadow_set(const char *at, size_t bytes, bool valid);
/* An access by a copy or by cuBLAS. */
void emu_shadow_touch(const void *at, size_t bytes, bool write,
                      const char *what);

/* ---- fault.cpp
 * -----------------------------------------------------------------------------------
 */

void emu_fault_init(void);

#endif
