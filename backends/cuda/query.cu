/* What is asked before the first call: can it run, how much scratch. */
#include "backends/cuda/members.cuh"

/* cuBLAS and the launch grids count in 32 bits. */
static int check_view(const char *op, const struct m2_view &view,
                      struct m2_error *err)
{
    if (view.rows <= INT32_MAX && view.cols <= INT32_MAX &&
        view.ld <= INT32_MAX)
        return M2_OK;
    return m2_fail(err, M2_E_UNSUPPORTED,
                   M2_CUDA_NAME ": op %s: a matrix of %lld x %lld (leading "
                                "dimension %lld): no dimension may exceed %d",
                   op, (long long)view.rows, (long long)view.cols,
                   (long long)view.ld, INT32_MAX);
}

template <class T>
static int check_view(const char *, const T &, struct m2_error *)
{
    return M2_OK;
}

template <class A>
static int check_views(const char *op, const A *a, struct m2_error *err)
{
    int code = M2_OK;

    each_member(*a, [&](const auto &member) {
        if (code == M2_OK)
            code = check_view(op, member, err);
    });
    return code;
}

int cuda_supports(void *handle, void *args, struct m2_error *err)
{
    const struct m2_query *query = (const struct m2_query *)args;

    (void)handle;
    switch (query->op) {
#define CHECK(name, type)                                                      \
    case M2_OP_##name:                                                         \
        return check_views(#name, (const struct type *)query->args, err);
        M2_OPS(CHECK)
#undef CHECK
    default:
        return m2_fail(err, M2_E_UNSUPPORTED, M2_CUDA_NAME ": no op %d",
                       query->op);
    }
}

int cuda_workspace(void *handle, void *args, struct m2_error *err)
{
    struct m2_query *query = (struct m2_query *)args;

    (void)err;
    query->bytes_out =
        op_scratch((const struct handle *)handle, query->op, query->args);
    return M2_OK;
}
