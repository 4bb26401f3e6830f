/* The inside of a mirror, shared by its two files. */
#ifndef M2_BACKENDS_CONFORMANCE_MIRROR_PRIVATE_H
#define M2_BACKENDS_CONFORMANCE_MIRROR_PRIVATE_H

#include "backends/conformance/mirror.h"
#include "backends/ops_contract.h"

enum { MIRROR_MAX_ARGS_BYTES = 1024, MIRROR_MAX_BUFFERS = 256 };

/* A buffer of the device, and the twin's of the same size. */
struct twin_buffer {
    const struct m2_buffer *of;
    struct m2_buffer *twin;
};

/* One view on the host, once per side. */
enum { ON_DEVICE, ON_TWIN, N_SIDES };
struct staging {
    size_t elements; /* room for so many */
    unsigned char *bytes;
    double *values[N_SIDES];
};

struct mirror {
    struct mirror_request request;
    struct device_observer observer;
    struct twin_buffer buffers[MIRROR_MAX_BUFFERS];
    size_t n_buffers;
    struct staging staging;
    int64_t step;
    struct mirror_report report;
    /* The arguments of the op that is running, with the twin's buffers. */
    _Alignas(16) unsigned char args[MIRROR_MAX_ARGS_BYTES];
};

/* Room for the elements of a view. */
int mirror_reserve_staging(struct mirror *mirror, const struct m2_view *view,
                           struct m2_error *err);

/* How an output of the op that has run reacts to its inputs: the largest
 * change of an element when every real input is changed by a small share of
 * itself, up or down, over that share.  For a well-conditioned result that is
 * about its own size; for a sum that cancels, the size of its terms.  0 where
 * an input was changed by the op.  The twin, which computes it, is left with
 * other inputs and outputs.
 *
 * The share is far above the limits, so that a twin whose results are noise
 * is not excused by its noise. */
int mirror_response(struct mirror *mirror, enum m2_op op, size_t output,
                    double *out, struct m2_error *err);

#endif
