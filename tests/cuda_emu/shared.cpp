/* Shared memory of the block that runs.  Arrays are NaN when a block begins;
 * behind a static one lies a pattern, and the dynamic one ends where memory
 * ends. */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GUARD = 64, STATIC_LIMIT = 48 << 10 };
static const size_t HALF = (size_t)256 << 10;
static const char PATTERN = (char)0xcb;

struct static_array {
    const void *key;
    char *data;
    size_t bytes;
};

static char *map; /* a half for static arrays, one for dynamic, guard pages */
static char *static_top, *dynamic;
static size_t dynamic_size, used_bytes;
static std::vector<static_array> arrays;

void emu_shared_init(void)
{
    map = (char *)mmap(NULL, 2 * HALF + 2 * EMU_PAGE, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        perror("cuda_emu: no shared memory");
        abort();
    }
    map += EMU_PAGE;
    mprotect(map, 2 * HALF, PROT_READ | PROT_WRITE);
    emu_shadow_init(NULL, 0, map, 2 * HALF);
}

static void make_fresh(char *at, size_t bytes)
{
    memset(at, 0xff, bytes);
    emu_shadow_set(at, bytes, true);
}

static void check_guard(const static_array &array)
{
    for (int i = 0; i < GUARD; i++)
        if (array.data[array.bytes + (size_t)i] != PATTERN) {
            emu_mistake(NULL,
                        "a write past the end of a shared array of %zu "
                        "bytes, %d bytes past it",
                        array.bytes, i);
            return;
        }
}

void emu_shared_begin(size_t dynamic_bytes)
{
    for (const auto &array : arrays) {
        check_guard(array);
        emu_shadow_set(array.data, array.bytes, false);
    }
    arrays.clear();
    used_bytes = 0;
    static_top = map;
    if (dynamic_size > 0)
        emu_shadow_set(dynamic, dynamic_size, false);
    dynamic_size = dynamic_bytes;
    dynamic = map + 2 * HALF - (dynamic_bytes + 15) / 16 * 16;
    if (dynamic_bytes > 0)
        make_fresh(dynamic, dynamic_bytes);
}

void *emu_shared(const void *key, size_t bytes, size_t align)
{
    char *at;

    (void)align; /* 64 is enough for every type */
    for (const auto &array : arrays)
        if (array.key == key)
            return array.data;
    at = (char *)(((uintptr_t)static_top + 63) & ~(uintptr_t)63);
    used_bytes += bytes;
    if (used_bytes > STATIC_LIMIT || at + bytes + GUARD > map + HALF)
        emu_mistake(NULL, "%zu bytes of static shared memory, %d are the most",
                    used_bytes, (int)STATIC_LIMIT);
    make_fresh(at, bytes);
    memset(at + bytes, PATTERN, GUARD);
    static_top = at + bytes + GUARD;
    arrays.push_back({key, at, bytes});
    return at;
}

void *emu_dyn_shared(void)
{
    return dynamic;
}

bool emu_is_shared(const void *at)
{
    return (size_t)((const char *)at - map) < 2 * HALF;
}

bool emu_near_shared(const void *at)
{
    return map != NULL && (size_t)((const char *)at - (map - EMU_PAGE)) <
                              2 * HALF + 2 * EMU_PAGE;
}

std::string emu_describe_shared(const void *at)
{
    const char *byte = (const char *)at;
    char text[200] = "shared memory where no array is";

    if (byte >= map + HALF)
        snprintf(text, sizeof text,
                 "offset %ld of %zu bytes of dynamic shared memory",
                 (long)(byte - dynamic), dynamic_size);
    for (const auto &array : arrays)
        if (byte >= array.data && byte < array.data + array.bytes + GUARD)
            snprintf(text, sizeof text,
                     "offset %ld of a shared array of %zu "
                     "bytes",
                     (long)(byte - array.data), array.bytes);
    return text;
}
