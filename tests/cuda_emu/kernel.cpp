/* Launching: the configuration and the arguments are checked at the call, the
 * blocks of the grid run one after the other when the stream gets there. */
#include "emu.h"

#include <algorithm>
#include <string.h>
#include <sys/mman.h>

emu_kernel *emu_current;
uint3 emu_block_at;
uint32_t emu_block_number;

static thread_local const char *next_name = "?", *next_file = "?";
static thread_local int next_line;
static thread_local bool runs_kernel;

bool emu_in_kernel(void)
{
    return runs_kernel;
}

void emu_next_name(const char *kernel, const char *file, int line)
{
    next_name = kernel;
    next_file = file;
    next_line = line;
}

/* ---- opted-in shared memory --------------------------------------------- */

static std::map<const void *, size_t> &opted_in()
{
    static std::map<const void *, size_t> bytes;

    return bytes;
}

cudaError_t emu_function_attribute(const void *function,
                                   cudaFuncAttribute attribute, int value)
{
    emu_call call("cudaFuncSetAttribute");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        (size_t)value > emu_shared_limit())
        return emu_return(cudaErrorInvalidValue);
    opted_in()[function] = (size_t)value;
    return cudaSuccess;
}

static size_t dynamic_limit(const void *function)
{
    auto found = opted_in().find(function);
    size_t without = (size_t)48 << 10;

    return found == opted_in().end() ? without
                                     : std::max(without, found->second);
}

/* ---- checks at the call ------------------------------------------------- */

static bool is_good_shape(const dim3 &grid, const dim3 &block)
{
    return grid.x >= 1 && grid.y >= 1 && grid.z >= 1 && block.x >= 1 &&
           block.y >= 1 && block.z >= 1 && grid.x <= 0x7fffffffu &&
           grid.y <= 65535 && grid.z <= 65535 && block.x <= 1024 &&
           block.y <= 1024 && block.z <= 64 &&
           (uint64_t)block.x * block.y * block.z <= 1024;
}

static void check_pointer(const emu_kernel *kernel, int argument,
                          const void *at, int device)
{
    emu_allocation *a = emu_is_device(at) ? emu_find(at) : NULL;

    if (at == NULL)
        return;
    if (!emu_is_device(at))
        emu_mistake(NULL, "kernel %s, argument %d: the host pointer %p",
                    kernel->name.c_str(), argument, at);
    else if (a == NULL || (const char *)at < a->base ||
             (const char *)at > a->base + a->bytes)
        emu_mistake(NULL, "kernel %s, argument %d: a bad device pointer, %s",
                    kernel->name.c_str(), argument,
                    emu_describe_address(at).c_str());
    else if (a->device != device)
        emu_mistake(NULL,
                    "kernel %s, argument %d: memory of device %d on a stream "
                    "of device %d",
                    kernel->name.c_str(), argument, a->device, device);
}

/* Does this number look like an address of the process? */
static bool is_mapped(uint64_t value)
{
    unsigned char resident;

    if (value < (uint64_t)1 << 32 || value >= (uint64_t)1 << 47)
        return false;
    return mincore((void *)(value & ~(uint64_t)(EMU_PAGE - 1)), 1, &resident) ==
           0;
}

/* The pointers that a struct holds, at multiples of eight. */
static void check_struct(emu_kernel *kernel, int argument, const char *bytes,
                         size_t size, int device)
{
    for (size_t at = 0; size > 8 && at + 8 <= size; at += 8) {
        uint64_t value;

        memcpy(&value, bytes + at, sizeof value);
        if (emu_is_device((const void *)value)) {
            check_pointer(kernel, argument, (const void *)value, device);
            kernel->outputs.push_back((void *)value);
        } else if (is_mapped(value)) {
            emu_mistake(NULL,
                        "kernel %s, argument %d: a struct holds the host "
                        "pointer %#llx",
                        kernel->name.c_str(), argument,
                        (unsigned long long)value);
        }
    }
}

static void check_arguments(emu_kernel *kernel, const emu_argument *arguments,
                            int n, int device)
{
    for (int i = 0; i < n; i++) {
        const char *bytes = (const char *)kernel->closure + arguments[i].offset;
        void *pointer;

        if (!arguments[i].is_pointer) {
            check_struct(kernel, i, bytes, arguments[i].size, device);
            continue;
        }
        memcpy(&pointer, bytes, sizeof pointer);
        check_pointer(kernel, i, pointer, device);
        if (pointer != NULL && !arguments[i].is_const)
            kernel->outputs.push_back(pointer);
    }
}

/* ---- running ------------------------------------------------------------ */

