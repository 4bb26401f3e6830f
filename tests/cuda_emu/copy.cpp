/* Copies and fills: kinds, ranges, pinned memory, and a source that must not
 * change before its copy has run. */
#include "emu.h"

#include <stdio.h>
#include <string.h>

static bool check_kind(void *to, const void *from, enum cudaMemcpyKind kind)
{
    bool to_device =
        kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device =
        kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

    if (kind == cudaMemcpyDefault) {
        emu_mistake(NULL, "rule: cudaMemcpyAsync names its kind, this one is "
                          "cudaMemcpyDefault");
        return false;
    }
    if (emu_is_device(to) == to_device && emu_is_device(from) == from_device)
        return true;
    emu_mistake(NULL,
                "cudaMemcpyAsync: kind %d does not fit: to %s memory, "
                "from %s memory",
                (int)kind, emu_is_device(to) ? "device" : "host",
                emu_is_device(from) ? "device" : "host");
    return false;
}

static void check_host(const void *host, size_t bytes)
{
    if (!emu_is_pinned(host, bytes))
        emu_mistake(NULL,
                    "rule: cudaMemcpyAsync with host memory that is not "
                    "pinned, %zu bytes at %p",
                    bytes, host);
}

/* FNV-1a, of what a copy is going to read. */
static uint64_t fingerprint(const void *from, size_t bytes)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ ((const unsigned char *)from)[i]) * 0x100000001b3;
    return hash;
}

static void run_copy(void *to, const void *from, size_t bytes)
{
    emu_access open;

    if (emu_is_device(from))
        emu_shadow_touch(from, bytes, false, "cudaMemcpyAsync");
    if (emu_is_device(to))
        emu_shadow_touch(to, bytes, true, "cudaMemcpyAsync");
    memmove(to, from, bytes);
}

static std::function<void()> copy_from_host(void *to, const void *from,
                                            size_t bytes)
{
    bool later = emu.async != ASYNC_EAGER;
    uint64_t before;

    check_host(from, bytes); /* in a graph: is it still pinned? */
    before = later ? fingerprint(from, bytes) : 0;
    return [=] {
        if (later && fingerprint(from, bytes) != before)
            emu_mistake(NULL,
                        "pinned memory at %p (%zu bytes) changed between "
                        "cudaMemcpyAsync and the copy",
                        from, bytes);
        run_copy(to, from, bytes);
    };
}

/* Until the bytes arrive the host must not look: it would see NaN. */
static std::function<void()> copy_to_host(void *to, const void *from,
                                          size_t bytes)
{
    check_host(to, bytes);
    memset(to, 0xff, bytes);
    return [=] { run_copy(to, from, bytes); };
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream)
{
    emu_call call("cudaMemcpyAsync");

    if (call.failure != cudaSuccess || bytes == 0)
        return emu_return(call.failure);
    if (!check_kind(to, from, kind))
        return emu_return(cudaErrorInvalidValue);
    if (emu_is_device(to))
        emu_require("cudaMemcpyAsync, destination", to, bytes);
    else
        check_host(to, bytes);
    if (emu_is_device(from))
        emu_require("cudaMemcpyAsync, source", from, bytes);
    else
        check_host(from, bytes);
    return emu_return(
        emu_enqueue(stream, "cudaMemcpyAsync", [=]() -> std::function<void()> {
            if (kind == cudaMemcpyHostToDevice)
                return copy_from_host(to, from, bytes);
            if (kind == cudaMemcpyDeviceToHost)
                return copy_to_host(to, from, bytes);
            return [=] { run_copy(to, from, bytes); };
        }));
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes,
                            cudaStream_t stream)
{
    emu_call call("cudaMemsetAsync");

    if (call.failure != cudaSuccess || bytes == 0)
        return emu_return(call.failure);
    emu_require("cudaMemsetAsync", at, bytes);
    return emu_return(emu_enqueue(stream, "cudaMemsetAsync", [=] {
        return [=] {
            emu_access open;

            emu_shadow_touch(at, bytes, true, "cudaMemsetAsync");
            memset(at, value, bytes);
        };
    }));
}
