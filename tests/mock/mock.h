/* The mock backend: the reference backend with faults on order, for tests.
 *
 * M2_MOCK, read when the plugin is loaded, a handle is opened or devices are
 * counted, is a list of settings separated by commas:
 *   devices=N       pretends to have N devices (1 when absent)
 *   mem=BYTES       every device says that so many are free
 *   strict          between STEP_BEGIN and STEP_END only ops and uploads are
 *                   taken: what would end a recording is an error
 *   lost-op=K       from the K-th op on the device is lost: everything fails
 *   defer           ops and uploads run at the next DOWNLOAD, SYNC or CLOSE,
 *                   from copies of their arguments; the error of a deferred
 *                   op is that call's
 *   fail-open       OPEN fails
 *   fail-alloc=K    the K-th ALLOC of a handle is out of memory
 *   fail-reserve    RESERVE is out of memory
 *   fail-upload=K, fail-download=K, fail-op=K
 *                   the K-th such call of a handle fails
 *   nan-op=K        the K-th op succeeds but leaves NaN in its last output
 *   noise-op=K      the K-th op changes the first element of its last output by
 *                   a little that every process draws anew
 *   crash-op=K      the K-th op raises SIGSEGV
 *   slow=US         every op takes this many microseconds longer
 *   refuse=OP       SUPPORTS says no to op number OP
 *   numerics=2      says so in its descriptor, as a later build would
 * K counts from 1.  Messages begin with "mock: ". */
#ifndef M2_TESTS_MOCK_H
#define M2_TESTS_MOCK_H

#include "backends/ref/internal.h"

struct mock_settings {
    int devices, defer, fail_open, fail_reserve;
    int fail_alloc, fail_upload, fail_download, fail_op; /* 0: never */
    int nan_op, noise_op, crash_op, refuse;   /* 0, 0, 0, -1: never */
    int numerics, slow, mem, strict, lost_op; /* 0: never */
};

/* Reads M2_MOCK; an unknown setting is an error. */
int mock_settings_read(struct mock_settings *out, struct m2_error *err);

/* One deferred call: an op, an upload, or a buffer's end. */
struct mock_call {
    m2_slot_fn fn;
    struct mock_call *next;
    _Alignas(16) unsigned char args[];
};

/* A handle of the reference backend, and what the mock adds.  The reference
 * backend's functions take it for their own handle. */
struct mock_handle {
    struct ref_handle ref; /* first: the addresses are equal */
    struct mock_settings settings;
    int allocs, uploads, downloads, ops; /* calls so far */
    int in_step, lost;
    struct mock_call *first, **end; /* deferred */
};

/* Runs an op now or later, or whatever the settings ask for instead. */
int mock_op(struct mock_handle *self, enum m2_op op, m2_slot_fn fn,
            size_t args_size, void *args, struct m2_error *err);

/* Queues a copy of args, which has room for extra_bytes more behind it. */
struct mock_call *mock_defer(struct mock_handle *self, m2_slot_fn fn,
                             const void *args, size_t args_size,
                             size_t extra_bytes);

/* Runs what is queued, in order; after an error the rest is dropped, but for
 * the ends of buffers. */
int mock_flush(struct mock_handle *self, struct m2_error *err);

#endif
