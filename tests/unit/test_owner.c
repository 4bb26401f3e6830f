/* The lock and the heartbeat of owner.json. */
#include "results/owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct fixture {
    char *dir;
    int dirfd;
    struct owner owner;
    int fd; /* holds the lock, or -1 */
};

static int open_fixture(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct m2_error err;

    f->dir = unit_make_dir();
    f->dirfd = open(f->dir, O_RDONLY | O_DIRECTORY);
    assert_ok(owner_self(&f->owner, &err), &err);
    assert_ok(owner_create(f->dirfd, &f->owner, &f->fd, &err), &err);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;

    unsetenv("M2RUN_BOOT_ID");
    if (f->fd >= 0)
        close(f->fd);
    close(f->dirfd);
    unit_remove_dir(f->dir);
    free(f);
    return 0;
}

static void let_go(struct fixture *f)
{
    close(f->fd);
    f->fd = -1;
}

static bool read_owner(const struct fixture *f, struct owner *out)
{
    struct m2_error err;
    bool locked = false;

    assert_ok(owner_read(f->dirfd, out, &locked, &err), &err);
    return locked;
}

static void facts_are_read_as_written(void **state)
{
    struct fixture *f = *state;
    struct owner owner;

    assert_true(read_owner(f, &owner));
    assert_string_equal(owner.host, f->owner.host);
    assert_string_equal(owner.boot_id, f->owner.boot_id);
    assert_string_equal(owner.token, f->owner.token);
    assert_int_equal(strlen(owner.token), OWNER_TOKEN_LENGTH);
    assert_int_equal(owner.pid, getpid());
    assert_int_equal(owner.start_ns, f->owner.start_ns);
    assert_int_equal(owner.heartbeat, 0);
}

static void tokens_differ(void **state)
{
    const struct fixture *f = *state;
    struct owner other;
    struct m2_error err;

    assert_ok(owner_self(&other, &err), &err);
    assert_string_not_equal(other.token, f->owner.token);
}

static void on_one_boot_the_lock_alone_decides(void **state)
{
    struct fixture *f = *state;
    struct owner_watch watch = {0};
    struct owner owner;

    assert_int_equal(owner_judge(&owner, read_owner(f, &owner), &watch),
                     OWNER_ALIVE);
    let_go(f);
    assert_int_equal(owner_judge(&owner, read_owner(f, &owner), &watch),
                     OWNER_DEAD);
    assert_int_equal(owner_judge(&owner, false, NULL), OWNER_DEAD);
}

static void the_lock_dies_with_its_process(void **state)
{
    struct fixture *f = *state;
    char *dir = unit_make_dir();
    int dirfd = open(dir, O_RDONLY | O_DIRECTORY), fd, status;
    struct owner owner;
    struct m2_error err;
    bool locked;
    pid_t child;
    int ready[2];
    char byte;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        byte = owner_create(dirfd, &f->owner, &fd, &err) == 0 ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_ok(owner_read(dirfd, &owner, &locked, &err), &err);
    assert_true(locked);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    assert_ok(owner_read(dirfd, &owner, &locked, &err), &err);
    assert_false(locked);
    close(ready[0]);
    close(ready[1]);
    close(dirfd);
    unit_remove_dir(dir);
}

static void a_heartbeat_changes_the_count_and_not_the_length(void **state)
{
    struct fixture *f = *state;
    struct owner owner;
    struct stat before, after;
    struct m2_error err;

    assert_int_equal(fstat(f->fd, &before), 0);
    for (int i = 0; i < 12; i++)
        assert_ok(owner_beat(f->fd, &f->owner, &err), &err);
    assert_int_equal(fstat(f->fd, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_true(read_owner(f, &owner));
    assert_int_equal(owner.heartbeat, 12);
}

/* The lock is free, the file is of another boot. */
static void make_foreign(struct fixture *f, struct owner *owner)
{
    let_go(f);
    read_owner(f, owner);
    setenv("M2RUN_BOOT_ID", "another boot", 1);
}

static void another_boot_is_dead_after_a_minute_of_silence(void **state)
{
    struct owner owner;
    struct owner_watch watch = {0};

    make_foreign(*state, &owner);
    assert_int_equal(owner_judge(&owner, false, &watch), OWNER_UNSURE);
    assert_string_equal(watch.token, owner.token);
    watch.since_s -= OWNER_SILENCE_S - 1;
    assert_int_equal(owner_judge(&owner, false, &watch), OWNER_UNSURE);
    watch.since_s -= 1;
    assert_int_equal(owner_judge(&owner, false, &watch), OWNER_DEAD);
}

static void a_heartbeat_begins_the_silence_anew(void **state)
{
    struct owner owner;
    struct owner_watch watch = {0};

    make_foreign(*state, &owner);
    owner_judge(&owner, false, &watch);
    watch.since_s -= 2 * OWNER_SILENCE_S;
    owner.heartbeat++;
    assert_int_equal(owner_judge(&owner, false, &watch), OWNER_UNSURE);
    watch.since_s -= 2 * OWNER_SILENCE_S;
    owner.token[0] ^= 1; /* another attempt with the same count */
    assert_int_equal(owner_judge(&owner, false, &watch), OWNER_UNSURE);
}

static void another_boot_without_a_watch_is_never_dead(void **state)
{
    struct owner owner;

    make_foreign(*state, &owner);
    assert_int_equal(owner_judge(&owner, false, NULL), OWNER_UNSURE);
    assert_int_equal(owner_judge(&owner, true, NULL), OWNER_ALIVE);
}

static void a_file_that_is_there_is_not_taken(void **state)
{
    struct fixture *f = *state;
    struct m2_error err;
    int fd;

    assert_fails(owner_create(f->dirfd, &f->owner, &fd, &err), M2_E_RESULTS,
                 "owner.json: File exists", &err);
}

static void a_missing_or_damaged_file_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct owner owner;
    struct m2_error err;
    bool locked;

    let_go(f);
    unit_write(unit_path(f->dir, "owner.json"), "{\"host\": \"a");
    assert_fails(owner_read(f->dirfd, &owner, &locked, &err), M2_E_RESULTS,
                 "owner.json: damaged: ", &err);
    unlinkat(f->dirfd, "owner.json", 0);
    assert_fails(owner_read(f->dirfd, &owner, &locked, &err), M2_E_RESULTS,
                 "owner.json: cannot open: No such file", &err);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(facts_are_read_as_written),
        TEST(tokens_differ),
        TEST(on_one_boot_the_lock_alone_decides),
        TEST(the_lock_dies_with_its_process),
        TEST(a_heartbeat_changes_the_count_and_not_the_length),
        TEST(another_boot_is_dead_after_a_minute_of_silence),
        TEST(a_heartbeat_begins_the_silence_anew),
        TEST(another_boot_without_a_watch_is_never_dead),
        TEST(a_file_that_is_there_is_not_taken),
        TEST(a_missing_or_damaged_file_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
