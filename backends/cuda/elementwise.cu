/* Elementwise ops and data movement: add, scale, fill, copy, silu. */
#include "backends/cuda/real.cuh"
#include "backends/cuda/walk.cuh"

template <class R> struct add_values {
    matrix<R> a, b, y;

    __device__ void run(int64_t i, int64_t j) const
    {
        y.at(i, j) = a.at(i, j) + b.at(i, j);
    }
};

template <class R>
int op_add(struct handle *h, const struct m2_add *a, struct m2_error *err)
{
    struct add_values<R> f = {
        matrix_of<R>(a->a), matrix_of<R>(a->b), matrix_of<R>(a->y)
    };

    return walk_run(h, f, walk_of(f.y, f.a, f.b), "op add", err);
}
OP_INSTANTIATE(add, m2_add)
OP_NO_SCRATCH(add, m2_add)

template <class R> struct scale_values {
    matrix<R> y;
    double factor;

    __device__ void run(int64_t i, int64_t j) const
    {
        y.at(i, j) *= (R)factor;
    }
};

template <class R>
int op_scale(struct handle *h, const struct m2_scale *a, struct m2_error *err)
{
    struct scale_values<R> f = {
        matrix_of<R>(a->y), a->factor
    };

    return walk_run(h, f, walk_of(f.y), "op scale", err);
}
OP_INSTANTIATE(scale, m2_scale)
OP_NO_SCRATCH(scale, m2_scale)

template <class T> struct fill_values {
    matrix<T> y;
    double value;

    __device__ void run(int64_t i, int64_t j) const
    {
        y.at(i, j) = (T)value;
    }
};

template <class T>
static int fill_as(struct handle *h, const struct m2_fill *a,
                   struct m2_error *err)
{
    struct fill_values<T> f = {
        matrix_of<T>(a->y), a->value
    };

    return walk_run(h, f, walk_of(f.y), "op fill", err);
}

template <class R>
int op_fill(struct handle *h, const struct m2_fill *a, struct m2_error *err)
{
    return a->y.dtype == M2_F64 ? fill_as<double>(h, a, err)
                                : fill_as<R>(h, a, err);
}
OP_INSTANTIATE(fill, m2_fill)
OP_NO_SCRATCH(fill, m2_fill)

template <class T> struct copy_values {
    matrix<T> x, y;

    __device__ void run(int64_t i, int64_t j) const
    {
        y.at(i, j) = x.at(i, j);
    }
};

template <class T>
static int copy_as(struct handle *h, const struct m2_copy *a,
                   struct m2_error *err)
{
    struct copy_values<T> f = {
        matrix_of<T>(a->x), matrix_of<T>(a->y)
    };

    return walk_run(h, f, walk_of(f.y, f.x), "op copy", err);
}

/* Bits are moved: only the size of an element matters. */
template <class R>
int op_copy(struct handle *h, const struct m2_copy *a, struct m2_error *err)
{
    return m2_dtype_size(a->y.dtype) == 4 ? copy_as<uint32_t>(h, a, err)
                                          : copy_as<uint64_t>(h, a, err);
}
OP_INSTANTIATE(copy, m2_copy)
OP_NO_SCRATCH(copy, m2_copy)

template <class R> struct silu_values {
    matrix<R> x, y;

    __device__ void run(int64_t i, int64_t j) const
    {
        y.at(i, j) = silu(x.at(i, j));
    }
};

template <class R>
int op_silu(struct handle *h, const struct m2_silu *a, struct m2_error *err)
{
    struct silu_values<R> f = {
        matrix_of<R>(a->x), matrix_of<R>(a->y)
    };

    return walk_run(h, f, walk_of(f.y, f.x), "op silu", err);
}
OP_INSTANTIATE(silu, m2_silu)
OP_NO_SCRATCH(silu, m2_silu)

template <class R> struct silu_gradients {
    matrix<R> dy, x, dx;
    int64_t accumulate;

    __device__ void run(int64_t i, int64_t j) const
    {
        R gradient = dy.at(i, j) * silu_slope(x.at(i, j));

        dx.at(i, j) = accumulate ? dx.at(i, j) + gradient : gradient;
    }
};

template <class R>
int op_silu_backward(struct handle *h, const struct m2_silu_backward *a,
                     struct m2_error *err)
{
    struct silu_gradients<R> f = {
        matrix_of<R>(a->dy), matrix_of<R>(a->x), matrix_of<R>(a->dx),
            a->accumulate
    };

    return walk_run(h, f, walk_of(f.dx, f.dy, f.x), "op silu_backward", err);
}
OP_INSTANTIATE(silu_backward, m2_silu_backward)
OP_NO_SCRATCH(silu_backward, m2_silu_backward)
