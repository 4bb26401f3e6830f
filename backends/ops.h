/* Checked fronts: the only way the runner calls a backend.
 *
 * Past these functions a device, dtype or shape mistake cannot happen: every
 * call is checked against the op's contract (one table in ops.c) before the
 * backend sees it, and refused with a message that names the op, the argument
 * and both sides, as
 *
 *   linear: x is on cpu, but the op runs on cuda:0
 *   linear: w is f64, expected f32 (the device's real type)
 *   linear: w has 3 columns, expected I = 4 (from x)
 *
 * A call that will be made many times is checked once: op_prepare checks,
 * asks SUPPORTS and collects the workspace; op_run then only jumps. */
#ifndef M2_BACKENDS_OPS_H
#define M2_BACKENDS_OPS_H

#include <stdbool.h>

#include "m2_backend.h"

struct plugin; /* plugins/loader.h: a loaded backend plugin */

/* An open device: opaque. */
struct m2_device;

/* Opens device `index` of a loaded backend for one real type.  The device
 * must be closed with device_close after its buffers are freed. */
int device_open(const struct plugin *plugin, int index, enum m2_dtype real,
                int threads, struct m2_device **out, struct m2_error *err);
/* The same with everything that OPEN takes; handle_out is not used. */
int device_open_with(const struct plugin *plugin, const struct m2_open *wanted,
                     struct m2_device **out, struct m2_error *err);
void device_close(struct m2_device *device); /* NULL is allowed */

/* Number of devices of a backend (may be 0, with the reason in err and code
 * M2_E_DEVICE), and the facts of one. */
int device_count(const struct plugin *plugin, int *count, struct m2_error *err);
int device_facts(const struct plugin *plugin, int index,
                 struct m2_device_facts *facts, struct m2_error *err);

const char *device_label(const struct m2_device *device); /* "cpu", "cuda:1" */
enum m2_dtype device_real(const struct m2_device *device);
const struct plugin *device_plugin(const struct m2_device *device);

/* Memory.  Contents are undefined.  Bytes in use are counted exactly. */
int buffer_alloc(struct m2_device *device, size_t bytes, struct m2_buffer **out,
                 struct m2_error *err);
void buffer_free(struct m2_device *device, struct m2_buffer *buffer);
int buffer_upload(struct m2_device *device, struct m2_buffer *buffer,
                  size_t offset, const void *host, size_t bytes,
                  struct m2_error *err);
int buffer_download(struct m2_device *device, struct m2_buffer *buffer,
                    size_t offset, void *host, size_t bytes,
                    struct m2_error *err);
int device_sync(struct m2_device *device, struct m2_error *err);
size_t device_bytes(const struct m2_device *device); /* buffers + scratch */

/* Whole-view transfers with conversion: doubles on the host, real or f64 on
 * the device (rows*cols doubles, packed).  i32 views use the int32 pair. */
int view_upload(struct m2_device *device, const struct m2_view *view,
                const double *host, struct m2_error *err);
int view_download(struct m2_device *device, const struct m2_view *view,
                  double *host, struct m2_error *err);
int view_upload_i32(struct m2_device *device, const struct m2_view *view,
                    const int32_t *host, struct m2_error *err);

/* The same without conversion, for any type: the elements' bytes, packed. */
int view_upload_bytes(struct m2_device *device, const struct m2_view *view,
                      const void *host, struct m2_error *err);
int view_download_bytes(struct m2_device *device, const struct m2_view *view,
                        void *host, struct m2_error *err);

/* Views. */
static inline struct m2_view view_matrix(struct m2_buffer *buffer,
                                         int64_t offset, int64_t rows,
                                         int64_t cols, int64_t ld,
                                         enum m2_dtype dtype)
{
    return (struct m2_view){buffer, offset, rows, cols, ld, dtype};
}
/* Columns [first, first + count) of a view. */
static inline struct m2_view view_columns(struct m2_view view, int64_t first,
                                          int64_t count)
{
    view.offset += first;
    view.cols = count;
    return view;
}

/* Training-step marks; no-ops when the backend has none. */
bool device_has_steps(const struct m2_device *device);
int device_step_begin(struct m2_device *device, struct m2_error *err);
int device_step_end(struct m2_device *device, struct m2_error *err);

/* Name and argument size of an op; op_by_name returns -1 when unknown. */
const char *op_name(enum m2_op op);
size_t op_args_size(enum m2_op op);
int op_by_name(const char *name);

/* The arguments of an op as its contract sees them, for tests, benches and
 * comparisons: view i of `args`, its name and role. */
enum op_role { OP_INPUT, OP_OUTPUT, OP_IN_OUT, OP_ACCUMULATED };
struct op_argument {
    const char *name;
    size_t offset; /* of the struct m2_view in the argument struct */
    enum op_role role;
    bool optional;
    char kind; /* 'r' real, 'd' f64, 'i' i32, 'f' real or f64, '*' real, f64
                  or i32 (all arguments of kind '*' have one type) */
    const char *shape;  /* "rows,columns", see ops_contract.h */
    const char *may_be; /* inputs that an output may be, by name; or NULL */
    const char *needs;  /* an argument that must be there with it, or NULL */
};
size_t op_arguments(enum m2_op op, const struct op_argument **out);

/* Checks a call without running it: contract, device, dtype, shapes, bounds,
 * overlap of outputs with inputs.  M2_OK or M2_E_ARGUMENT. */
int op_check(struct m2_device *device, enum m2_op op, const void *args,
             struct m2_error *err);

/* Check, then SUPPORTS with these shapes, then remember the WORKSPACE.  After
 * the last op_prepare of a model, device_reserve allocates the scratch. */
int op_prepare(struct m2_device *device, enum m2_op op, const void *args,
               struct m2_error *err);
int device_reserve(struct m2_device *device, struct m2_error *err);

/* What a call would need, without making it: SUPPORTS, then the scratch bytes.
 * args are complete but for the buffers: one that is not NULL only says that
 * the argument is there, so that memory can be planned before it exists. */
int op_workspace(struct m2_device *device, enum m2_op op, const void *args,
                 size_t *bytes, struct m2_error *err);

/* Runs a prepared call. */
int op_run(struct m2_device *device, enum m2_op op, void *args,
           struct m2_error *err);

/* Check, prepare, reserve and run in one: for tests and rare calls. */
int op_call(struct m2_device *device, enum m2_op op, void *args,
            struct m2_error *err);

/* Who looks on while a device computes.  before and after are called around
 * every op that the device runs, whoever asked for it; a failure of theirs is
 * that of op_run.  freed is called when a buffer is about to go. */
struct device_observer {
    int (*before)(void *context, enum m2_op op, const void *args,
                  struct m2_error *err);
    int (*after)(void *context, enum m2_op op, const void *args,
                 struct m2_error *err);
    void (*freed)(void *context, const struct m2_buffer *buffer);
    void *context;
};

/* The observer is borrowed; NULL ends it.  The backend of an observed device
 * is told of no training steps: they would keep ops back. */
void device_observe(struct m2_device *device,
                    const struct device_observer *observer);

/* Floating-point operations of a call (multiply-add = 2), by the formulas of
 * the specification's section 8; 0 for ops that are not counted. */
double op_flops(enum m2_op op, const void *args);

#endif
