/* Which words there are: cells come and go with allocations, large ones by
 * whole pages. */
#include "cells.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

emu_cells emu_device_cells, emu_shared_cells;

static cell *new_cells(size_t bytes)
{
    void *cells = mmap(NULL, bytes / 4 * sizeof(cell), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (cells == MAP_FAILED) {
        perror("cuda_emu: no address space for the check build");
        abort();
    }
    return (cell *)cells;
}

void emu_shadow_init(char *device, size_t device_bytes, char *of_block,
                     size_t of_block_bytes)
{
    if (!emu_checks)
        return;
    if (device != NULL)
        emu_device_cells = {device, device_bytes, new_cells(device_bytes)};
    else
        emu_shared_cells = {of_block, of_block_bytes,
                            new_cells(of_block_bytes)};
}

static void set_words(const char *at, const char *end, bool valid)
{
    while (at < end) {
        size_t count;
        uint8_t mask = word_mask(at, (size_t)(end - at), &count);
        cell *c = cell_of(at);

        memset(c, 0, sizeof *c);
        c->valid = valid ? mask : 0;
        at += count;
    }
}

/* Whole pages of cells at once, from an address that begins one; says where it
 * stopped. */
static const char *set_pages(const char *at, const char *end, bool valid)
{
    static const cell whole = {{}, {}, 0xf, 0, 0, 0};
    static const int pattern = emu_pattern(&whole, sizeof whole);
    char *cells = (char *)cell_of(at), *stop = cells;
    size_t bytes = (size_t)(end - at) / 4 * sizeof(cell) & ~(EMU_PAGE - 1);

    if (valid)
        stop = emu_map_pattern(cells, cells + bytes, pattern);
    else if (bytes > 0 &&
             mmap(cells, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                  0) == cells)
        stop = cells + bytes;
    return at + (size_t)(stop - cells) / sizeof(cell) * 4;
}

void emu_shadow_set(const char *at, size_t bytes, bool valid)
{
    const size_t of_page = EMU_PAGE / sizeof(cell) * 4;
    const char *end = at + bytes, *page;

    if (!emu_checks)
        return;
    page = (const char *)(((uintptr_t)at + of_page - 1) & ~(of_page - 1));
    if (!emu_is_device(at) || page >= end)
        page = end;
    set_words(at, page, valid);
    set_words(page < end ? set_pages(page, end, valid) : end, end, valid);
}
