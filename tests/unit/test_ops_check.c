/* The checked fronts: for every op and every argument a device mistake, a
 * type mistake and a shape mistake are refused, with the exact messages of
 * tests/golden/op_messages.txt.
 *
 * `test_ops_check --write FILE` writes that file anew, to be read before it
 * is committed. */
#include "tests/unit/unit.h"

#include <math.h>

#include "plugins/loader.h"
#include "tests/unit/op_calls.h"

/* The device under test ("ref", f32), and another one ("cuda", f32): the
 * reference backend under another name. */
static struct m2_device *device, *other_device;
static struct m2_buffer *buffer, *other_buffer;
static struct m2_plugin other_descriptor;
static struct plugin other_plugin = {&other_descriptor, NULL};

static void open_one(const struct plugin *plugin, enum m2_dtype real,
                     struct m2_device **out, struct m2_buffer **memory)
{
    static const unsigned char zeros[CALL_BUFFER_BYTES];
    struct m2_error err;

    assert_ok(device_open(plugin, 0, real, 1, out, &err), &err);
    assert_ok(buffer_alloc(*out, CALL_BUFFER_BYTES, memory, &err), &err);
    assert_ok(buffer_upload(*out, *memory, 0, zeros, sizeof zeros, &err), &err);
}

static int set_up(void **state)
{
    (void)state;
    other_descriptor = *plugin_builtin_ref()->descriptor;
    other_descriptor.name = "cuda";
    open_one(plugin_builtin_ref(), M2_F32, &device, &buffer);
    open_one(&other_plugin, M2_F32, &other_device, &other_buffer);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buffer_free(device, buffer);
    buffer_free(other_device, other_buffer);
    device_close(device);
    device_close(other_device);
    return 0;
}

/* ---- every valid call is accepted, and runs ---------------------------- */

static void every_valid_call_is_accepted_and_runs(void **state)
{
    struct m2_error err;
    int ran = 0;

    (void)state;
    for (int op = 0; op < M2_N_OPS; op++) {
        for (int optional = 0; optional < 2; optional++) {
            union call_args args;

            call_make(op, M2_F32, buffer, optional, &args);
            assert_ok(op_check(device, op, &args, &err), &err);
            assert_ok(op_call(device, op, &args, &err), &err);
            ran++;
        }
    }
    assert_int_equal(ran, 2 * M2_N_OPS);
}

/* ---- one mistake at a time --------------------------------------------- */

/* A broken call must be refused; writes "op(argument) mistake: message". */
static void expect_refusal(FILE *out, enum m2_op op, union call_args *args,
                           const char *argument, const char *mistake)
{
    struct m2_error err = {0};

    if (op_check(device, op, args, &err) != M2_E_ARGUMENT)
        fail_msg("%s(%s) %s: accepted", op_name(op), argument, mistake);
    fprintf(out, "%s(%s) %s: %s\n", op_name(op), argument, mistake, err.text);
}

static bool refused(enum m2_op op, const union call_args *args)
{
    return op_check(device, op, args, NULL) == M2_E_ARGUMENT;
}

static void break_presence(FILE *out, enum m2_op op, size_t i)
{
    const struct op_argument *argument = &op_contract(op)->arguments[i];
    union call_args args;
    bool needed = !argument->optional;

    for (size_t j = 0; j < op_contract(op)->n_arguments; j++) {
        const char *needs = op_contract(op)->arguments[j].needs;

        needed =
            needed || (needs != NULL && strcmp(needs, argument->name) == 0);
    }
    call_make(op, M2_F32, buffer, true, &args);
    call_view(op, &args, i)->buffer = NULL;
    if (needed)
        expect_refusal(out, op, &args, argument->name, "absent");
    else
        assert_false(refused(op, &args));
}

