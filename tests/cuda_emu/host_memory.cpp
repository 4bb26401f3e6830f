/* Cases: device memory, pinned memory, copies. */
#include "cases.h"

#include <signal.h>
#include <string.h>

static volatile char seen;

static void host_reads(void)
{
    seen = *new_device(16);
}

static void host_writes(void)
{
    *new_device(16) = 1;
}

static void host_passes_to_libc(void)
{
    char bytes[16];

    memcpy(bytes, new_device(16), sizeof bytes);
    seen = bytes[3];
}

static void new_memory_is_nan(void)
{
    cudaStream_t stream = new_stream();
    double *number = (double *)new_pinned(sizeof *number);

    memset(number, 0, sizeof *number);
    fetch(number, new_device(8), 8, stream);
    EXPECT(*number != *number);
}

static void addresses_are_new(void)
{
    char *first = new_device(100), *second;

    GOOD(cudaFree(first));
    second = new_device(100);
    EXPECT(first != second);
    EXPECT_EQUAL((uintptr_t)second % 16, 0);
}

static void free_twice(void)
{
    char *memory = new_device(100);

    GOOD(cudaFree(memory));
    (void)cudaFree(memory);
}

static void free_inside(void)
{
    (void)cudaFree(new_device(100) + 16);
}

static void free_pinned_as_device(void)
{
    (void)cudaFree(new_pinned(100));
}

static void free_device_as_pinned(void)
{
    (void)cudaFreeHost(new_device(100));
}

static void free_nothing(void)
{
    char *memory = (char *)1;

    GOOD(cudaFree(NULL));
    GOOD(cudaFreeHost(NULL));
    GOOD(cudaMalloc(&memory, 0));
    EXPECT(memory == NULL);
}

static void past_pinned(void)
{
    new_pinned(32)[32] = 1;
}

/* ---- copies ------------------------------------------------------------- */

static cudaStream_t stream;
static char *device, *pinned;

static void prepare(void)
{
    stream = new_stream();
    device = new_device(100);
    pinned = new_pinned(100);
    memset(pinned, 7, 100);
}

static void there_and_back(void)
{
    char got[100] = "";

    prepare();
    GOOD(cudaMemcpyAsync(device, pinned, 100, cudaMemcpyHostToDevice, stream));
    GOOD(cudaMemsetAsync(device + 10, 3, 5, stream));
    GOOD(cudaMemcpyAsync(device + 50, device + 10, 5, cudaMemcpyDeviceToDevice,
                         stream));
    fetch(got, device, 100, stream);
    for (int i = 0; i < 100; i++)
        EXPECT_EQUAL(got[i],
                     (i >= 10 && i < 15) || (i >= 50 && i < 55) ? 3 : 7);
}

static void wrong_kind(void)
{
    prepare();
    (void)cudaMemcpyAsync(device, pinned, 100, cudaMemcpyDeviceToHost, stream);
}

static void host_as_device(void)
{
    prepare();
    (void)cudaMemcpyAsync(device, pinned, 100, cudaMemcpyDeviceToDevice,
                          stream);
}

static void default_kind(void)
{
    prepare();
    (void)cudaMemcpyAsync(device, pinned, 100, cudaMemcpyDefault, stream);
}

static void not_pinned(void)
{
    char bytes[100] = "";

    prepare();
    (void)cudaMemcpyAsync(device, bytes, 100, cudaMemcpyHostToDevice, stream);
}

static void past_the_pinned_end(void)
{
    prepare();
    (void)cudaMemcpyAsync(device, pinned + 1, 100, cudaMemcpyHostToDevice,
                          stream);
}

static void past_the_end(void)
{
    prepare();
    (void)cudaMemcpyAsync(device + 1, pinned, 100, cudaMemcpyHostToDevice,
                          stream);
}

static void fill_past_the_end(void)
{
    prepare();
    (void)cudaMemsetAsync(device, 0, 101, stream);
}

static void copy_of_freed(void)
{
    prepare();
    GOOD(cudaFree(device));
    (void)cudaMemcpyAsync(pinned, device, 100, cudaMemcpyDeviceToHost, stream);
}

