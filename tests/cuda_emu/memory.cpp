/* Device memory: addresses that are never used twice, pages that only kernels
 * and copies may touch, and guards around every allocation.
 *
 * An allocation ends at the end of its pages, so that the first byte past it
 * (rounded up to 16) has no memory; what is left before it and in the rounding
 * holds a pattern that is looked at when it is freed.  New memory is all ones:
 * NaN as a number, -1 as an index. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* protection keys */
#endif
#include "emu.h"

#include <algorithm>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const char PATTERN = (char)0xcb;

static char *arena;
static size_t arena_bytes = (size_t)64 << 30; /* addresses, not memory */
static size_t arena_used;
static std::map<uintptr_t, emu_allocation> allocations;
static std::map<uintptr_t, size_t> pinned; /* begin -> bytes */
static std::map<int, size_t> live_bytes;   /* by device */
static size_t live_count;
static uint64_t next_number;

/* ---- who may touch it -------------------------------------------------------
 */

static int key = -1; /* protection key; -1: the system has none */
static thread_local int open_depth;

/* Without keys pages are opened when they are touched, some at a time, and
 * closed when the operation ends: most operations touch little of what there
 * is. */
static const size_t CHUNK = 32 * EMU_PAGE;
struct chunk {
    char *begin;
    size_t bytes;
};
static std::vector<chunk> opened;

static void set_rights(bool open)
{
    if (key > 0) {
        pkey_set(key, open ? 0 : PKEY_DISABLE_ACCESS);
        return;
    }
    if (open)
        return;
    for (const auto &each : opened)
        mprotect(each.begin, each.bytes, PROT_NONE);
    opened.clear();
}

/* The live allocation whose pages hold this address. */
static const emu_allocation *holder_of(const char *at)
{
    auto next = allocations.upper_bound((uintptr_t)at);

    if (next == allocations.end() || at < next->second.map) {
        if (next == allocations.begin())
            return NULL;
        --next;
    }
    const emu_allocation &a = next->second;

    return a.live && (size_t)(at - a.map) < a.map_bytes ? &a : NULL;
}

