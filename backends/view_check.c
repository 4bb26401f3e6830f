/* Checks of one view, and whether two views share memory. */
#include "device_internal.h"

#include <inttypes.h>

int view_check_device(const struct m2_device *device, const char *what,
                      const char *name, const struct m2_view *view,
                      struct m2_error *err)
{
    const struct m2_buffer_head *head = (const void *)view->buffer;
    char other[96];

    if (head->handle == device->handle)
        return M2_OK;
    device_describe(device, head->handle, other, sizeof other);
    return m2_fail(err, M2_E_ARGUMENT, "%s: %s is on %s, but the op runs on %s",
                   what, name, other, device->label);
}

/* Bytes from the start of the buffer to the end of the view. */
static bool end_in_bytes(const struct m2_view *view, int64_t *out)
{
    int64_t size = (int64_t)m2_dtype_size(view->dtype);
    int64_t end;

    return !__builtin_mul_overflow(view->rows - 1, view->ld, &end) &&
           !__builtin_add_overflow(end, view->cols, &end) &&
           !__builtin_add_overflow(end, view->offset, &end) &&
           !__builtin_mul_overflow(end, size, out);
}

int view_check_bounds(const char *what, const char *name,
                      const struct m2_view *view, struct m2_error *err)
{
    const struct m2_buffer_head *head = (const void *)view->buffer;
    int64_t end;

    if (view->rows < 1)
        return m2_fail(err, M2_E_ARGUMENT,
                       "%s: %s has %" PRId64 " rows, expected at least 1", what,
                       name, view->rows);
    if (view->cols < 1)
        return m2_fail(err, M2_E_ARGUMENT,
                       "%s: %s has %" PRId64 " columns, expected at least 1",
                       what, name, view->cols);
    if (view->ld < view->cols)
        return m2_fail(err, M2_E_ARGUMENT,
                       "%s: %s has ld %" PRId64 ", expected at least its "
                       "%" PRId64 " column%s",
                       what, name, view->ld, view->cols,
                       view->cols == 1 ? "" : "s");
    if (view->offset < 0)
        return m2_fail(err, M2_E_ARGUMENT,
                       "%s: %s has offset %" PRId64 ", expected at least 0",
                       what, name, view->offset);
    if (!end_in_bytes(view, &end))
        return m2_fail(err, M2_E_ARGUMENT, "%s: %s is larger than any buffer",
                       what, name);
    if ((uint64_t)end > head->bytes)
        return m2_fail(err, M2_E_ARGUMENT,
                       "%s: %s ends at byte %" PRId64 ", but its buffer has "
                       "%zu bytes",
                       what, name, end, head->bytes);
    return M2_OK;
}

/* A view in bytes: rows of `width` bytes, `stride` apart. */
struct footprint {
    int64_t start, stride, width, rows;
};

static struct footprint footprint_of(const struct m2_view *view)
{
    int64_t size = (int64_t)m2_dtype_size(view->dtype);
    struct footprint print = {.start = view->offset * size,
                              .width = view->cols * size,
                              .rows = view->rows};

    /* The ld of a single row may be anything, beyond the buffer as well. */
    if (view->rows > 1 && view->ld > view->cols) {
        print.stride = view->ld * size;
        return print;
    }
    print.width *= print.rows;
    print.stride = print.width;
    print.rows = 1;
    return print;
}

/* Whether [from, to) meets a row of the footprint. */
static bool meets(int64_t from, int64_t to, const struct footprint *print)
{
    int64_t first; /* the first row that ends after from */

    if (from < print->start + print->width)
        first = 0;
    else
        first = (from - print->start - print->width) / print->stride + 1;
    return first < print->rows && print->start + first * print->stride < to;
}

bool view_overlap(const struct m2_view *a, const struct m2_view *b)
{
    struct footprint few = footprint_of(a), many = footprint_of(b);

    if (a->buffer != b->buffer)
        return false;
    if (few.rows > many.rows) {
        struct footprint other = few;

        few = many;
        many = other;
    }
    for (int64_t i = 0; i < few.rows; i++) {
        int64_t from = few.start + i * few.stride;

        if (meets(from, from + few.width, &many))
            return true;
    }
    return false;
}
