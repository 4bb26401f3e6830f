/* The cells of the check build (shadow.cpp says what they are for): one for
 * each word of device memory and of shared memory. */
#ifndef M2_TESTS_CUDA_EMU_CELLS_H
#define M2_TESTS_CUDA_EMU_CELLS_H

#include "emu.h"

/* Of one access: the operation, the block, and the thread with its place in
 * time.  thread: its number, and flags. */
struct access {
    uint32_t operation, block;
    uint16_t thread, phase, warp_phase;
} __attribute__((packed, aligned(2)));
struct cell {
    access write, read;
    uint8_t valid, written; /* bytes, as a mask of 4 bits */
    uint8_t write_bytes, read_bytes;
};
static_assert(sizeof(cell) == 32, "cells fill pages");
enum {
    ATOMIC = 0x8000,
    MANY_WARPS = 0x4000, /* read by several in this phase of the block */
    MANY_BLOCKS = 0x2000,
    MANY_LANES = 0x1000, /* read by several in this phase of the warp */
    THREAD = 0x3ff,
};

/* Where the words lie, and their cells; of device memory and of shared. */
struct emu_cells {
    char *words;
    size_t bytes;
    cell *of;
};
extern emu_cells emu_device_cells, emu_shared_cells;

/* The cell of a word; NULL where there is none. */
static inline cell *cell_of(const char *at)
{
    const emu_cells &device = emu_device_cells, &shared = emu_shared_cells;

    if ((size_t)(at - device.words) < device.bytes)
        return &device.of[(size_t)(at - device.words) / 4];
    if ((size_t)(at - shared.words) < shared.bytes)
        return &shared.of[(size_t)(at - shared.words) / 4];
    return NULL;
}

/* The bytes of its word that [at, at+bytes) covers, and how many they are. */
static inline uint8_t word_mask(const char *at, size_t bytes, size_t *count)
{
    unsigned first = (uintptr_t)at & 3;

    *count = bytes < 4 - first ? bytes : 4 - first;
    return (uint8_t)(((1u << *count) - 1) << first);
}

#endif
