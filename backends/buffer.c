/* Device memory: allocation, byte transfers, transfers of whole views. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device_internal.h"
#include "plugins/loader.h"

/* Elements that a conversion stages at a time. */
enum { STAGE_ELEMENTS = 1 << 14 };

static const struct m2_buffer_head *head_of(const struct m2_buffer *buffer)
{
    return (const struct m2_buffer_head *)buffer;
}

int buffer_alloc(struct m2_device *device, size_t bytes, struct m2_buffer **out,
                 struct m2_error *err)
{
    struct m2_alloc args = {.bytes = bytes};
    int rc;

    if (bytes == 0)
        return m2_fail(err, M2_E_ARGUMENT,
                       "alloc: 0 bytes, expected at least 1");
    rc = device_slot(device, M2_SLOT_ALLOC, &args, err);
    if (rc != M2_OK)
        return rc;
    if (args.buffer_out == NULL ||
        head_of(args.buffer_out)->handle != device->handle ||
        head_of(args.buffer_out)->bytes != bytes)
        return m2_fail(err, M2_E_INTERNAL,
                       "backend %s returned a buffer with a wrong head",
                       device->plugin->descriptor->name);
    device->buffer_bytes += bytes;
    *out = args.buffer_out;
    return M2_OK;
}

void buffer_free(struct m2_device *device, struct m2_buffer *buffer)
{
    struct m2_free args = {buffer};

    if (buffer == NULL)
        return;
    if (device->observer != NULL)
        device->observer->freed(device->observer->context, buffer);
    device->buffer_bytes -= head_of(buffer)->bytes;
    device_slot(device, M2_SLOT_FREE, &args, NULL);
}

static int check_transfer(const struct m2_device *device, const char *what,
                          const struct m2_transfer *args, struct m2_error *err)
{
    struct m2_view view = {.buffer = args->buffer};
    size_t bytes;
    int rc;

    if (args->buffer == NULL)
        return m2_fail(err, M2_E_ARGUMENT, "%s: the buffer is missing", what);
    rc = view_check_device(device, what, "the buffer", &view, err);
    if (rc != M2_OK)
        return rc;
    bytes = head_of(args->buffer)->bytes;
    if (args->offset > bytes || args->bytes > bytes - args->offset)
        return m2_fail(err, M2_E_ARGUMENT,
                       "%s: %zu bytes at byte %zu, but the buffer has %zu "
                       "bytes",
                       what, args->bytes, args->offset, bytes);
    return M2_OK;
}

static int transfer(struct m2_device *device, unsigned slot,
                    struct m2_transfer *args, struct m2_error *err)
{
    const char *what = slot == M2_SLOT_UPLOAD ? "upload" : "download";
    int rc = check_transfer(device, what, args, err);

    if (rc != M2_OK || args->bytes == 0)
        return rc;
    return device_slot(device, slot, args, err);
}

int buffer_upload(struct m2_device *device, struct m2_buffer *buffer,
                  size_t offset, const void *host, size_t bytes,
                  struct m2_error *err)
{
    struct m2_transfer args = {buffer, offset, bytes, NULL};

    /* UPLOAD only reads the host's memory; the member serves both ways. */
    memcpy(&args.host, &host, sizeof host);
    return transfer(device, M2_SLOT_UPLOAD, &args, err);
}

int buffer_download(struct m2_device *device, struct m2_buffer *buffer,
                    size_t offset, void *host, size_t bytes,
                    struct m2_error *err)
{
    struct m2_transfer args = {buffer, offset, bytes, host};

    return transfer(device, M2_SLOT_DOWNLOAD, &args, err);
}

/* One piece of a view on its way: n elements at `element` of the buffer. */
struct piece {
    int64_t element;
    size_t n;
    size_t packed; /* index of the first in the host's packed array */
};

/* Moves one piece; state is what view_each was given. */
typedef int (*piece_fn)(struct m2_device *device, const struct m2_view *view,
                        const struct piece *piece, void *state,
                        struct m2_error *err);

/* Cuts a view into pieces of at most STAGE_ELEMENTS, none of which holds an
 * element between cols and ld. */
static int view_each(struct m2_device *device, const struct m2_view *view,
                     piece_fn move, void *state, struct m2_error *err)
{
    bool packed = view->ld == view->cols;
    int64_t rows = packed ? 1 : view->rows;
    int64_t cols = packed ? view->rows * view->cols : view->cols;
    int rc = M2_OK;

    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols && rc == M2_OK; j += STAGE_ELEMENTS) {
            struct piece piece = {
                .element = view->offset + i * view->ld + j,
                .n = (size_t)(cols - j < STAGE_ELEMENTS ? cols - j
                                                        : STAGE_ELEMENTS),
                .packed = (size_t)(i * cols + j),
            };

            rc = move(device, view, &piece, state, err);
        }
    }
    return rc;
}

