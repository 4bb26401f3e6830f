/* Large memory that holds a pattern: all of it is the same few pages, until it
 * is written.  Most of a workspace never is, and clearing it would take longer
 * than many a test. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "emu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t CHUNK = (size_t)2 << 20;

int emu_pattern(const void *unit, size_t bytes)
{
    int file = memfd_create("pattern", MFD_CLOEXEC);
    std::vector<char> chunk(CHUNK);

    for (size_t at = 0; at < CHUNK; at += bytes)
        memcpy(&chunk[at], unit, bytes);
    if (file >= 0 && write(file, chunk.data(), CHUNK) == (ssize_t)CHUNK)
        return file;
    fprintf(stderr, "cuda_emu: no memory: %s\n", strerror(errno));
    abort();
}

char *emu_map_pattern(char *begin, const char *end, int pattern)
{
    while ((size_t)(end - begin) >= CHUNK &&
           mmap(begin, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                pattern, 0) == begin)
        begin += CHUNK;
    return begin;
}