static void run_grid(emu_kernel *kernel)
{
    const dim3 &grid = kernel->grid;
    uint32_t n = grid.x * grid.y * grid.z;
    std::vector<uint32_t> shuffled;

    emu_current = kernel;
    emu_block_prepare(kernel);
    emu_fiber_enter_main();
    if (emu.order == ORDER_RANDOM) {
        for (uint32_t i = 0; i < n; i++)
            shuffled.push_back(i);
        std::shuffle(shuffled.begin(), shuffled.end(), emu.order_random);
    }
    runs_kernel = true;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = emu.order == ORDER_DESCENDING ? n - 1 - k
                     : emu.order == ORDER_RANDOM   ? shuffled[k]
                                                   : k;

        emu_block_number = i;
        emu_block_at = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
        emu_shared_begin(kernel->shared_bytes);
        emu_block_run();
    }
    emu_shared_begin(0); /* looks at the guards of the last block */
    runs_kernel = false;
    emu_current = NULL;
}

/* What a kernel may write, before and after a run. */
struct snapshot {
    std::vector<char> before, after;
};

/* Runs it in two opposite orders from the same state: a difference is a race,
 * or an order that was taken for granted. */
static void run_twice(emu_kernel *kernel)
{
    std::map<emu_allocation *, snapshot> written;
    enum emu_order order = emu.order;

    for (void *output : kernel->outputs)
        if (emu_allocation *a = emu_find(output))
            written[a].before.assign(a->base, a->base + a->bytes);
    emu.order = ORDER_ASCENDING;
    run_grid(kernel);
    for (auto &each : written) {
        emu_allocation *a = each.first;

        each.second.after.assign(a->base, a->base + a->bytes);
        memcpy(a->base, each.second.before.data(), a->bytes);
    }
    emu.order = ORDER_DESCENDING;
    run_grid(kernel);
    emu.order = order;
    for (auto &each : written) {
        emu_allocation *a = each.first;
        const char *after = each.second.after.data();
        size_t i = 0;

        if (memcmp(a->base, after, a->bytes) == 0)
            continue;
        while (a->base[i] == after[i])
            i++;
        emu_mistake(NULL,
                    "kernel %s gives other results when its threads run in "
                    "another order: %s",
                    kernel->name.c_str(),
                    emu_describe_address(a->base + i).c_str());
    }
}

/* "kernel:NAME:K" loses the context in the K-th run of a kernel, as an illegal
 * address in it does; with another error it is the K-th launch that fails. */
static cudaError_t failure_of(const emu_kernel *kernel, bool runs)
{
    static std::map<std::string, long> counts[2];
    std::string name = "kernel:" + kernel->name;
    long k = ++counts[runs][name];

    for (const auto &failure : emu.failures)
        if (failure.call == name && failure.k == k &&
            runs == (failure.error == 0 || failure.is_sticky()))
            return failure.error != 0 ? (cudaError_t)failure.error
                                      : cudaErrorIllegalAddress;
    return cudaSuccess;
}

static void run(emu_kernel *kernel)
{
    emu_access open;

    emu_sticky = failure_of(kernel, true);
    if (emu_sticky != cudaSuccess)
        return;
    if (emu.replay)
        run_twice(kernel);
    else
        run_grid(kernel);
}

cudaError_t emu_launch(const cudaLaunchConfig_t *config, const void *function,
                       void (*invoke)(void *), void (*destroy)(void *),
                       void *closure, size_t closure_bytes,
                       const emu_argument *arguments, int n)
{
    emu_call call("cudaLaunchKernelExC");
    std::shared_ptr<emu_kernel> kernel(new emu_kernel{function,
                                                      next_name,
                                                      next_file,
                                                      next_line,
                                                      config->gridDim,
                                                      config->blockDim,
                                                      config->dynamicSmemBytes,
                                                      invoke,
                                                      destroy,
                                                      closure,
                                                      closure_bytes,
                                                      {}});

    next_name = next_file = "?";
    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (!is_good_shape(config->gridDim, config->blockDim))
        return emu_return(cudaErrorInvalidConfiguration);
    if (config->dynamicSmemBytes > dynamic_limit(function))
        return emu_return(cudaErrorInvalidValue);
    if (!emu_stream_is(config->stream))
        return emu_return(cudaErrorInvalidResourceHandle);
    if (cudaError_t failure = failure_of(kernel.get(), false))
        return emu_return(failure);
    check_arguments(kernel.get(), arguments, n,
                    emu_stream_device(config->stream));
    emu_count.launches++;
    return emu_return(emu_enqueue(config->stream, kernel->name.c_str(),
                                  [=] { return [=] { run(kernel.get()); }; }));
}
