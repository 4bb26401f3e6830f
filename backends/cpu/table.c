/* table.c: the ops of one variant. */
#include "backends/cpu/gemm.h"

extern const struct variant NAME(variant);

#if M2_ISA == 2
#define ISA_NAME "avx512"
#elif M2_ISA == 1
#define ISA_NAME "avx2"
#else
#define ISA_NAME "base"
#endif

#define ENTRY(name) [M2_OP_##name] = {OP(name), NULL}
#define ENTRY_WITH(name, scratch)                                              \
    [M2_OP_##name] = {OP(name), WORKSPACE(scratch)}

const struct variant NAME(variant) = {
    .isa = ISA_NAME,
    .openblas = M2_ISA == 0,
    .self_test = gemm_self_test,
    .ops = {ENTRY(add),
            ENTRY(scale),
            ENTRY(fill),
            ENTRY(copy),
            ENTRY_WITH(mean_time, mean_time),
            ENTRY(mean_time_backward),
            ENTRY(gather_windows),
            ENTRY_WITH(linear, linear),
            ENTRY_WITH(linear_backward, linear_backward),
            ENTRY(embed),
            ENTRY(embed_backward),
            ENTRY(rmsnorm),
            ENTRY_WITH(rmsnorm_backward, rmsnorm_backward),
            ENTRY(layernorm),
            ENTRY_WITH(layernorm_backward, layernorm_backward),
            ENTRY(silu),
            ENTRY(silu_backward),
            ENTRY_WITH(conv1d_silu, conv1d_silu),
            ENTRY_WITH(conv1d_silu_backward, conv1d_silu_backward),
            ENTRY(dt),
            ENTRY_WITH(dt_backward, dt_backward),
            ENTRY_WITH(ssd, ssd),
            ENTRY_WITH(ssd_backward, ssd_backward),
            ENTRY_WITH(mse, loss),
            ENTRY_WITH(mae, loss),
            ENTRY_WITH(huber, loss),
            ENTRY_WITH(xent, xent),
            ENTRY_WITH(sumsq, sumsq),
            ENTRY(clip),
            ENTRY(adamw),
            ENTRY(spectral),
            ENTRY(conv1d_step),
            ENTRY(ssd_step)},
};
