/* Checks a call against its op's contract, one kind of mistake at a time:
 * absent, device, type, bounds, scalars, shapes, overlap.  The first mistake
 * found is the message. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "device_internal.h"
#include "ops_contract.h"
#include "ops_shape.h"

/* One call under examination. */
struct call {
    const struct m2_device *device;
    const struct op_contract *contract;
    const void *args;
    struct dimensions dims;
};

static const struct m2_view *view_of(const struct call *call, size_t i)
{
    return op_argument_view(&call->contract->arguments[i], call->args);
}

static bool is_present(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->contract->n_arguments; i++) {
        if (strcmp(call->contract->arguments[i].name, name) == 0)
            return view_of(call, i)->buffer != NULL;
    }
    return false;
}

static int check_absent(const struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;

    for (size_t i = 0; i < contract->n_arguments; i++) {
        const struct op_argument *argument = &contract->arguments[i];

        if (view_of(call, i)->buffer == NULL) {
            if (argument->optional)
                continue;
            return m2_fail(err, M2_E_ARGUMENT, "%s: %s is missing",
                           contract->name, argument->name);
        }
        if (argument->needs != NULL && !is_present(call, argument->needs))
            return m2_fail(err, M2_E_ARGUMENT, "%s: %s is missing, %s needs it",
                           contract->name, argument->needs, argument->name);
    }
    return M2_OK;
}

static int check_device(const struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;

    for (size_t i = 0; i < contract->n_arguments; i++) {
        const struct m2_view *view = view_of(call, i);
        int rc;

        if (view->buffer == NULL)
            continue;
        rc = view_check_device(call->device, contract->name,
                               contract->arguments[i].name, view, err);
        if (rc != M2_OK)
            return rc;
    }
    return M2_OK;
}

/* Whether a type is among those of a kind, which are listed in words. */
static bool kind_allows(char kind, enum m2_dtype dtype, enum m2_dtype real,
                        char *words, size_t size)
{
    const char *name = dtype_name(real);

    switch (kind) {
    case 'd':
        snprintf(words, size, "f64");
        return dtype == M2_F64;
    case 'i':
        snprintf(words, size, "i32");
        return dtype == M2_I32;
    case 'f':
        snprintf(words, size, "%s (the device's real type) or f64", name);
        return dtype == real || dtype == M2_F64;
    case '*':
        snprintf(words, size, "%s (the device's real type), f64 or i32", name);
        return dtype == real || dtype == M2_F64 || dtype == M2_I32;
    default:
        snprintf(words, size, "%s (the device's real type)", name);
        return dtype == real;
    }
}

static int check_dtype(const struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;
    const struct op_argument *leader = NULL; /* first argument of kind '*' */
    enum m2_dtype common = M2_F32;

    for (size_t i = 0; i < contract->n_arguments; i++) {
        const struct op_argument *argument = &contract->arguments[i];
        enum m2_dtype dtype = view_of(call, i)->dtype;
        char words[80];

        if (view_of(call, i)->buffer == NULL)
            continue;
        if (!kind_allows(argument->kind, dtype, call->device->real, words,
                         sizeof words))
            return m2_fail(err, M2_E_ARGUMENT, "%s: %s is %s, expected %s",
                           contract->name, argument->name, dtype_name(dtype),
                           words);
        if (argument->kind != '*')
            continue;
        if (leader != NULL && dtype != common)
            return m2_fail(err, M2_E_ARGUMENT,
                           "%s: %s is %s, expected %s (as %s)", contract->name,
                           argument->name, dtype_name(dtype),
                           dtype_name(common), leader->name);
        leader = argument;
        common = dtype;
    }
    return M2_OK;
}

static int check_bounds(const struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;

    for (size_t i = 0; i < contract->n_arguments; i++) {
        const struct m2_view *view = view_of(call, i);
        int rc;

        if (view->buffer == NULL)
            continue;
        rc = view_check_bounds(contract->name, contract->arguments[i].name,
                               view, err);
        if (rc != M2_OK)
            return rc;
    }
    return M2_OK;
}

/* nc = ceil(L / Q), where the op has chunks. */
static void bind_chunks(struct dimensions *dims)
{
    const struct dimension *length, *chunk;

    length = dims_find(dims, (struct shape_text){"L", 1});
    chunk = dims_find(dims, (struct shape_text){"Q", 1});
    if (length != NULL && chunk != NULL)
        dims_bind(dims, (struct shape_text){"nc", 2},
                  (length->value - 1) / chunk->value + 1, NULL);
}

static int check_members(struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;

    for (size_t i = 0; i < contract->n_members; i++) {
        const struct op_member *member = &contract->members[i];
        double value = op_member_value(member, call->args);
        struct shape_text name = {member->name, strlen(member->name)};

        if (!(value >= member->low && value <= member->high))
            return m2_fail(err, M2_E_ARGUMENT, "%s: %s is %.9g, expected %s",
                           contract->name, member->name, value,
                           member->expected);
        if (member->type != MEMBER_DOUBLE)
            dims_bind(&call->dims, name, (int64_t)value, NULL);
    }
    bind_chunks(&call->dims);
    return M2_OK;
}

/* Compares one side of an argument with its contract, or learns a dimension
 * from it. */
static int check_side(struct call *call, const struct op_argument *argument,
                      struct shape_text expression, bool columns,
                      struct m2_error *err)
{
    const struct m2_view *view = op_argument_view(argument, call->args);
    const char *op = call->contract->name;
    const char *unit = columns ? "column" : "row";
    int64_t found = columns ? view->cols : view->rows;
    int64_t expected;
    char words[160];

