/* What the files of the checked fronts share; nobody else includes this. */
#ifndef M2_BACKENDS_DEVICE_INTERNAL_H
#define M2_BACKENDS_DEVICE_INTERNAL_H

#include "ops.h"

struct m2_device {
    const struct plugin *plugin;
    void *handle;
    enum m2_dtype real;
    char label[64];
    m2_slot_fn slots[M2_BACKEND_N_SLOTS];
    size_t buffer_bytes;
    size_t scratch_needed;                  /* by the calls prepared so far */
    size_t scratch_reserved;                /* what the backend holds */
    const struct device_observer *observer; /* NULL: nobody */
    struct m2_device *next;                 /* list of open devices */
};

/* Calls a slot (which must be there).  An error without a message gets one;
 * a positive result, which no plugin may return, becomes M2_E_INTERNAL. */
int device_slot(const struct m2_device *device, unsigned slot, void *args,
                struct m2_error *err);

/* Writes the label of the device that owns a handle, for the message that a
 * buffer of it cannot be used on `device`. */
void device_describe(const struct m2_device *device, const void *handle,
                     char *out, size_t size);

/* "f32", "f64", ... or "an unknown type". */
const char *dtype_name(enum m2_dtype dtype);

/* Checks the device of a view that is there, and that its elements lie in its
 * buffer.  `what` is the op or transfer, `name` the view's name in it. */
int view_check_device(const struct m2_device *device, const char *what,
                      const char *name, const struct m2_view *view,
                      struct m2_error *err);
int view_check_bounds(const char *what, const char *name,
                      const struct m2_view *view, struct m2_error *err);

/* Whether two views share an element. */
bool view_overlap(const struct m2_view *a, const struct m2_view *b);

#endif
