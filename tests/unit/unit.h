/* What every unit test needs: cmocka and what it wants included before, a
 * directory of the test's own, and a check that shows the error's text. */
#ifndef M2_TESTS_UNIT_H
#define M2_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "m2_plugin.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The call returns 0, or the test fails with the error's text. */
#define assert_ok(call, err)                                                   \
    do {                                                                       \
        (err)->text[0] = '\0';                                                 \
        if ((call) != 0)                                                       \
            fail_msg("%s: %s", #call, (err)->text);                            \
    } while (0)

/* The call returns this code and a text that holds `part`. */
#define assert_fails(call, expected_code, part, err)                           \
    do {                                                                       \
        (err)->text[0] = '\0';                                                 \
        assert_int_equal((call), (expected_code));                             \
        if (strstr((err)->text, (part)) == NULL)                               \
            fail_msg("\"%s\" is not in \"%s\"", (part), (err)->text);          \
    } while (0)

/* Makes an empty directory under $TMPDIR; the caller frees the name and
 * removes the tree (unit_remove_dir does both). */
static inline char *unit_make_dir(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(4096);

    snprintf(dir, 4096, "%s/m2run-test-XXXXXX", base != NULL ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    return dir;
}

static inline void unit_remove_dir(char *dir)
{
    char command[4200];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
    free(dir);
}

/* dir/name, in one of four buffers used in turn */
static inline const char *unit_path(const char *dir, const char *name)
{
    static char paths[4][4096];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

/* Writes a small file. */
static inline void unit_write(const char *path, const char *contents)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(contents, 1, strlen(contents), file),
                     strlen(contents));
    assert_int_equal(fclose(file), 0);
}

#endif