static int move_up(struct m2_device *device, const struct m2_view *view,
                   const struct piece *piece, void *state, struct m2_error *err)
{
    const double *from = (const double *)state + piece->packed;
    size_t size = m2_dtype_size(view->dtype);
    float stage[STAGE_ELEMENTS];
    const void *bytes = from;

    if (view->dtype == M2_F32) {
        for (size_t i = 0; i < piece->n; i++)
            stage[i] = (float)from[i];
        bytes = stage;
    }
    return buffer_upload(device, view->buffer, (size_t)piece->element * size,
                         bytes, piece->n * size, err);
}

static int move_down(struct m2_device *device, const struct m2_view *view,
                     const struct piece *piece, void *state,
                     struct m2_error *err)
{
    double *to = (double *)state + piece->packed;
    size_t size = m2_dtype_size(view->dtype);
    size_t offset = (size_t)piece->element * size;
    float stage[STAGE_ELEMENTS];
    int rc;

    if (view->dtype != M2_F32)
        return buffer_download(device, view->buffer, offset, to,
                               piece->n * size, err);
    rc = buffer_download(device, view->buffer, offset, stage, piece->n * size,
                         err);
    for (size_t i = 0; rc == M2_OK && i < piece->n; i++)
        to[i] = (double)stage[i];
    return rc;
}

static int move_up_i32(struct m2_device *device, const struct m2_view *view,
                       const struct piece *piece, void *state,
                       struct m2_error *err)
{
    const int32_t *from = (const int32_t *)state + piece->packed;

    return buffer_upload(device, view->buffer,
                         (size_t)piece->element * sizeof *from, from,
                         piece->n * sizeof *from, err);
}

static int move_up_bytes(struct m2_device *device, const struct m2_view *view,
                         const struct piece *piece, void *state,
                         struct m2_error *err)
{
    size_t size = m2_dtype_size(view->dtype);

    return buffer_upload(device, view->buffer, (size_t)piece->element * size,
                         (const char *)state + piece->packed * size,
                         piece->n * size, err);
}

static int move_down_bytes(struct m2_device *device, const struct m2_view *view,
                           const struct piece *piece, void *state,
                           struct m2_error *err)
{
    size_t size = m2_dtype_size(view->dtype);

    return buffer_download(device, view->buffer, (size_t)piece->element * size,
                           (char *)state + piece->packed * size,
                           piece->n * size, err);
}

static int check_there(const struct m2_device *device, const char *what,
                       const struct m2_view *view, struct m2_error *err)
{
    if (view->buffer == NULL)
        return m2_fail(err, M2_E_ARGUMENT, "%s: the view is missing", what);
    return view_check_device(device, what, "the view", view, err);
}

/* Checks a view that will be transferred as doubles or as int32_t. */
static int check_view(const struct m2_device *device, const char *what,
                      const struct m2_view *view, bool integers,
                      struct m2_error *err)
{
    bool known = integers ? view->dtype == M2_I32
                          : view->dtype == M2_F32 || view->dtype == M2_F64;
    int rc = check_there(device, what, view, err);

    if (rc != M2_OK)
        return rc;
    if (!known)
        return m2_fail(err, M2_E_ARGUMENT, "%s: the view is %s, expected %s",
                       what, dtype_name(view->dtype),
                       integers ? "i32" : "f32 or f64");
    return view_check_bounds(what, "the view", view, err);
}

int view_upload(struct m2_device *device, const struct m2_view *view,
                const double *host, struct m2_error *err)
{
    int rc = check_view(device, "upload", view, false, err);
    void *state;

    if (rc != M2_OK)
        return rc;
    memcpy(&state, &host, sizeof state); /* move_up only reads it */
    return view_each(device, view, move_up, state, err);
}

int view_download(struct m2_device *device, const struct m2_view *view,
                  double *host, struct m2_error *err)
{
    int rc = check_view(device, "download", view, false, err);

    return rc == M2_OK ? view_each(device, view, move_down, host, err) : rc;
}

int view_upload_i32(struct m2_device *device, const struct m2_view *view,
                    const int32_t *host, struct m2_error *err)
{
    int rc = check_view(device, "upload", view, true, err);
    void *state;

    if (rc != M2_OK)
        return rc;
    memcpy(&state, &host, sizeof state); /* move_up_i32 only reads it */
    return view_each(device, view, move_up_i32, state, err);
}

int view_upload_bytes(struct m2_device *device, const struct m2_view *view,
                      const void *host, struct m2_error *err)
{
    int rc = check_there(device, "upload", view, err);
    void *state;

    if (rc == M2_OK)
        rc = view_check_bounds("upload", "the view", view, err);
    if (rc != M2_OK)
        return rc;
    memcpy(&state, &host, sizeof state); /* move_up_bytes only reads it */
    return view_each(device, view, move_up_bytes, state, err);
}

int view_download_bytes(struct m2_device *device, const struct m2_view *view,
                        void *host, struct m2_error *err)
{
    int rc = check_there(device, "download", view, err);

    if (rc == M2_OK)
        rc = view_check_bounds("download", "the view", view, err);
    return rc == M2_OK ? view_each(device, view, move_down_bytes, host, err)
                       : rc;
}
