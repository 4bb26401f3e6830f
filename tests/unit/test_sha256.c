/* SHA-256, against the vectors of FIPS 180-4. */
#include "tests/unit/unit.h"

#include "util/sha256.h"

static const char *const abc_digest =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static void known_digests(void **state)
{
    static const struct {
        const char *message, *digest;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb924"
             "27ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223"
                "b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    struct m2_error err;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_ok(sha256_bytes(cases[i].message, strlen(cases[i].message),
                               digest, &err),
                  &err);
        assert_string_equal(sha256_hex(digest, hex), cases[i].digest);
    }
}

static void pieces_give_the_digest_of_the_whole(void **state)
{
    struct m2_error err;
    struct sha256 sha;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    (void)state;
    assert_ok(sha256_start(&sha, &err), &err);
    assert_ok(sha256_add(&sha, "a", 1, &err), &err);
    assert_ok(sha256_add(&sha, "", 0, &err), &err);
    assert_ok(sha256_add(&sha, "bc", 2, &err), &err);
    assert_ok(sha256_finish(&sha, digest, &err), &err);
    assert_string_equal(sha256_hex(digest, hex), abc_digest);
    assert_ok(sha256_start(&sha, &err), &err);
    sha256_abandon(&sha);
}

static void file_has_the_digest_of_its_bytes(void **state)
{
    struct m2_error err;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    char *dir = unit_make_dir();

    (void)state;
    unit_write(unit_path(dir, "f"), "abc");
    assert_ok(sha256_file(unit_path(dir, "f"), M2_E_DATA, digest, &err), &err);
    assert_string_equal(sha256_hex(digest, hex), abc_digest);
    assert_fails(sha256_file(unit_path(dir, "g"), M2_E_DATA, digest, &err),
                 M2_E_DATA, "/g: No such file or directory", &err);
    assert_fails(sha256_file(dir, M2_E_DATA, digest, &err), M2_E_DATA,
                 "not a regular file", &err);
    assert_fails(sha256_file("/dev/zero", M2_E_DATA, digest, &err), M2_E_DATA,
                 "/dev/zero: not a regular file", &err);
    unit_remove_dir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_digests),
        cmocka_unit_test(pieces_give_the_digest_of_the_whole),
        cmocka_unit_test(file_has_the_digest_of_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
