/* The ops by number. */
#include "backends/cuda/members.cuh"

const char *op_name(int op)
{
#define NAME(name, type) #name,
    static const char *const names[] = {M2_OPS(NAME)};
#undef NAME

    return names[op];
}

size_t op_args_size(int op)
{
#define SIZE(name, type) sizeof(struct type),
    static const size_t sizes[] = {M2_OPS(SIZE)};
#undef SIZE

    return sizes[op];
}

size_t op_scratch(const struct handle *h, int op, const void *args)
{
    switch (op) {
#define SCRATCH(name, type)                                                    \
    case M2_OP_##name:                                                         \
        return scratch_##name(h, (const struct type *)args);
        M2_OPS(SCRATCH)
#undef SCRATCH
    default:
        return 0;
    }
}

/* The front's promise that RESERVE came first is checked here, once for all
 * ops: scratch that is too small would be written past its end. */
static int check_scratch(const struct handle *h, int op, const void *args,
                         struct m2_error *err)
{
    size_t bytes = op_scratch(h, op, args);

    if (bytes <= h->scratch_bytes)
        return M2_OK;
    return m2_fail(err, M2_E_INTERNAL,
                   M2_CUDA_NAME ": op %s needs %zu bytes of scratch, %zu are "
                                "reserved",
                   op_name(op), bytes, h->scratch_bytes);
}

int op_run(struct handle *h, int op, const void *args, struct m2_error *err)
{
    int code = check_scratch(h, op, args, err);

    if (code != M2_OK)
        return code;
    switch (op) {
#define RUN(name, type)                                                        \
    case M2_OP_##name: {                                                       \
        const struct type *a = (const struct type *)args;                      \
                                                                               \
        return h->real == M2_F32 ? op_##name<float>(h, a, err)                 \
                                 : op_##name<double>(h, a, err);               \
    }
        M2_OPS(RUN)
#undef RUN
    default:
        return m2_fail(err, M2_E_INTERNAL, M2_CUDA_NAME ": no op %d", op);
    }
}
