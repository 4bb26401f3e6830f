/* The entry of every call, CUDA's errors in its own words, and the devices. */
#include "emu.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cudaError_t emu_sticky;
static cudaError_t last_error;
static thread_local int current_device;

static std::recursive_mutex &the_lock()
{
    static std::recursive_mutex lock;

    return lock;
}

static std::map<std::string, uint64_t> &call_counts()
{
    static std::map<std::string, uint64_t> counts;

    return counts;
}

uint64_t emu_calls(const std::string &name)
{
    return call_counts()[name];
}

static void init_once(void)
{
    static bool done;

    if (done)
        return;
    done = true;
    /* its table is made first, so that it goes after the counts are written */
    (void)call_counts();
    atexit(emu_write_counts);
    emu_shared_init();
    emu_memory_init();
    emu_fault_init();
}

static cudaError_t injected(const char *name)
{
    uint64_t own = ++call_counts()[name], any = ++call_counts()["any"];

    for (const auto &failure : emu.failures) {
        if ((failure.call != name || failure.k != (long)own) &&
            (failure.call != "any" || failure.k != (long)any))
            continue;
        if (failure.is_sticky())
            emu_sticky = (cudaError_t)failure.error;
        return failure.error != 0 ? (cudaError_t)failure.error
                                  : cudaErrorUnknown;
    }
    return cudaSuccess;
}

static cudaError_t driver_error(void)
{
    if (emu.driver != DRIVER_GOOD)
        return cudaErrorInsufficientDriver;
    return emu.devices == 0 ? cudaErrorNoDevice : cudaSuccess;
}

emu_call::emu_call(const char *name) : failure(cudaSuccess), lock(the_lock())
{
    init_once();
    failure = injected(name);
    if (failure == cudaSuccess)
        failure = driver_error();
    if (failure == cudaSuccess)
        failure = emu_sticky;
}

cudaError_t emu_return(cudaError_t result)
{
    if (result != cudaSuccess)
        last_error = result;
    return result;
}

/* ---- mistakes ----------------------------------------------------------- */

/* "function at file:line", by addr2line, which knows debug information. */
static std::string source_line(const void *pc)
{
    Dl_info info;
    char command[600], line[400] = "";
    FILE *tool;

    if (pc == NULL || !dladdr(pc, &info) || info.dli_fname == NULL)
        return "";
    snprintf(command, sizeof command,
             "addr2line -C -f -p -e '%s' %#lx 2>/dev/null", info.dli_fname,
             (unsigned long)((const char *)pc - (const char *)info.dli_fbase) -
                 1);
    tool = popen(command, "r");
    if (tool == NULL)
        return "";
    if (fgets(line, sizeof line, tool) == NULL)
        line[0] = '\0';
    pclose(tool);
    line[strcspn(line, "\n")] = '\0';
    return line;
}

void emu_mistake(const void *pc, const char *format, ...)
{
    char message[900];
    std::string where = emu_where(), line = source_line(pc);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "cuda_emu: error: %s%s%s%s%s\n", message,
            where.empty() ? "" : " ", where.c_str(),
            line.empty() ? "" : "\n    at ", line.c_str());
    emu_count.mistakes++;
    if (emu.collect)
        return;
    fflush(NULL);
    _exit(86);
}

/* ---- errors ------------------------------------------------------------- */

static const struct {
    cudaError_t error;
    const char *name, *text;
} words[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError",
     "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice",
     "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice",
     "invalid device ordinal"},
    {cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
     "no kernel image is available for execution on the device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure",
     "unspecified launch failure"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
     "capture was not initiated in this stream"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
     "capturing stream has unjoined work"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &word : words)
        if (word.error == error)
            return word.text;
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &word : words)
        if (word.error == error)
            return word.name;
    return "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
    std::lock_guard<std::recursive_mutex> lock(the_lock());
    cudaError_t error = emu_sticky != cudaSuccess ? emu_sticky : last_error;

    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    std::lock_guard<std::recursive_mutex> lock(the_lock());

    return emu_sticky != cudaSuccess ? emu_sticky : last_error;
}

/* ---- devices ------------------------------------------------------------ */

int emu_device(void)
{
    return current_device;
}

/* NVIDIA's table of compute capabilities. */
size_t emu_shared_limit(void)
{
    size_t kilobytes = emu.capability == 80 || emu.capability == 87   ? 163
                       : emu.capability >= 90 && emu.capability < 120 ? 227
                       : emu.capability >= 86                         ? 99
                                                                      : 64;

    return kilobytes << 10;
}

static bool is_device(int device)
{
    return device >= 0 && device < emu.devices;
}

/* Leaves the count untouched when it fails, as the real one does. */
cudaError_t cudaGetDeviceCount(int *count)
{
    emu_call call("cudaGetDeviceCount");

    if (call.failure == cudaSuccess)
        *count = emu.devices;
    return emu_return(call.failure);
}

cudaError_t cudaSetDevice(int device)
{
    emu_call call("cudaSetDevice");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (!is_device(device))
        return emu_return(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    emu_call call("cudaGetDevice");

    *device = current_device;
    return emu_return(call.failure);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int device)
{
    emu_call call("cudaGetDeviceProperties");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (!is_device(device))
        return emu_return(cudaErrorInvalidDevice);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "emulated sm_%d", emu.capability);
    out->totalGlobalMem = emu.memory;
    out->sharedMemPerBlock = (size_t)48 << 10;
    out->sharedMemPerBlockOptin = emu_shared_limit();
    out->warpSize = 32;
    out->maxThreadsPerBlock = 1024;
    out->maxGridSize[0] = 0x7fffffff;
    out->maxGridSize[1] = out->maxGridSize[2] = 65535;
    out->major = emu.capability / 10;
    out->minor = emu.capability % 10;
    out->multiProcessorCount = 4;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *out, cudaDeviceAttr attribute,
                                   int device)
{
    emu_call call("cudaDeviceGetAttribute");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (!is_device(device))
        return emu_return(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
        *out = 4;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
        *out = emu.capability / 10;
        return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
        *out = emu.capability % 10;
        return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *out = (int)emu_shared_limit();
        return cudaSuccess;
    }
    return emu_return(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetPCIBusId(char *out, int size, int device)
{
    emu_call call("cudaDeviceGetPCIBusId");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (!is_device(device))
        return emu_return(cudaErrorInvalidDevice);
    snprintf(out, (size_t)size, "0000:%02X:00.0", device + 1);
    return cudaSuccess;
}

static cudaError_t version(const char *name, int *out)
{
    emu_call call(name);

    *out = 13000;
    return emu_return(call.failure);
}

cudaError_t cudaDriverGetVersion(int *out)
{
    return version("cudaDriverGetVersion", out);
}

cudaError_t cudaRuntimeGetVersion(int *out)
{
    return version("cudaRuntimeGetVersion", out);
}
