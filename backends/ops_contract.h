/* The contract of every op, as one table: arguments, shapes, scalars.
 *
 * A shape is "rows,columns".  Each side is a product of dimensions and
 * numbers ("B*L", "2*O"), or a choice by an integer member of the argument
 * struct: "last_only?B:B*L" is B when last_only is not 0.
 *
 * Dimensions get their values in this order: the integer members of the
 * argument struct by their own names; nc = ceil(L / Q) where both are
 * members; then, argument by argument, a side that is one name without a
 * value yet takes the value found there.  Every later occurrence must agree.
 *
 * A rule is "A % B" (A is a multiple of B) or "A <= B"; A and B are
 * dimensions or members. */
#ifndef M2_BACKENDS_OPS_CONTRACT_H
#define M2_BACKENDS_OPS_CONTRACT_H

#include "ops.h"

enum member_type { MEMBER_INT64, MEMBER_INT, MEMBER_DOUBLE };

/* A scalar of the argument struct; low <= value <= high, never NaN. */
struct op_member {
    const char *name;
    size_t offset;
    enum member_type type;
    double low, high;
    const char *expected; /* the range in words */
};

enum { OP_MAX_RULES = 2 };

struct op_contract {
    const char *name;
    size_t args_size;
    const struct op_argument *arguments;
    size_t n_arguments;
    const struct op_member *members;
    size_t n_members;
    const char *rules[OP_MAX_RULES]; /* NULL: none */
    /* What a range cannot say; NULL: nothing. */
    int (*extra)(const void *args, struct m2_error *err);
};

const struct op_contract *op_contract(enum m2_op op);

/* The value of a member of a call. */
double op_member_value(const struct op_member *member, const void *args);

static inline const struct m2_view *
op_argument_view(const struct op_argument *argument, const void *args)
{
    return (const struct m2_view *)((const char *)args + argument->offset);
}

#endif