bool emu_open_touched(const void *at)
{
    const emu_allocation *a = holder_of((const char *)at);
    chunk touched;
    size_t offset;

    if (key > 0 || open_depth == 0 || a == NULL)
        return false;
    offset = (size_t)((const char *)at - a->map) / CHUNK * CHUNK;
    touched = {a->map + offset, std::min(CHUNK, a->map_bytes - offset)};
    if (mprotect(touched.begin, touched.bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    opened.push_back(touched);
    return true;
}

emu_access::emu_access()
{
    if (open_depth++ == 0)
        set_rights(true);
}

emu_access::~emu_access()
{
    if (--open_depth == 0)
        set_rights(false);
}

bool emu_is_open(void)
{
    return open_depth > 0;
}

/* ---- the arena ---------------------------------------------------------- */

void emu_memory_init(void)
{
    for (;; arena_bytes /= 2) {
        arena =
            (char *)mmap(NULL, arena_bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena != MAP_FAILED)
            break;
        if (arena_bytes <= (size_t)64 << 20) {
            fprintf(stderr, "cuda_emu: no address space: %s\n",
                    strerror(errno));
            abort();
        }
    }
    emu_shadow_init(arena, arena_bytes, NULL, 0);
    if (getenv("M2_EMU_NO_KEYS") == NULL)
        key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
}

bool emu_is_device(const void *at)
{
    return (size_t)((const char *)at - arena) < arena_bytes;
}

emu_allocation *emu_find(const void *at, bool dead_too)
{
    auto found = allocations.upper_bound((uintptr_t)at);
    const char *byte = (const char *)at;

    if (found == allocations.begin())
        return NULL;
    emu_allocation &a = (--found)->second;
    if (!a.live && !dead_too)
        return NULL;
    if (byte >= a.map + a.map_bytes + (dead_too ? EMU_PAGE : 1))
        return NULL;
    return &a;
}

std::string emu_describe_address(const void *at)
{
    char text[400];
    emu_allocation *a;
    long offset;

    if (emu_near_shared(at))
        return emu_describe_shared(at);
    if (!emu_is_device(at)) {
        snprintf(text, sizeof text, "%p, which is not device memory", at);
        return text;
    }
    a = emu_find(at, true);
    if (a == NULL) { /* before the first byte of the next one? */
        auto next = allocations.upper_bound((uintptr_t)at);

        if (next == allocations.end())
            return "device memory that was never allocated";
        a = &next->second;
    }
    offset = (long)((const char *)at - a->base);
    if (offset < 0)
        snprintf(text, sizeof text, "%ld bytes before", -offset);
    else if ((size_t)offset < a->bytes)
        snprintf(text, sizeof text, "offset %ld of", offset);
    else
        snprintf(text, sizeof text, "%ld bytes past the end of",
                 offset - (long)a->bytes);
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length,
             " the %zu-byte allocation #%llu (%s:%d)%s", a->bytes,
             (unsigned long long)a->number, a->file, a->line,
             a->live ? "" : ", already freed");
    return text;
}

void emu_require(const char *what, const void *at, size_t bytes)
{
    emu_allocation *a = emu_find(at);
    const char *begin = (const char *)at;

    if (bytes == 0 ||
        (a != NULL && begin >= a->base && begin + bytes <= a->base + a->bytes))
        return;
    emu_mistake(NULL, "%s: %zu bytes at %s", what, bytes,
                emu_describe_address(at).c_str());
}

/* ---- allocate and free -------------------------------------------------- */

static void fill_with_ones(char *begin, char *end)
{
    static const unsigned char one = 0xff;
    static const int ones = emu_pattern(&one, 1);
    char *page = (char *)(((uintptr_t)begin + EMU_PAGE - 1) & ~(EMU_PAGE - 1)),
         *rest;

    if (page >= end)
        page = end;
    memset(begin, one, (size_t)(page - begin));
    rest = emu_map_pattern(page, end, ones);
    memset(rest, one, (size_t)(end - rest));
}

static char *new_pages(size_t bytes, size_t map_bytes)
{
    char *map = arena + EMU_PAGE + arena_used, *base;

    if (arena_used + map_bytes + 2 * EMU_PAGE > arena_bytes ||
        mprotect(map, map_bytes, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    arena_used += map_bytes + EMU_PAGE; /* a page without memory after it */
    base = map + map_bytes - (bytes + 15) / 16 * 16;
    memset(map, PATTERN, (size_t)(base - map));
    fill_with_ones(base, base + bytes);
    memset(base + bytes, PATTERN, (size_t)(map + map_bytes - base) - bytes);
    return base;
}

cudaError_t emu_malloc(void **out, size_t bytes, const char *file, int line)
{
    emu_call call("cudaMalloc");
    size_t map_bytes = (bytes + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE;
    size_t &live = live_bytes[emu_device()];
    char *base, *map;

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    if (emu_breaks_capture())
        return emu_return(cudaErrorStreamCaptureUnsupported);
    *out = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > emu.memory || live > emu.memory - bytes)
        return emu_return(cudaErrorMemoryAllocation);
    map = arena + EMU_PAGE + arena_used;
    base = new_pages(bytes, map_bytes);
    if (base == NULL)
        return emu_return(cudaErrorMemoryAllocation);
    allocations[(uintptr_t)base] = {base,         bytes,         map,
                                    map_bytes,    file,          line,
                                    emu_device(), ++next_number, true};
    live += bytes;
    live_count++;
    emu_shadow_set(base, bytes, true);
    if (key > 0)
        pkey_mprotect(map, map_bytes, PROT_READ | PROT_WRITE, key);
    else
        mprotect(map, map_bytes, PROT_NONE);
    *out = base;
    return cudaSuccess;
}

static void check_guards(const emu_allocation *a)
{
    emu_access open;

    for (const char *p = a->map; p < a->map + a->map_bytes; p++) {
        if (p == a->base)
            p += a->bytes;
        if (p < a->map + a->map_bytes && *p != PATTERN) {
            emu_mistake(NULL,
                        "cudaFree: bytes outside of the allocation were "
                        "overwritten: %s",
                        emu_describe_address(p).c_str());
            return;
        }
    }
}

cudaError_t cudaFree(void *at)
{
    emu_call call("cudaFree");
    auto found = allocations.find((uintptr_t)at);

    if (at == NULL)
        return emu_return(call.failure);
    if (found == allocations.end() || !found->second.live) {
        emu_mistake(NULL,
                    "cudaFree of a pointer that is not a live "
                    "allocation: %s",
                    emu_describe_address(at).c_str());
        return emu_return(cudaErrorInvalidValue);
    }
    if (emu_breaks_capture())
        return emu_return(cudaErrorStreamCaptureUnsupported);
    emu_drain_all();
    emu_allocation &a = found->second;
    check_guards(&a);
    emu_shadow_set(a.base, a.bytes, false);
    mmap(a.map, a.map_bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    a.live = false;
    live_bytes[a.device] -= a.bytes;
    live_count--;
    return emu_return(call.failure);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    emu_call call("cudaMemGetInfo");

    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    *total = emu.memory;
    *free_bytes = emu.memory - live_bytes[emu_device()];
    return cudaSuccess;
}

/* ---- pinned host memory ------------------------------------------------- */

cudaError_t emu_malloc_host(void **out, size_t bytes)
{
    emu_call call("cudaMallocHost");
    size_t length = (bytes + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE;
    char *map, *base;

    *out = NULL;
    if (call.failure != cudaSuccess)
        return emu_return(call.failure);
    map = (char *)mmap(NULL, length + EMU_PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return emu_return(cudaErrorMemoryAllocation);
    mprotect(map + length, EMU_PAGE, PROT_NONE);
    base = map + length - (bytes + 15) / 16 * 16;
    memset(map, 0xff, length);
    pinned[(uintptr_t)base] = bytes;
    *out = base;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *at)
{
    emu_call call("cudaFreeHost");
    auto found = pinned.find((uintptr_t)at);
    size_t length;

    if (at == NULL)
        return emu_return(call.failure);
    if (found == pinned.end()) {
        emu_mistake(NULL, "cudaFreeHost of %p, which is not pinned memory", at);
        return emu_return(cudaErrorInvalidValue);
    }
    emu_drain_all();
    length = (found->second + EMU_PAGE - 1) / EMU_PAGE * EMU_PAGE;
    munmap((void *)((uintptr_t)at & ~(EMU_PAGE - 1)), length + EMU_PAGE);
    pinned.erase(found);
    return emu_return(call.failure);
}

bool emu_is_pinned(const void *at, size_t bytes)
{
    auto found = pinned.upper_bound((uintptr_t)at);

    if (found == pinned.begin())
        return false;
    --found;
    return (uintptr_t)at + bytes <= found->first + found->second;
}

size_t emu_live_count(void)
{
    return live_count;
}

size_t emu_live_bytes(void)
{
    size_t sum = 0;

    for (const auto &each : live_bytes)
        sum += each.second;
    return sum;
}

size_t emu_pinned_count(void)
{
    return pinned.size();
}