    if (shape_is_free(expression, &call->dims)) {
        dims_bind(&call->dims, expression, found, argument->name);
        return M2_OK;
    }
    if (!shape_value(expression, &call->dims, &expected))
        return m2_fail(err, M2_E_ARGUMENT, "%s: %.*s is larger than any buffer",
                       op, (int)expression.length, expression.start);
    if (found == expected)
        return M2_OK;
    shape_words(expression, &call->dims, expected, words, sizeof words);
    return m2_fail(err, M2_E_ARGUMENT,
                   "%s: %s has %" PRId64 " %s%s, expected %s", op,
                   argument->name, found, unit, found == 1 ? "" : "s", words);
}

static int check_shapes(struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;
    int rc = M2_OK;

    for (size_t i = 0; i < contract->n_arguments && rc == M2_OK; i++) {
        const struct op_argument *argument = &contract->arguments[i];
        struct shape_text sides[2];

        if (view_of(call, i)->buffer == NULL)
            continue;
        shape_sides(argument->shape, &call->dims, sides);
        rc = check_side(call, argument, sides[0], false, err);
        if (rc == M2_OK)
            rc = check_side(call, argument, sides[1], true, err);
    }
    return rc;
}

/* The value of a dimension or member, which a rule names. */
static double rule_value(const struct call *call, const char *name)
{
    struct shape_text text = {name, strlen(name)};
    const struct dimension *dim = dims_find(&call->dims, text);

    if (dim != NULL)
        return (double)dim->value;
    for (size_t i = 0; i < call->contract->n_members; i++) {
        if (strcmp(call->contract->members[i].name, name) == 0)
            return op_member_value(&call->contract->members[i], call->args);
    }
    return 0;
}

static int check_rules(const struct call *call, struct m2_error *err)
{
    for (int i = 0; i < OP_MAX_RULES && call->contract->rules[i]; i++) {
        char left[16], relation[4], right[16];
        double a, b;

        int parts = sscanf(call->contract->rules[i], "%15s %3s %15s", left,
                           relation, right);

        assert(parts == 3);
        (void)parts;
        a = rule_value(call, left);
        b = rule_value(call, right);
        if (relation[0] == '%' && (int64_t)a % (int64_t)b != 0)
            return m2_fail(err, M2_E_ARGUMENT,
                           "%s: %s = %.9g is no multiple of %s = %.9g",
                           call->contract->name, left, a, right, b);
        if (relation[0] == '<' && a > b)
            return m2_fail(err, M2_E_ARGUMENT,
                           "%s: %s is %.9g, expected at most %s = %.9g",
                           call->contract->name, left, a, right, b);
    }
    return M2_OK;
}

/* Whether a list of names, separated by a space, holds name. */
static bool lists(const char *names, const char *name)
{
    size_t length = strlen(name);

    while (names != NULL && *names != '\0') {
        size_t word = strcspn(names, " ");

        if (word == length && strncmp(names, name, length) == 0)
            return true;
        names += word + (names[word] == ' ');
    }
    return false;
}

static bool same_view(const struct m2_view *a, const struct m2_view *b)
{
    return a->buffer == b->buffer && a->offset == b->offset &&
           a->rows == b->rows && a->cols == b->cols &&
           (a->ld == b->ld || a->rows == 1) && a->dtype == b->dtype;
}

/* An output against another argument. */
static int check_pair(const struct call *call, size_t output, size_t other,
                      struct m2_error *err)
{
    const struct op_argument *out = &call->contract->arguments[output];
    const struct op_argument *in = &call->contract->arguments[other];
    const struct m2_view *a = view_of(call, output);
    const struct m2_view *b = view_of(call, other);
    bool may_be = lists(out->may_be, in->name);

    if (a->buffer == NULL || b->buffer == NULL || !view_overlap(a, b) ||
        (may_be && same_view(a, b)))
        return M2_OK;
    return m2_fail(err, M2_E_ARGUMENT,
                   "%s: %s overlaps %s (element %" PRId64
                   " onwards and element "
                   "%" PRId64 " onwards of the same buffer)%s",
                   call->contract->name, out->name, in->name, a->offset,
                   b->offset, may_be ? "; it may only be the same view" : "");
}

static int check_overlap(const struct call *call, struct m2_error *err)
{
    const struct op_contract *contract = call->contract;
    int rc = M2_OK;

    for (size_t i = 0; i < contract->n_arguments; i++) {
        if (contract->arguments[i].role == OP_INPUT)
            continue;
        for (size_t j = 0; j < contract->n_arguments && rc == M2_OK; j++) {
            /* A pair of two outputs is looked at once. */
            if (j < i || (j > i && contract->arguments[j].role == OP_INPUT))
                rc = check_pair(call, i, j, err);
        }
    }
    return rc;
}

int op_check(struct m2_device *device, enum m2_op op, const void *args,
             struct m2_error *err)
{
    struct call call = {device, op_contract(op), args, {.n = 0}};
    int rc = check_absent(&call, err);

    if (rc == M2_OK)
        rc = check_device(&call, err);
    if (rc == M2_OK)
        rc = check_dtype(&call, err);
    if (rc == M2_OK)
        rc = check_bounds(&call, err);
    if (rc == M2_OK)
        rc = check_members(&call, err);
    if (rc == M2_OK)
        rc = check_shapes(&call, err);
    if (rc == M2_OK)
        rc = check_rules(&call, err);
    if (rc == M2_OK && call.contract->extra != NULL)
        rc = call.contract->extra(args, err);
    if (rc == M2_OK)
        rc = check_overlap(&call, err);
    return rc;
}
