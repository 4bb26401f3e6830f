/* safetensors: what is written is read back, and nothing damaged is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/safetensors.h"
#include "util/file.h"
#include "util/text.h"

/* Length, header and `data_size` bytes of data 0, 1, 2, ... */
static void make_file(struct text *out, const char *header, size_t data_size)
{
    uint64_t length = strlen(header);

    text_clear(out);
    text_add_bytes(out, &length, sizeof length);
    text_add(out, header);
    for (size_t i = 0; i < data_size; i++)
        text_add_char(out, (char)i);
}

static void damaged_files_are_refused_with_the_reason(void **state)
{
    static const struct {
        const char *header;
        size_t data_size;
        const char *message; /* begins so: the rest is the JSON parser's */
    } cases[] = {
        {"[]", 0, "f: byte 8: the header does not begin with '{'"},
        {"", 0, "f: byte 8: the header does not begin with '{'"},
        {"{\"a\":", 0, "f: byte 13: the header is not valid JSON: "},
        {"{} x", 0,
         "f: byte 12: the header is not valid JSON: end of file expected"},
        {"{\"a\":1}", 0,
         "f: tensor a: its entry is not an object of dtype, shape and "
         "data_offsets"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],"
         "\"more\":1}}",
         1,
         "f: tensor a: its entry is not an object of dtype, shape and "
         "data_offsets"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"offsets\":[0,1]}}", 1,
         "f: tensor a: data_offsets is not [begin, end] with 0 <= begin <= "
         "end"},
        {"{\"a\":{\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
         "f: tensor a: dtype is not a string"},
        {"{\"a\":{\"dtype\":\"C64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8,
         "f: tensor a: dtype C64 is not one of F64 F32 F16 BF16 I64 I32 U8"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1,
         "f: tensor a: shape is not a list"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1,
         "f: tensor a: dimension 0 of shape is not a whole number from 0"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1,
         "f: tensor a: dimension 0 of shape is not a whole number from 0"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],"
         "\"data_offsets\":[0,1]}}",
         1, "f: tensor a: shape has 9 dimensions, at most 8 are read"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],"
         "\"data_offsets\":[0,0]}}",
         0, "f: tensor a: shape overflows"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],"
         "\"data_offsets\":[0,0]}}",
         0, "f: tensor a: shape overflows"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,0]}}", 2,
         "f: tensor a: data_offsets is not [begin, end] with 0 <= begin <= "
         "end"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1,
         "f: tensor a: its data ends at byte 2 of the data, but the file has "
         "only 1 bytes of data (is it cut short?)"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,2]}}", 2,
         "f: tensor a: data_offsets [0, 2] span 2 bytes, dtype and shape need "
         "8"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 2,
         "f: the data ends at byte 62, but the file has 63 bytes"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
         3,
         "f: tensor b: its data begins at byte 114 of the file, overlapping "
         "byte 115, where the tensor before ends"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
         3,
         "f: tensor b: its data begins at byte 115 of the file, leaving a "
         "hole from byte 114, where the tensor before ends"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
         "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
         0, "f: byte 64: the header is not valid JSON: duplicate object key"},
        {"{\"__metadata__\":{\"k\":1}}", 0,
         "f: __metadata__: the value of k is not a string"},
        {"{\"__metadata__\":[]}", 0, "f: __metadata__ is not an object"},
        {"{\"\\u001b[2J\":1}", 0,
         "f: tensor ?[2J: its name holds a control character"},
    };
    struct text bytes = {0};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct m2_error err = {0};
        struct st_file file = {0};

        make_file(&bytes, cases[i].header, cases[i].data_size);
        assert_int_equal(st_parse("f", bytes.bytes, bytes.length, &file, &err),
                         M2_E_DATA);
        err.text[strlen(cases[i].message)] = '\0';
        assert_string_equal(err.text, cases[i].message);
        assert_null(file.tensors);
    }
    text_free(&bytes);
}