static void break_device(FILE *out, enum m2_op op, size_t i)
{
    union call_args args;

    call_make(op, M2_F32, buffer, true, &args);
    call_view(op, &args, i)->buffer = other_buffer;
    expect_refusal(out, op, &args, op_contract(op)->arguments[i].name,
                   "device");
}

static void break_dtype(FILE *out, enum m2_op op, size_t i)
{
    static const enum m2_dtype types[] = {M2_F32, M2_F64, M2_I32, M2_I64};
    const struct op_argument *argument = &op_contract(op)->arguments[i];
    enum m2_dtype wrong = argument->kind == 'r'   ? M2_F64
                          : argument->kind == 'f' ? M2_I32
                          : argument->kind == '*' ? M2_I64
                                                  : M2_F32;
    union call_args args;

    call_make(op, M2_F32, buffer, true, &args);
    call_view(op, &args, i)->dtype = wrong;
    expect_refusal(out, op, &args, argument->name, "dtype");
    if (argument->kind == 'f' || argument->kind == '*')
        return;
    for (size_t t = 0; t < COUNT_OF(types); t++) {
        enum m2_dtype right = argument->kind == 'd'   ? M2_F64
                              : argument->kind == 'i' ? M2_I32
                                                      : M2_F32;

        call_view(op, &args, i)->dtype = types[t];
        assert_int_equal(refused(op, &args), types[t] != right);
    }
}

/* One column more; where the op takes any number of columns, one row more;
 * where it takes any matrix, none at all. */
static void break_shape(FILE *out, enum m2_op op, size_t i)
{
    const char *name = op_contract(op)->arguments[i].name;
    union call_args args;
    struct m2_view *view = call_view(op, &args, i);

    call_make(op, M2_F32, buffer, true, &args);
    view->cols++;
    view->ld++;
    if (refused(op, &args)) {
        expect_refusal(out, op, &args, name, "one column more");
        return;
    }
    call_make(op, M2_F32, buffer, true, &args);
    view->rows++;
    if (refused(op, &args)) {
        expect_refusal(out, op, &args, name, "one row more");
        return;
    }
    view->rows = 0;
    expect_refusal(out, op, &args, name, "no row");
}

/* An output on each of the other arguments' memory. */
static void break_overlap(FILE *out, enum m2_op op, size_t i)
{
    const struct op_contract *contract = op_contract(op);
    const char *name = contract->arguments[i].name;
    bool written = false;
    union call_args args;

    for (size_t j = 0; j < contract->n_arguments; j++) {
        const char *may_be = contract->arguments[i].may_be;
        struct m2_view *view = call_view(op, &args, i);
        const struct m2_view *under = call_view(op, &args, j);

        if (j == i)
            continue;
        call_make(op, M2_F32, buffer, true, &args);
        view->offset = under->offset * (int64_t)m2_dtype_size(under->dtype) /
                       (int64_t)m2_dtype_size(view->dtype);
        if (may_be != NULL && strstr(may_be, contract->arguments[j].name)) {
            assert_false(refused(op, &args));
            view->offset++;
        }
        assert_true(refused(op, &args));
        if (!written)
            expect_refusal(out, op, &args, name, "overlap");
        written = true;
    }
}

static void break_members(FILE *out, enum m2_op op)
{
    const struct op_contract *contract = op_contract(op);

    for (size_t i = 0; i < contract->n_members; i++) {
        const struct op_member *member = &contract->members[i];
        union call_args args;

        call_make(op, M2_F32, buffer, true, &args);
        if (member->type == MEMBER_DOUBLE) {
            call_set(op, &args, member->name, NAN);
            expect_refusal(out, op, &args, member->name, "not a number");
        } else if (member->low > -1e9) {
            call_set(op, &args, member->name, member->low - 1);
            expect_refusal(out, op, &args, member->name, "too low");
            call_set(op, &args, member->name, member->high + 1);
            assert_true(refused(op, &args));
        }
    }
}

