/* The check build: backends/cuda compiled with -fsanitize=thread tells of
 * every access of a kernel, and the hooks below take the place of that
 * sanitizer's library.
 *
 * Each word of device and shared memory has a cell: which bytes may be
 * accessed, which were written, who wrote last and who read last.  Two
 * accesses by different threads to the same bytes, one of them a write, are in
 * order when a barrier of the block, a __syncwarp of their warp, or the order
 * of the streams lies between them; otherwise they are a race, whether or not
 * it showed this time. */
#include "cells.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool emu_checks;

static const char *kind_of(const void *at)
{
    return emu_is_device(at) ? "device" : "shared";
}

static void report_race(const char *what, const void *at, const access &other,
                        const void *pc)
{
    emu_mistake(pc,
                "a race (%s): %s; the other access was by %s, block %u, "
                "thread %u",
                what, emu_describe_address(at).c_str(),
                emu_operation_name(other.operation), other.block,
                other.thread & THREAD);
}

/* ---- copies and cuBLAS -------------------------------------------------- */

static bool is_unordered(const access &other)
{
    return other.operation != 0 && other.operation != emu_operation_now() &&
           !emu_happened_before(other.operation);
}

static bool touch_word(cell *c, uint8_t mask, const char *at, bool write,
                       const char *what)
{
    access now = {emu_operation_now(), 0, 0, 0, 0};

    if (is_unordered(c->write)) {
        report_race(write ? "two writes" : "a read after a write", at, c->write,
                    NULL);
        return false;
    }
    if (write && is_unordered(c->read)) {
        report_race("a write after a read", at, c->read, NULL);
        return false;
    }
    if (write) {
        c->written |= mask;
        c->write = now;
        c->write_bytes = 15;
        c->read_bytes = 0;
        return true;
    }
    if ((c->written & mask) != mask) {
        emu_mistake(NULL, "%s reads device memory that nobody has written: %s",
                    what, emu_describe_address(at).c_str());
        return false;
    }
    c->read = now;
    c->read_bytes = 15;
    return true;
}

void emu_shadow_touch(const void *memory, size_t bytes, bool write,
                      const char *what)
{
    const char *at = (const char *)memory;

    while (emu_checks && bytes > 0) {
        size_t count;
        uint8_t mask = word_mask(at, bytes, &count);

        if (!touch_word(cell_of(at), mask, at, write, what))
            return;
        at += count;
        bytes -= count;
    }
}

/* ---- kernels ------------------------------------------------------------ */

static bool same_warp(const access &a, const access &b)
{
    return (a.thread & THREAD) / 32 == (b.thread & THREAD) / 32;
}

/* Does a barrier of the block or of the warp lie between the two? */
static bool is_behind_barrier(const access &other, const access &now)
{
    return other.phase < now.phase ||
           (same_warp(other, now) && other.warp_phase < now.warp_phase);
}

/* Is an earlier access of this very kernel ordered before the current one? */
static bool is_ordered(const access &other, const access &now)
{
    if (other.block != now.block)
        return false;
    return (other.thread & THREAD) == (now.thread & THREAD) ||
           is_behind_barrier(other, now);
}

static bool races_with_write(const cell *c, uint8_t mask, const access &now)
{
    const access &other = c->write;

    if (other.operation == 0 || (c->write_bytes & mask) == 0)
        return false;
    if (other.operation != now.operation)
        return !emu_happened_before(other.operation);
    if ((now.thread & ATOMIC) && (other.thread & ATOMIC))
        return false;
    return !is_ordered(other, now);
}

static bool races_with_read(const cell *c, uint8_t mask, const access &now)
{
    const access &other = c->read;

    if (other.operation == 0 || (c->read_bytes & mask) == 0)
        return false;
    if (other.operation != now.operation)
        return !emu_happened_before(other.operation);
    if ((now.thread & ATOMIC) && (other.thread & ATOMIC))
        return false;
    if (other.block != now.block || (other.thread & MANY_BLOCKS))
        return true;
    if (other.thread & MANY_WARPS)
        return other.phase >= now.phase;
    if (other.thread & MANY_LANES)
        return !is_behind_barrier(other, now);
    return !is_ordered(other, now);
}

