/* Golden vectors: cases read from files, each run by a function of its kind.
 *
 * A directory holds manifest.json, {"cases": [{name, kind, file, scalars,
 * config?, generate?, tol_f64, tol_f32, sha256}]}, and one file of tensors per
 * case: `in.NAME` are inputs, `out.NAME` expected outputs.  A case passes when
 * for every output max|got - want| <= tol max(max|want|, 1e-30); a null
 * tolerance means that the case is not run for that type.
 *
 * Cases of single ops are built in.  A room that knows more (a model, a
 * training loop) brings its kinds in the options of conformance_run:
 *
 *     static int run_lr(struct golden_case *c, struct m2_error *err)
 *     {
 *         double peak;
 *         if (golden_number(c, "peak", &peak, err))
 *             return err->code;
 *         ...
 *         golden_check(c, "lr", values, n);
 *         return M2_OK;
 *     }
 *     static const struct golden_kind kinds[] = {{"lr_schedule", run_lr,
 * NULL}};
 *
 * Every expected output of the file must have been checked when the function
 * returns; one that was forgotten fails the case. */
#ifndef M2_BACKENDS_CONFORMANCE_GOLDEN_H
#define M2_BACKENDS_CONFORMANCE_GOLDEN_H

#include <jansson.h>
#include <stdbool.h>

#include "backends/conformance/compare.h"
#include "backends/ops.h"

struct golden_tensor {
    char *name; /* with its prefix "in." or "out." */
    int64_t shape[8];
    int n_dims;
    int64_t n;               /* elements */
    double *values;          /* integers, too: exact below 2^53 */
    struct difference worst; /* outputs: of the last golden_check */
    bool checked;
};

struct golden_file {
    struct golden_tensor *tensors;
    size_t n;
};

/* Reads a file of tensors whose bytes have the given SHA-256 (64 hex digits;
 * NULL: not checked).  golden_file_free releases what it allocates. */
typedef int (*golden_read_fn)(const char *path, const char *sha256,
                              struct golden_file *out, struct m2_error *err);
void golden_file_free(struct golden_file *file);

struct golden_case {
    const char *name, *kind;
    const json_t *entry; /* the case's object in the manifest */
    struct m2_device *device;
    struct golden_file file;
};

/* The kind's function.  M2_E_UNSUPPORTED: the backend refuses an op of it;
 * other codes fail the case with err's text. */
typedef int (*golden_fn)(struct golden_case *c, struct m2_error *err);

struct golden_kind {
    const char *name;
    golden_fn run;
    const char *op; /* the op that it tests, for --op; NULL: none alone */
};

/* Tensor by full name ("in.x"); NULL when the file has none. */
const struct golden_tensor *golden_find(const struct golden_case *c,
                                        const char *name);
/* The same, but its absence is an error. */
int golden_need(const struct golden_case *c, const char *name,
                const struct golden_tensor **out, struct m2_error *err);

/* A number of the case's scalars; null is +infinity. */
int golden_number(const struct golden_case *c, const char *name, double *out,
                  struct m2_error *err);
double golden_number_or(const struct golden_case *c, const char *name,
                        double otherwise);

/* Compares an output, given without "out."; one that is not in the file is
 * ignored, a wrong number of elements counts as an infinite error. */
void golden_check(struct golden_case *c, const char *name, const double *values,
                  int64_t n);

/* The kinds of single ops. */
const struct golden_kind *golden_op_kinds(size_t *n);

#endif
