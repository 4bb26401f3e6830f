/* Valid calls of every op, built from the contract table alone. */
#include "tests/unit/op_calls.h"

#include <math.h>
#include <string.h>

#include "tests/unit/unit.h"

/* Sizes that no two dimensions of one op share, where that is possible, and
 * values for the members that are no dimensions. */
static const struct {
    const char *name;
    double value;
} values[] = {
    {"B", 2},           {"L", 6},         {"H", 4},
    {"P", 3},           {"G", 2},         {"N", 5},
    {"Q", 4},           {"K", 3},         {"groups", 2},
    {"horizon", 2},     {"T", 5},         {"I", 4},
    {"O", 3},           {"C", 7},         {"D", 8},
    {"R", 6},           {"V", 9},         {"S", 12},
    {"F", 4},           {"n", 10},        {"E", 3},
    {"W", 2},           {"eps", 1e-5},    {"low", 1e-3},
    {"high", INFINITY}, {"delta", 1},     {"factor", 0.5},
    {"max_norm", 1},    {"beta1", 0.9},   {"beta2", 0.999},
    {"rho", 0.99},      {"dt_ref", 0.01}, {"mode", M2_SPECTRAL_DISCRETE},
};

static double value_of(struct shape_text name)
{
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        if (strlen(values[i].name) == name.length &&
            memcmp(values[i].name, name.start, name.length) == 0)
            return values[i].value;
    }
    return 0;
}

struct m2_view *call_view(enum m2_op op, union call_args *args, size_t i)
{
    return (struct m2_view *)(args->bytes +
                              op_contract(op)->arguments[i].offset);
}

void call_set(enum m2_op op, union call_args *args, const char *member,
              double value)
{
    const struct op_contract *contract = op_contract(op);

    for (size_t i = 0; i < contract->n_members; i++) {
        const struct op_member *it = &contract->members[i];
        void *at = args->bytes + it->offset;
        int64_t wide = it->type == MEMBER_DOUBLE ? 0 : (int64_t)value;
        int narrow = (int)wide;

        if (strcmp(it->name, member) != 0)
            continue;
        if (it->type == MEMBER_DOUBLE)
            memcpy(at, &value, sizeof value);
        else if (it->type == MEMBER_INT64)
            memcpy(at, &wide, sizeof wide);
        else
            memcpy(at, &narrow, sizeof narrow);
        return;
    }
    fail_msg("%s has no member %s", contract->name, member);
}

/* Members first, with their dimensions. */
static void make_members(enum m2_op op, union call_args *args,
                         struct dimensions *dims)
{
    const struct op_contract *contract = op_contract(op);

    for (size_t i = 0; i < contract->n_members; i++) {
        const char *name = contract->members[i].name;
        struct shape_text text = {name, strlen(name)};

        call_set(op, args, name, value_of(text));
        if (contract->members[i].type != MEMBER_DOUBLE)
            dims_bind(dims, text, (int64_t)value_of(text), NULL);
    }
    dims_bind(dims, (struct shape_text){"nc", 2}, 2, NULL); /* ceil(6 / 4) */
}

static int64_t side_value(struct shape_text side, struct dimensions *dims)
{
    int64_t value;

    if (shape_is_free(side, dims))
        dims_bind(dims, side, (int64_t)value_of(side), NULL);
    assert_true(shape_value(side, dims, &value) && value > 0);
    return value;
}

static enum m2_dtype type_of(char kind, enum m2_dtype real)
{
    return kind == 'd' ? M2_F64 : kind == 'i' ? M2_I32 : real;
}

void call_make(enum m2_op op, enum m2_dtype real, struct m2_buffer *buffer,
               bool with_optional, union call_args *args)
{
    const struct op_contract *contract = op_contract(op);
    struct dimensions dims = {.n = 0};
    int64_t room = CALL_BUFFER_BYTES / 8 / (int64_t)contract->n_arguments;

    assert_true(contract->args_size <= sizeof *args);
    memset(args, 0, sizeof *args);
    make_members(op, args, &dims);
    for (size_t i = 0; i < contract->n_arguments; i++) {
        const struct op_argument *argument = &contract->arguments[i];
        struct m2_view *view = call_view(op, args, i);
        struct shape_text sides[2];

        shape_sides(argument->shape, &dims, sides);
        view->rows = side_value(sides[0], &dims);
        view->cols = side_value(sides[1], &dims);
        view->ld = view->cols + (view->rows > 1);
        view->offset = (int64_t)i * room;
        view->dtype = type_of(argument->kind, real);
        if (with_optional || !argument->optional)
            view->buffer = buffer;
        assert_true((view->rows + 1) * (view->ld + 1) <= room);
    }
}