static void note_write(cell *c, uint8_t mask, const access &now)
{
    bool same = c->write.operation == now.operation &&
                c->write.block == now.block &&
                (c->write.thread & THREAD) == (now.thread & THREAD);

    c->written |= mask;
    c->write_bytes = same ? c->write_bytes | mask : mask;
    c->write = now;
}

/* Who else has read in the same phase?  The lanes that read before the warp's
 * last barrier need no remembering: who comes after this reader comes after
 * them. */
static uint16_t other_readers(const access &other, const access &now)
{
    if (other.phase != now.phase)
        return 0;
    if ((other.thread & MANY_WARPS) || !same_warp(other, now))
        return MANY_WARPS;
    if (other.warp_phase != now.warp_phase)
        return 0;
    return (other.thread & MANY_LANES) ||
                   (other.thread & THREAD) != (now.thread & THREAD)
               ? MANY_LANES
               : 0;
}

static void note_read(cell *c, uint8_t mask, const access &now)
{
    const access &other = c->read;
    uint16_t flags = 0;

    if (other.operation == now.operation) {
        mask |= c->read_bytes;
        if (other.block != now.block)
            flags = MANY_BLOCKS;
        else
            flags = (uint16_t)((other.thread & MANY_BLOCKS) |
                               other_readers(other, now));
    }
    c->read = now;
    c->read.thread |= flags;
    c->read_bytes = mask;
}

static bool check_word(const cell *c, uint8_t mask, const char *at, bool write,
                       const access &now, const void *pc)
{
    bool reads = !write || (now.thread & ATOMIC) != 0;

    if (__builtin_expect((c->valid & mask) != mask, 0))
        emu_mistake(pc, "%s of %s memory out of bounds: %s",
                    write ? "a write" : "a read", kind_of(at),
                    emu_describe_address(at).c_str());
    else if (__builtin_expect(reads && (c->written & mask) != mask, 0))
        emu_mistake(pc, "a read of %s memory that nobody has written: %s",
                    kind_of(at), emu_describe_address(at).c_str());
    else if (__builtin_expect(races_with_write(c, mask, now), 0))
        report_race(write ? "two writes" : "a read after a write", at, c->write,
                    pc);
    else if (__builtin_expect(write && races_with_read(c, mask, now), 0))
        report_race("a write after a read", at, c->read, pc);
    else
        return true;
    return false;
}

/* Code, constants and read-only data of the program may be read. */
static bool is_constant(const void *at)
{
    static std::vector<std::pair<uintptr_t, uintptr_t>> segments;

    if (segments.empty())
        dl_iterate_phdr(
            [](dl_phdr_info *info, size_t, void *) {
                for (int i = 0; i < info->dlpi_phnum; i++) {
                    const auto &header = info->dlpi_phdr[i];
                    uintptr_t begin = info->dlpi_addr + header.p_vaddr;

                    if ((header.p_type == PT_LOAD &&
                         !(header.p_flags & PF_W)) ||
                        header.p_type == PT_GNU_RELRO)
                        segments.push_back({begin, begin + header.p_memsz});
                }
                return 0;
            },
            NULL);
    for (const auto &segment : segments)
        if ((uintptr_t)at >= segment.first && (uintptr_t)at < segment.second)
            return true;
    return false;
}

/* Neither device nor shared memory: a thread's stack, its arguments. */
static void check_other(const char *at, bool write, const void *pc)
{
    const char *closure = (const char *)emu_current->closure;

    if (emu_fiber_owns(at) ||
        (size_t)(at - closure) < emu_current->closure_bytes ||
        (!write && is_constant(at)))
        return;
    if (emu_near_shared(at))
        emu_mistake(pc, "a %s of shared memory out of bounds: %s",
                    write ? "write" : "read", emu_describe_address(at).c_str());
    emu_mistake(pc, "a kernel %s host memory at %p", write ? "writes" : "reads",
                (const void *)at);
}