static void nothing_to_copy(void)
{
    prepare();
    GOOD(cudaMemcpyAsync(device, pinned, 0, cudaMemcpyHostToDevice, stream));
    GOOD(cudaMemsetAsync(device, 0, 0, stream));
}

static void source_changed(void)
{
    prepare();
    GOOD(cudaMemcpyAsync(device, pinned, 100, cudaMemcpyHostToDevice, stream));
    pinned[99] = 1;
    GOOD(cudaStreamSynchronize(stream));
}

static void source_changed_after(void)
{
    prepare();
    GOOD(cudaMemcpyAsync(device, pinned, 100, cudaMemcpyHostToDevice, stream));
    GOOD(cudaStreamSynchronize(stream));
    pinned[99] = 1;
    GOOD(cudaStreamSynchronize(stream));
}

/* What has not arrived is not there by luck. */
static void read_too_early(void)
{
    prepare();
    GOOD(cudaMemsetAsync(device, 7, 100, stream));
    GOOD(cudaMemcpyAsync(pinned, device, 100, cudaMemcpyDeviceToHost, stream));
    EXPECT_EQUAL(pinned[50], -1);
    GOOD(cudaStreamSynchronize(stream));
    EXPECT_EQUAL(pinned[50], 7);
}

static void fetch_uninitialised(void)
{
    char got[100];

    prepare();
    GOOD(cudaMemcpyAsync(device, pinned, 99, cudaMemcpyHostToDevice, stream));
    fetch(got, device, 100, stream);
}

static const char touched[] = "cuda_emu: error: ";

static const emu_case cases[] = {
    {"the host may not read device memory", "", host_reads, 86, touched},
    {"the host may not write device memory", "", host_writes, 86, touched},
    {"nor may libc for it", "", host_passes_to_libc, 86, touched},
    {"new device memory is NaN", "", new_memory_is_nan, 0, NULL, ONLY_FAST},
    {"addresses are never used again", "", addresses_are_new, 0, NULL},
    {"memory is freed once", "", free_twice, 86, "already freed"},
    {"memory is freed from its begin", "", free_inside, 86,
     "not a live allocation"},
    {"pinned memory is not freed as device memory", "", free_pinned_as_device,
     86, "not a live allocation"},
    {"device memory is not freed as pinned memory", "", free_device_as_pinned,
     86, "not pinned memory"},
    {"nothing may be freed, and no bytes allocated", "", free_nothing, 0, NULL},
    {"pinned memory has an end", "", past_pinned, -SIGSEGV, NULL},
    {"bytes go there and back, eager", "async=eager", there_and_back, 0, NULL},
    {"bytes go there and back, lazy", "async=lazy", there_and_back, 0, NULL},
    {"bytes go there and back, random", "async=rand:3", there_and_back, 0,
     NULL},
    {"the kind of a copy fits its pointers", "", wrong_kind, 86,
     "does not fit"},
    {"a host pointer is no device pointer", "", host_as_device, 86,
     "does not fit"},
    {"a copy names its kind", "", default_kind, 86, "cudaMemcpyDefault"},
    {"asynchronous copies are from pinned memory", "", not_pinned, 86,
     "not pinned"},
    {"pinned to the last byte", "", past_the_pinned_end, 86, "not pinned"},
    {"a copy stays in its allocation", "", past_the_end, 86, "destination"},
    {"a fill stays in its allocation", "", fill_past_the_end, 86,
     "cudaMemsetAsync"},
    {"a copy needs live memory", "", copy_of_freed, 86, "already freed"},
    {"a copy of nothing is nothing", "", nothing_to_copy, 0, NULL},
    {"the source of a copy keeps until it has run", "async=lazy",
     source_changed, 86, "changed between"},
    {"and may change then", "async=lazy", source_changed_after, 0, NULL},
    {"the target of a copy is NaN until it has run", "async=lazy",
     read_too_early, 0, NULL},
    {"a copy reads what was written", "", fetch_uninitialised, 86,
     "nobody has written", ONLY_CHECK},
};

static __attribute__((constructor)) void add(void)
{
    emu_add_cases(cases, sizeof cases / sizeof *cases);
}
