/* Counts of floating-point operations, a multiply-add being two (Mamba-2
 * specification, section 8). */
#include "ops.h"

static double area(const struct m2_view *view)
{
    return (double)view->rows * (double)view->cols;
}

static double linear_flops(const struct m2_linear *a)
{
    return 2 * area(&a->x) * (double)a->w.rows;
}

static double linear_backward_flops(const struct m2_linear_backward *a)
{
    double flops = 0;

    if (a->dx.buffer != NULL)
        flops += 2 * area(&a->dy) * (double)a->dx.cols;
    if (a->dw.buffer != NULL)
        flops += 2 * area(&a->dy) * (double)a->dw.cols;
    return flops;
}

/* Sum of the squared chunk lengths of one sequence. */
static double chunk_squares(int64_t L, int64_t Q)
{
    double last = (double)(L % Q), full = (double)(L / Q);

    return full * (double)Q * (double)Q + last * last;
}

/* The chunked form: what a backend that uses matrix products executes. */
static double ssd_flops(const struct m2_ssd *a)
{
    double N = (double)a->N, P = (double)a->P, H = (double)a->H;
    double pairs = 2 * N * (double)a->G + 2 * P * H;

    return (double)a->B *
           (chunk_squares(a->L, a->Q) * pairs + 4 * (double)a->L * N * P * H);
}

static double ssd_backward_flops(const struct m2_ssd_backward *a)
{
    double N = (double)a->N, P = (double)a->P, H = (double)a->H;
    double pairs = 6 * N * (double)a->G + 4 * P * H;

    return (double)a->B *
           (chunk_squares(a->L, a->Q) * pairs + 10 * (double)a->L * N * P * H);
}

double op_flops(enum m2_op op, const void *args)
{
    const struct m2_conv1d_silu *conv = args;
    const struct m2_conv1d_silu_backward *conv_backward = args;
    const struct m2_conv1d_step *conv_step = args;
    const struct m2_ssd_step *ssd_step = args;

    switch (op) {
    case M2_OP_linear:
        return linear_flops(args);
    case M2_OP_linear_backward:
        return linear_backward_flops(args);
    case M2_OP_conv1d_silu:
        return 2 * area(&conv->x) * (double)conv->K;
    case M2_OP_conv1d_silu_backward:
        return 4 * area(&conv_backward->x) * (double)conv_backward->K;
    case M2_OP_ssd:
        return ssd_flops(args);
    case M2_OP_ssd_backward:
        return ssd_backward_flops(args);
    case M2_OP_conv1d_step:
        return 2 * area(&conv_step->x) * (double)conv_step->K;
    case M2_OP_ssd_step:
        return 5 * area(&ssd_step->x) * (double)ssd_step->N;
    default:
        return 0;
    }
}