static inline void check_access(const void *memory, size_t bytes, bool write,
                                bool atomic, const void *pc)
{
    const char *at = (const char *)memory;
    access now;

    if (!emu_checks || !emu_in_kernel())
        return;
    emu_count.accesses++;
    if (cell_of(at) == NULL) {
        check_other(at, write, pc);
        return;
    }
    if (__builtin_expect(((uintptr_t)at & (bytes - 1)) != 0, 0) &&
        bytes <= 16 && (bytes & (bytes - 1)) == 0) {
        emu_mistake(pc, "a misaligned access of %zu bytes: %s", bytes,
                    emu_describe_address(at).c_str());
        return;
    }
    now = {emu_operation_now(), emu_block_number,
           (uint16_t)(emu_self->linear | (atomic ? ATOMIC : 0)), emu_phase(),
           emu_warps[emu_self->linear / 32].phase};
    while (bytes > 0) {
        size_t count;
        uint8_t mask = word_mask(at, bytes, &count);
        cell *c = cell_of(at);

        if (!check_word(c, mask, at, write, now, pc))
            return;
        if (write)
            note_write(c, mask, now);
        else
            note_read(c, mask, now);
        at += count;
        bytes -= count;
    }
}

void emu_atomic(const void *at, size_t bytes, int is_float)
{
    const void *pc = __builtin_return_address(0);

    if (is_float)
        emu_mistake(pc, "rule: no atomics on floating-point numbers: their sum "
                        "depends on the order");
    check_access(at, bytes, true, true, pc);
}

/* ---- the hooks ---------------------------------------------------------- */

#define HOOK extern "C" __attribute__((visibility("hidden"))) void

HOOK __tsan_init(void)
{
    emu_checks = true;
}
HOOK __tsan_func_entry(void *)
{
}
HOOK __tsan_func_exit(void)
{
}

#define ACCESS(name, bytes, write)                                             \
    HOOK __tsan_##name##bytes(void *at)                                        \
    {                                                                          \
        check_access(at, bytes, write, false, __builtin_return_address(0));    \
    }
#define ACCESSES(bytes)                                                        \
    ACCESS(read, bytes, false)                                                 \
    ACCESS(write, bytes, true)                                                 \
    ACCESS(unaligned_read, bytes, false)                                       \
    ACCESS(unaligned_write, bytes, true)
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

HOOK __tsan_read_range(void *at, long bytes)
{
    check_access(at, (size_t)bytes, false, false, __builtin_return_address(0));
}
HOOK __tsan_write_range(void *at, long bytes)
{
    check_access(at, (size_t)bytes, true, false, __builtin_return_address(0));
}
HOOK __tsan_vptr_update(void **, void *)
{
}
HOOK __tsan_vptr_read(void **)
{
}

/* Guards of static objects in the runner's side of the module. */
extern "C" __attribute__((visibility("hidden"))) uint8_t
__tsan_atomic8_load(const uint8_t *at, int)
{
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

/* -fsanitize=alignment: a device faults where this processor does not. */
struct ubsan_location {
    const char *file;
    uint32_t line, column;
};
HOOK __ubsan_handle_type_mismatch_v1(void *data, void *at)
{
    const ubsan_location *where = (const ubsan_location *)data;

    if (emu_in_kernel())
        emu_mistake(NULL, "a misaligned access at %s:%u: %s", where->file,
                    where->line, emu_describe_address(at).c_str());
}
HOOK __ubsan_handle_type_mismatch_v1_abort(void *data, void *at)
{
    __ubsan_handle_type_mismatch_v1(data, at);
}
