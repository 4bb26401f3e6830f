/* Planted mistakes: cuBLAS. */
#include "mistakes.h"

enum { SIDE = 8, SIZE = SIDE * SIDE, WORKSPACE = 1 << 20 };

static cublasHandle_t new_blas(bool with_workspace)
{
    cublasHandle_t blas;

    EXPECT_EQUAL(cublasCreate(&blas), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQUAL(cublasSetStream(blas, first()), CUBLAS_STATUS_SUCCESS);
    if (with_workspace)
        EXPECT_EQUAL(cublasSetWorkspace(blas, new_device(WORKSPACE), WORKSPACE),
                     CUBLAS_STATUS_SUCCESS);
    return blas;
}

/* c = a a, with n columns of b and c, and c's leading dimension. */
struct product {
    cublasHandle_t blas;
    float *a, *c;
    int n, ld;
    float alpha, beta;
};

static struct product new_product(void)
{
    return {new_blas(true),
            filled(SIZE, 1),
            array_of<float>(SIZE),
            SIDE,
            SIDE,
            1,
            0};
}

static cublasStatus_t multiply(const struct product *p)
{
    return cublasSgemm(p->blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, p->n, SIDE,
                       &p->alpha, p->a, SIDE, p->a, SIDE, &p->beta, p->c,
                       p->ld);
}

static void short_leading_dimension(void)
{
    struct product p = new_product();

    p.ld = SIDE - 1;
    REFUSED(multiply(&p), CUBLAS_STATUS_INVALID_VALUE);
}

static void too_many_columns(void)
{
    struct product p = new_product();

    p.n = SIDE + 1;
    (void)multiply(&p);
}

static void host_result(void)
{
    struct product p = new_product();
    float c[SIZE];

    p.c = c;
    (void)multiply(&p);
}

static void no_workspace(void)
{
    struct product p = new_product();

    p.blas = new_blas(false);
    (void)multiply(&p);
}

/* A new stream takes the workspace away. */
static void stream_after_workspace(void)
{
    struct product p = new_product();

    (void)cublasSetStream(p.blas, first());
    (void)multiply(&p);
}

static void odd_workspace(void)
{
    REFUSED(cublasSetWorkspace(new_blas(false), new_device(WORKSPACE) + 16,
                               WORKSPACE - 16),
            CUBLAS_STATUS_INVALID_VALUE);
}

static void workspace_too_long(void)
{
    (void)cublasSetWorkspace(new_blas(false), new_device(WORKSPACE),
                             2 * WORKSPACE);
}

static void unwritten_sum(void)
{
    struct product p = new_product();

    p.beta = 1;
    (void)multiply(&p);
    RESULT(value_at(p.c, 0) == SIDE);
}

static void unwritten_factor(void)
{
    struct product p = new_product();

    p.a = array_of<float>(SIZE);
    (void)multiply(&p);
    RESULT(value_at(p.c, 0) == SIDE);
}

/* Host pointer mode: the factors alpha and beta are numbers of the host. */
static void device_alpha(void)
{
    struct product p = new_product();

    (void)cublasSgemm(p.blas, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE,
                      filled(1, 1), p.a, SIDE, p.a, SIDE, &p.beta, p.c, SIDE);
}

static void no_event(void)
{
    struct product p = new_product();
    float *to = filled(SIZE, 0);

    (void)multiply(&p);
    GOOD(M2_LAUNCH(copy_numbers, 1, SIZE, 0, second(), (const float *)p.c, to,
                   (int)SIZE));
    GOOD(cudaStreamSynchronize(second()));
    RESULT(all_are(to, SIZE, SIDE));
}

static void freed_factor(void)
{
    struct product p = new_product();

    GOOD(cudaFree(p.a));
    (void)multiply(&p);
}

static const struct mistake mistakes[] = {
    {"cublasSgemm: a leading dimension below the rows", short_leading_dimension,
     "alc", "refused", NULL},
    {"cublasSgemm: more columns than there is memory", too_many_columns, "alc",
     "cublasSgemm, operand B: 288 bytes", NULL},
    {"cublasSgemm: a result in host memory", host_result, "ac",
     "cublasSgemm, operand C: 256 bytes", NULL},
    {"cublasSgemm without an own workspace", no_workspace, "alc",
     "without cublasSetWorkspace", NULL},
    {"cublasSetStream after cublasSetWorkspace", stream_after_workspace, "ac",
     "without cublasSetWorkspace", NULL},
    {"cublasSetWorkspace at an odd address", odd_workspace, "ac", "refused",
     NULL},
    {"cublasSetWorkspace of more than there is", workspace_too_long, "ac",
     "cublasSetWorkspace: 2097152 bytes", NULL},
    {"cublasSgemm adds to memory that nobody has written", unwritten_sum, "alc",
     NULL, "cublasSgemm reads device memory that nobody has written"},
    {"cublasSgemm of memory that nobody has written", unwritten_factor, "alc",
     NULL, "cublasSgemm reads device memory that nobody has written"},
    {"cublasSgemm: alpha in device memory", device_alpha, "ac",
     "the host touches device memory", NULL},
    {"cublasSgemm and a kernel on another stream", no_event, "lc", NULL,
     "a race ("},
    {"cublasSgemm of freed memory", freed_factor, "ac", "already freed", NULL},
};
static const int added =
    emu_add_mistakes(mistakes, sizeof mistakes / sizeof mistakes[0]);