static size_t break_everything(FILE *out)
{
    size_t broken = 0;

    for (int op = 0; op < M2_N_OPS; op++) {
        const struct op_contract *contract = op_contract(op);

        for (size_t i = 0; i < contract->n_arguments; i++) {
            break_presence(out, op, i);
            break_device(out, op, i);
            break_dtype(out, op, i);
            break_shape(out, op, i);
            if (contract->arguments[i].role != OP_INPUT)
                break_overlap(out, op, i);
            broken++;
        }
        break_members(out, op);
    }
    return broken;
}

/* Fails at the first line that differs. */
static void assert_same_lines(char *found, char *expected)
{
    for (int line = 1;; line++) {
        const char *a = strsep(&found, "\n"), *b = strsep(&expected, "\n");

        if (a == NULL || b == NULL) {
            assert_true(a == b);
            return;
        }
        if (strcmp(a, b) != 0)
            fail_msg("op_messages.txt:%d:\nexpected %s\nfound    %s", line, b,
                     a);
    }
}

static char *read_text(const char *path)
{
    enum { ROOM = 1 << 20 };
    FILE *file = fopen(path, "r");
    char *text;

    if (file == NULL)
        fail_msg("cannot read %s", path);
    text = calloc(1, ROOM);
    assert_non_null(text);
    assert_true(fread(text, 1, ROOM - 1, file) > 0);
    fclose(file);
    return text;
}

static void every_mistake_has_the_message_of_the_golden_file(void **state)
{
    const char *source = getenv("top_srcdir");
    char *found = NULL, *expected;
    size_t size = 0, broken;
    FILE *out;

    (void)state;
    expected = read_text(unit_path(source != NULL ? source : ".",
                                   "tests/golden/op_messages.txt"));
    out = open_memstream(&found, &size);
    assert_non_null(out);
    broken = break_everything(out);
    assert_int_equal(fclose(out), 0);
    assert_true(broken > 150);
    assert_same_lines(found, expected);
    free(found);
    free(expected);
}

/* ---- mistakes that concern any argument -------------------------------- */

static struct m2_linear good_linear(void)
{
    return (struct m2_linear){
        .x = view_matrix(buffer, 0, 5, 4, 4, M2_F32),
        .w = view_matrix(buffer, 100, 3, 4, 4, M2_F32),
        .y = view_matrix(buffer, 200, 5, 3, 3, M2_F32),
    };
}

static void assert_linear(const struct m2_linear *args, const char *message)
{
    struct m2_error err = {0};

    assert_int_equal(op_check(device, M2_OP_linear, args, &err), M2_E_ARGUMENT);
    assert_string_equal(err.text, message);
}

