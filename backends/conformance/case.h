/* A grid case: one row of a table of shapes, made into a trial. */
#ifndef M2_BACKENDS_CONFORMANCE_CASE_H
#define M2_BACKENDS_CONFORMANCE_CASE_H

#include "backends/conformance/trial.h"

enum { CASE_PARAMETERS = 9 };

/* One row.  The trial that it makes has every optional argument, except those
 * named (blank-separated) in `without`; the backward op then lacks them and
 * their gradients, too, and those in backward_without. */
struct case_row {
    int64_t p[CASE_PARAMETERS];
    const char *without, *backward_without; /* NULL: nothing */
    const char *share[2]; /* output, input whose memory it uses; or NULL */
    bool rough; /* no finite differences: kinks, or numbers too large */
    bool forward_only;
};

/* All cases of one op.  build fills a trial that has been initialised for
 * that op from the parameters of one row. */
struct case_family {
    enum m2_op op;
    const char *parameters; /* names of p, blank-separated */
    void (*build)(struct trial *trial, const int64_t *p);
    const struct case_row *rows;
    size_t n_rows;
};

#define CASE_FAMILY(op, parameters, build, rows)                               \
    {                                                                          \
        op, parameters, build, rows, sizeof rows / sizeof *rows                \
    }

/* The tables, by topic. */
struct case_list {
    const struct case_family *families;
    size_t n;
};
struct case_list cases_layers(void);
struct case_list cases_scan(void);
struct case_list cases_data(void);
struct case_list cases_training(void);

/* "B=2 L=13 ..., without h0" into text. */
void case_label(const struct case_family *family, const struct case_row *row,
                char *text, size_t size);
/* The trial of a row, with `without` and `share` applied. */
void case_build(const struct case_family *family, const struct case_row *row,
                struct trial *out);
/* The trial of the backward op, from one of the forward op that has run. */
void case_build_backward(const struct case_row *row,
                         const struct trial *forward, struct trial *out);

#endif