static void a_file_without_a_whole_header_is_refused(void **state)
{
    static const unsigned char huge[16] = {255, 255, 255, 255, 255,
                                           255, 255, 255, '{', '}'};
    struct m2_error err;
    struct st_file file;
    (void)state;

    assert_int_equal(st_parse("f", "abc", 3, &file, &err), M2_E_DATA);
    assert_string_equal(err.text, "f: not a safetensors file: it has 3 bytes, "
                                  "the header alone needs 8");
    assert_int_equal(st_parse("f", huge, sizeof huge, &file, &err), M2_E_DATA);
    assert_string_equal(err.text,
                        "f: byte 0: the header would have "
                        "18446744073709551615 bytes, the file has 16 (not a "
                        "safetensors file, or cut short?)");
}

static void every_dtype_is_widened_exactly(void **state)
{
    /* 1.5, -2^-24 (subnormal), infinity, then bf16 -3 and 2^-126 */
    static const uint16_t halves[] = {0x3e00, 0x8001, 0x7c00, 0xc040, 0x0080};
    static const char header[] =
        "{\"i\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[10,14]},"
        "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[6,10]},"
        "\"h\":{\"dtype\":\"F16\",\"shape\":[3,1],\"data_offsets\":[0,6]},"
        "\"n\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[14,22]}}";
    const int32_t minus = -7;
    const double big = 1e300;
    struct text bytes = {0};
    struct st_file file;
    (void)state;

    make_file(&bytes, header, 0);
    text_add_bytes(&bytes, halves, sizeof halves);
    text_add_bytes(&bytes, &minus, sizeof minus);
    text_add_bytes(&bytes, &big, sizeof big);
    assert_int_equal(st_parse("f", bytes.bytes, bytes.length, &file, NULL), 0);
    assert_int_equal(file.n_tensors, 4);
    assert_string_equal(file.tensors[0].name, "h");
    assert_string_equal(file.tensors[3].name, "n");
    assert_true(st_get(st_find(&file, "h"), 0) == 1.5);
    assert_true(st_get(st_find(&file, "h"), 1) == -0x1p-24);
    assert_true(st_get(st_find(&file, "h"), 2) > 1e308);
    assert_true(st_get(st_find(&file, "b"), 0) == -3);
    assert_true(st_get(st_find(&file, "b"), 1) == 0x1p-126);
    assert_int_equal(st_get_int(st_find(&file, "i"), 0), -7);
    assert_true(st_get(st_find(&file, "i"), 0) == -7);
    assert_int_equal(st_find(&file, "n")->n, 1);
    assert_int_equal(st_get_int(st_find(&file, "n"), 0), 0);
    assert_null(st_find(&file, "x"));
    st_free(&file);
    text_free(&bytes);
}

static char *scratch_path(void)
{
    const char *dir = getenv("TMPDIR");
    struct text path = {0};

    text_addf(&path, "%s/m2-st-%ld", dir != NULL ? dir : "/tmp",
              (long)getpid());
    return text_steal(&path, NULL);
}

static void add_example(struct st_writer *writer, const float *a,
                        const int64_t *b, struct m2_error *err)
{
    assert_int_equal(st_add_metadata(writer, "zebra", "\"last\"\n", err), 0);
    assert_int_equal(st_add_metadata(writer, "format", "pt", err), 0);
    assert_int_equal(st_add(writer, "second\\name", ST_F32,
                            (const int64_t[]){2, 3}, 2, a, err),
                     0);
    assert_int_equal(
        st_add(writer, "first", ST_I64, (const int64_t[]){2}, 1, b, err), 0);
    assert_int_equal(
        st_add(writer, "none", ST_F64, (const int64_t[]){0}, 1, NULL, err), 0);
}

