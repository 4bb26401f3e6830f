/* From the trial of a forward op to that of its backward. */
#include "backends/conformance/pairs.h"

#include <string.h>

int pair_backward(enum m2_op forward)
{
    switch (forward) {
    case M2_OP_mean_time:
        return M2_OP_mean_time_backward;
    case M2_OP_linear:
        return M2_OP_linear_backward;
    case M2_OP_embed:
        return M2_OP_embed_backward;
    case M2_OP_rmsnorm:
        return M2_OP_rmsnorm_backward;
    case M2_OP_layernorm:
        return M2_OP_layernorm_backward;
    case M2_OP_silu:
        return M2_OP_silu_backward;
    case M2_OP_conv1d_silu:
        return M2_OP_conv1d_silu_backward;
    case M2_OP_dt:
        return M2_OP_dt_backward;
    case M2_OP_ssd:
        return M2_OP_ssd_backward;
    default:
        return -1;
    }
}

static void derive_ssd_scalars(const struct m2_ssd *from,
                               struct m2_ssd_backward *to)
{
    to->B = from->B;
    to->L = from->L;
    to->H = from->H;
    to->P = from->P;
    to->G = from->G;
    to->N = from->N;
    to->Q = from->Q;
    to->last_only = from->last_only;
}

static void derive_scalars(const struct trial *forward, struct trial *backward)
{
    const union trial_args *from = &forward->args;
    union trial_args *to = &backward->args;
    switch (forward->op) {
    case M2_OP_mean_time:
        to->mean_time_backward.B = from->mean_time.B;
        to->mean_time_backward.L = from->mean_time.L;
        break;
    case M2_OP_rmsnorm:
        to->rmsnorm_backward.groups = from->rmsnorm.groups;

        break;
    case M2_OP_conv1d_silu:
        to->conv1d_silu_backward.B = from->conv1d_silu.B;
        to->conv1d_silu_backward.L = from->conv1d_silu.L;
        to->conv1d_silu_backward.K = from->conv1d_silu.K;
        break;
    case M2_OP_dt:
        to->dt_backward.low = from->dt.low;
        to->dt_backward.high = from->dt.high;
        break;
    case M2_OP_ssd:
        derive_ssd_scalars(&from->ssd, &to->ssd_backward);
        break;
    default: /* no scalars, or none in the backward op */
        break;
    }
}

static void copy_values(struct trial *to, const char *name,
                        const struct trial_view *from)
{
    const double *values = from->values ? from->values : from->result;
    double *copy = trial_values(to, name, from->rows, from->cols);
    if (copy == NULL || values == NULL)
        to->failed = true;
    else
        memcpy(copy, values, (size_t)(from->rows * from->cols) * sizeof *copy);
}

void pair_derive(const struct trial *forward, struct trial *backward)
{
    trial_init(backward, (enum m2_op)pair_backward(forward->op), forward->seed);
    derive_scalars(forward, backward);
    for (size_t i = 0; i < backward->n; i++) {
        const char *name = backward->arguments[i].name;
        enum op_role role = backward->arguments[i].role;
        const struct trial_view *same = trial_view(forward, name);
        const struct trial_view *of = trial_view(forward, name + 1);
        if (role == OP_INPUT && same != NULL)
            copy_values(backward, name, same);
        else if (of == NULL || name[0] != 'd')
            continue;
        else if (role == OP_OUTPUT)
            trial_output(backward, name, of->rows, of->cols);
        else /* arrives, or is added to */
            trial_random(backward, name, of->rows, of->cols,
                         span_of(-1.0, 1.0));
    }
}