static void views_outside_their_buffer_are_refused(void **state)
{
    static const struct {
        struct m2_view view; /* of w, without the buffer */
        const char *message;
    } cases[] = {
        {{NULL, 0, 0, 4, 4, M2_F32},
         "linear: w has 0 rows, expected at least 1"},
        {{NULL, 0, -3, 4, 4, M2_F32},
         "linear: w has -3 rows, expected at least 1"},
        {{NULL, 0, 3, 0, 4, M2_F32},
         "linear: w has 0 columns, expected at least 1"},
        {{NULL, 0, 3, 4, 3, M2_F32},
         "linear: w has ld 3, expected at least its 4 columns"},
        {{NULL, -1, 3, 4, 4, M2_F32},
         "linear: w has offset -1, expected at least 0"},
        {{NULL, 16373, 3, 4, 4, M2_F32},
         "linear: w ends at byte 65540, but its buffer has 65536 bytes"},
        {{NULL, 0, 3, 4, 8191, M2_F32},
         "linear: w ends at byte 65544, but its buffer has 65536 bytes"},
        {{NULL, INT64_MAX - 5, 3, 4, 4, M2_F32},
         "linear: w is larger than any buffer"},
        {{NULL, 0, INT64_MAX, 4, 4, M2_F32},
         "linear: w is larger than any buffer"},
        {{NULL, 0, 3, INT64_MAX, INT64_MAX, M2_F32},
         "linear: w is larger than any buffer"},
        {{NULL, 0, 1, INT64_MAX / 2, INT64_MAX, M2_F32},
         "linear: w is larger than any buffer"},
        {{NULL, 0, 3, 4, 4, 0},
         "linear: w is of no known type, expected f32 (the device's real "
         "type)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct m2_linear args = good_linear();

        args.w = cases[i].view;
        args.w.buffer = buffer;
        assert_linear(&args, cases[i].message);
    }
}

static void the_last_element_of_a_buffer_may_be_used(void **state)
{
    struct m2_linear args = good_linear();
    struct m2_error err;

    (void)state;
    args.w.offset = CALL_BUFFER_BYTES / 4 - 12;
    assert_ok(op_check(device, M2_OP_linear, &args, &err), &err);
}

static void columns_of_one_matrix_do_not_overlap(void **state)
{
    struct m2_view matrix = view_matrix(buffer, 0, 5, 7, 9, M2_F32);
    struct m2_linear args = good_linear();
    struct m2_error err;

    (void)state;
    args.x = view_columns(matrix, 0, 4);
    args.y = view_columns(matrix, 4, 3);
    assert_ok(op_check(device, M2_OP_linear, &args, &err), &err);
    args.y = view_columns(matrix, 3, 3);
    assert_linear(&args, "linear: y overlaps x (element 3 onwards and "
                         "element 0 onwards of the same buffer)");
}

static void an_allowed_alias_must_be_the_very_same_view(void **state)
{
    struct m2_linear args = good_linear();
    struct m2_error err;

    (void)state;
    args.residual = args.y;
    assert_ok(op_check(device, M2_OP_linear, &args, &err), &err);
    args.residual.offset++;
    assert_linear(&args, "linear: y overlaps residual (element 200 onwards and "
                         "element 201 onwards of the same buffer); it may "
                         "only be the same view");
}

static void handles_of_one_device_are_told_apart(void **state)
{
    struct m2_linear args = good_linear();
    struct m2_device *f64;
    struct m2_buffer *memory;

    (void)state;
    open_one(plugin_builtin_ref(), M2_F64, &f64, &memory);
    args.w.buffer = memory;
    assert_linear(&args, "linear: w is on another handle of ref (f64), but "
                         "the op runs on ref");
    buffer_free(f64, memory);
    device_close(f64);
}

static void an_f64_device_wants_f64(void **state)
{
    struct m2_device *f64;
    struct m2_buffer *memory;
    struct m2_error err;

    (void)state;
    open_one(plugin_builtin_ref(), M2_F64, &f64, &memory);
    for (int op = 0; op < M2_N_OPS; op++) {
        const struct op_contract *contract = op_contract(op);
        union call_args args;

        call_make(op, M2_F64, memory, true, &args);
        assert_ok(op_call(f64, op, &args, &err), &err);
        for (size_t i = 0; i < contract->n_arguments; i++) {
            call_make(op, M2_F64, memory, true, &args);
            call_view(op, &args, i)->dtype = M2_F32;
            assert_fails(op_check(f64, op, &args, &err), M2_E_ARGUMENT,
                         "is f32, expected", &err);
        }
    }
    buffer_free(f64, memory);
    device_close(f64);
}

/* ---- rules between numbers --------------------------------------------- */

static void rules_between_numbers_hold(void **state)
{
    static const struct {
        enum m2_op op;
        const char *member;
        double value;
        const char *message;
    } cases[] = {
        {M2_OP_dt, "low", 2, NULL},
        {M2_OP_dt, "high", 1e-4,
         "dt: low is 0.001, expected at most high = 0.0001"},
        {M2_OP_dt_backward, "high", 1e-4,
         "dt_backward: low is 0.001, expected at most high = 0.0001"},
        {M2_OP_dt, "low", -INFINITY,
         "dt: low is -inf, expected a finite number"},
        {M2_OP_spectral, "rho", 1,
         "spectral: rho is 1, expected below 1 (mode discrete)"},
        {M2_OP_spectral, "rho", 0,
         "spectral: rho is 0, expected a finite number above 0"},
        {M2_OP_spectral, "dt_ref", 0,
         "spectral: dt_ref is 0, expected above 0 (mode discrete)"},
        {M2_OP_huber, "delta", 0,
         "huber: delta is 0, expected a finite number above 0"},
        {M2_OP_mse, "scale", INFINITY,
         "mse: scale is inf, expected a finite number"},
        {M2_OP_adamw, "beta2", 1,
         "adamw: beta2 is 1, expected at least 0 and below 1"},
        {M2_OP_clip, "max_norm", -1,
         "clip: max_norm is -1, expected a finite number, at least 0"},
        {M2_OP_fill, NULL, 0, NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        union call_args args;
        struct m2_error err = {0};

        call_make(cases[i].op, M2_F32, buffer, true, &args);
        if (cases[i].member != NULL)
            call_set(cases[i].op, &args, cases[i].member, cases[i].value);
        op_check(device, cases[i].op, &args, &err);
        assert_string_equal(err.text,
                            cases[i].message != NULL ? cases[i].message : "");
    }
}

static void groups_divide_what_they_group(void **state)
{
    struct m2_rmsnorm norm = {
        .groups = 3,
        .x = view_matrix(buffer, 0, 5, 4, 4, M2_F32),
        .w = view_matrix(buffer, 100, 1, 4, 4, M2_F32),
        .y = view_matrix(buffer, 200, 5, 4, 4, M2_F32),
        .rs = view_matrix(buffer, 300, 5, 3, 3, M2_F32),
    };
    struct m2_ssd_step step = {
        .H = 4,
        .P = 1,
        .G = 3,
        .N = 1,
        .x = view_matrix(buffer, 0, 2, 4, 4, M2_F32),
        .dt = view_matrix(buffer, 100, 2, 4, 4, M2_F32),
        .a_log = view_matrix(buffer, 200, 1, 4, 4, M2_F32),
        .b = view_matrix(buffer, 300, 2, 3, 3, M2_F32),
        .c = view_matrix(buffer, 400, 2, 3, 3, M2_F32),
        .d = view_matrix(buffer, 500, 1, 4, 4, M2_F32),
        .h = view_matrix(buffer, 600, 2, 4, 4, M2_F32),
        .y = view_matrix(buffer, 700, 2, 4, 4, M2_F32),
    };
    struct m2_error err;

    (void)state;
    assert_fails(op_check(device, M2_OP_rmsnorm, &norm, &err), M2_E_ARGUMENT,
                 "rmsnorm: I = 4 is no multiple of groups = 3", &err);
    assert_fails(op_check(device, M2_OP_ssd_step, &step, &err), M2_E_ARGUMENT,
                 "ssd_step: H = 4 is no multiple of G = 3", &err);
}

static void sizes_that_overflow_are_refused(void **state)
{
    union call_args args;
    struct m2_error err;

    (void)state;
    call_make(M2_OP_ssd, M2_F32, buffer, true, &args);
    call_set(M2_OP_ssd, &args, "B", 0x1p40);
    call_set(M2_OP_ssd, &args, "L", 0x1p40);
    assert_fails(op_check(device, M2_OP_ssd, &args, &err), M2_E_ARGUMENT,
                 "ssd: B*L is larger than any buffer", &err);
}

static void choices_change_the_expected_shape(void **state)
{
    struct m2_view *y;
    union call_args args;
    struct m2_error err;

    (void)state;
    call_make(M2_OP_ssd, M2_F32, buffer, true, &args);
    call_set(M2_OP_ssd, &args, "last_only", 1);
    assert_fails(op_check(device, M2_OP_ssd, &args, &err), M2_E_ARGUMENT,
                 "ssd: y has 12 rows, expected B = 2", &err);
    y = call_view(M2_OP_ssd, &args, 7);
    y->rows = 2;
    assert_ok(op_check(device, M2_OP_ssd, &args, &err), &err);

    call_make(M2_OP_gather_windows, M2_F32, buffer, true, &args);
    call_set(M2_OP_gather_windows, &args, "horizon_mode", M2_HORIZON_SUM);
    assert_fails(op_check(device, M2_OP_gather_windows, &args, &err),
                 M2_E_ARGUMENT,
                 "gather_windows: y has 6 columns, expected O = 3 (from "
                 "targets)",
                 &err);
    call_set(M2_OP_gather_windows, &args, "horizon_mode", M2_HORIZON_PATH);
    call_view(M2_OP_gather_windows, &args, 4)->cols = 5;
    assert_fails(op_check(device, M2_OP_gather_windows, &args, &err),
                 M2_E_ARGUMENT,
                 "gather_windows: y has 5 columns, expected horizon*O = 6 (O "
                 "= 3 from targets)",
                 &err);
    call_set(M2_OP_gather_windows, &args, "L", 13);
    assert_fails(op_check(device, M2_OP_gather_windows, &args, &err),
                 M2_E_ARGUMENT, "x has 12 rows, expected B*L = 26", &err);
}

static void copy_wants_one_type_on_both_sides(void **state)
{
    struct m2_copy args = {view_matrix(buffer, 0, 2, 2, 2, M2_I32),
                           view_matrix(buffer, 50, 2, 2, 2, M2_I32)};
    struct m2_error err;

    (void)state;
    assert_ok(op_check(device, M2_OP_copy, &args, &err), &err);
    args.y.dtype = M2_F64;
    assert_fails(op_check(device, M2_OP_copy, &args, &err), M2_E_ARGUMENT,
                 "copy: y is f64, expected i32 (as x)", &err);
}

static void names_and_sizes_agree_with_the_table(void **state)
{
    (void)state;
    for (int op = 0; op < M2_N_OPS; op++) {
        const struct op_argument *arguments;

        assert_int_equal(op_by_name(op_name(op)), op);
        assert_true(op_arguments(op, &arguments) > 0);
        for (size_t i = 0; i < op_arguments(op, &arguments); i++)
            assert_true(arguments[i].offset + sizeof(struct m2_view) <=
                        op_args_size(op));
    }
    assert_int_equal(op_by_name("unknown"), -1);
    assert_int_equal(op_args_size(M2_OP_ssd), sizeof(struct m2_ssd));
}

static int write_golden(const char *path)
{
    FILE *out = fopen(path, "w");

    if (out == NULL)
        return 1;
    set_up(NULL);
    break_everything(out);
    tear_down(NULL);
    return fclose(out) != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_valid_call_is_accepted_and_runs),
        cmocka_unit_test(every_mistake_has_the_message_of_the_golden_file),
        cmocka_unit_test(views_outside_their_buffer_are_refused),
        cmocka_unit_test(the_last_element_of_a_buffer_may_be_used),
        cmocka_unit_test(columns_of_one_matrix_do_not_overlap),
        cmocka_unit_test(an_allowed_alias_must_be_the_very_same_view),
        cmocka_unit_test(handles_of_one_device_are_told_apart),
        cmocka_unit_test(an_f64_device_wants_f64),
        cmocka_unit_test(rules_between_numbers_hold),
        cmocka_unit_test(groups_divide_what_they_group),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(choices_change_the_expected_shape),
        cmocka_unit_test(copy_wants_one_type_on_both_sides),
        cmocka_unit_test(names_and_sizes_agree_with_the_table),
    };

    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_golden(argv[2]);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