static void what_is_written_is_read_back(void **state)
{
    const float a[6] = {1, 2, 3, 4, 5, -6.5f};
    const int64_t b[2] = {-1, INT64_MAX};
    struct st_writer *writer = st_writer_new();
    struct m2_error err = {0};
    char *path = scratch_path();
    struct st_file file;
    (void)state;

    add_example(writer, a, b, &err);
    assert_int_equal(st_write(writer, path, &err), 0);
    assert_int_equal(st_read(path, &file, &err), 0);
    assert_int_equal(file.n_tensors, 3);
    assert_string_equal(file.tensors[0].name, "second\\name");
    assert_int_equal(file.tensors[0].n_dims, 2);
    assert_int_equal(file.tensors[0].shape[1], 3);
    assert_memory_equal(file.tensors[0].data, a, sizeof a);
    assert_memory_equal(st_find(&file, "first")->data, b, sizeof b);
    assert_string_equal(file.metadata[0], "format");
    assert_string_equal(st_metadata(&file, "zebra"), "\"last\"\n");
    assert_null(st_metadata(&file, "x"));
    assert_int_equal(
        ((const char *)file.tensors[0].data - (const char *)file.memory) % 64,
        0);
    st_free(&file);
    st_writer_free(writer);
    unlink(path);
    free(path);
}

static void the_bytes_depend_on_the_input_alone(void **state)
{
    const float a[6] = {1, 2, 3, 4, 5, 6};
    const int64_t b[2] = {7, 8};
    struct text bytes[2] = {{0}, {0}};
    char *path = scratch_path();
    (void)state;

    for (int i = 0; i < 2; i++) {
        struct st_writer *writer = st_writer_new();
        struct m2_error err = {0};

        add_example(writer, a, b, &err);
        assert_int_equal(st_write(writer, path, &err), 0);
        assert_int_equal(file_read(path, 4096, M2_E_DATA, &bytes[i], &err), 0);
        st_writer_free(writer);
    }
    assert_int_equal(bytes[0].length, bytes[1].length);
    assert_memory_equal(bytes[0].bytes, bytes[1].bytes, bytes[0].length);
    text_free(&bytes[0]);
    text_free(&bytes[1]);
    unlink(path);
    free(path);
}

static void names_and_keys_are_unique(void **state)
{
    struct st_writer *writer = st_writer_new();
    struct m2_error err = {0};
    const int64_t one = 1;
    (void)state;

    assert_int_equal(st_add(writer, "a", ST_U8, &one, 1, "x", &err), 0);
    assert_int_equal(st_add(writer, "a", ST_U8, &one, 1, "x", &err),
                     M2_E_INTERNAL);
    assert_int_equal(st_add(writer, "__metadata__", ST_U8, &one, 1, "x", &err),
                     M2_E_INTERNAL);
    assert_int_equal(st_add_metadata(writer, "k", "v", &err), 0);
    assert_int_equal(st_add_metadata(writer, "k", "v", &err), M2_E_INTERNAL);
    st_writer_free(writer);
}

static void files_that_cannot_be_used_are_named(void **state)
{
    struct st_writer *writer = st_writer_new();
    struct m2_error err = {0};
    struct st_file file;
    (void)state;

    assert_int_equal(st_read("/nowhere/x", &file, &err), M2_E_DATA);
    assert_string_equal(err.text, "/nowhere/x: No such file or directory");
    assert_int_equal(st_read("/", &file, &err), M2_E_DATA);
    assert_string_equal(err.text, "/: not a regular file");
    assert_int_equal(st_write(writer, "/nowhere/x", &err), M2_E_RESULTS);
    assert_string_equal(err.text, "/nowhere/x: No such file or directory");
    st_writer_free(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_files_are_refused_with_the_reason),
        cmocka_unit_test(a_file_without_a_whole_header_is_refused),
        cmocka_unit_test(every_dtype_is_widened_exactly),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(the_bytes_depend_on_the_input_alone),
        cmocka_unit_test(names_and_keys_are_unique),
        cmocka_unit_test(files_that_cannot_be_used_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
