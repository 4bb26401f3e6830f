/* Marks of the processes that work an experiment. */
#include "results/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"

#define DRIVER_PREFIX ".driver-"
#define MAX_TRIES     3

struct driver {
    char *path;
    int dirfd, owner_fd;
    struct owner owner;
};

void driver_end(struct driver *driver)
{
    if (driver == NULL)
        return;
    if (driver->path != NULL)
        file_remove_tree(driver->path, M2_E_RESULTS, NULL);
    if (driver->owner_fd >= 0)
        close(driver->owner_fd);
    if (driver->dirfd >= 0)
        close(driver->dirfd);
    free(driver->path);
    free(driver);
}

static int make_mark(struct driver *driver, struct m2_error *err)
{
    struct m2_error cause;
    int code = file_make_dirs(driver->path, M2_E_RESULTS, err);

    if (code != 0)
        return code;
    driver->dirfd = open(driver->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (driver->dirfd < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: cannot open: %s", driver->path,
                       strerror(errno));
    code =
        owner_create(driver->dirfd, &driver->owner, &driver->owner_fd, &cause);
    if (code != 0) {
        m2_fail(err, code, "%s/%s", driver->path, cause.text);
        close(driver->dirfd);
        driver->dirfd = -1;
    }
    return code;
}

/* Until there is an owner in it, others take our folder for one of a driver
 * that was killed, and remove it. */
static int make_mark_soon(struct driver *driver, const char *root,
                          const char *name, struct m2_error *err)
{
    struct text text = {0};
    int code = owner_self(&driver->owner, err);

    if (code != 0)
        return code;
    text_addf(&text, "%s/%s/.active/" DRIVER_PREFIX "%s", root, name,
              driver->owner.token);
    driver->path = text_steal(&text, err);
    if (driver->path == NULL)
        return M2_E_MEMORY;
    code = M2_E_RESULTS;
    for (int tries = 0; code == M2_E_RESULTS && tries < MAX_TRIES; tries++)
        code = make_mark(driver, err);
    return code;
}

struct visit {
    void (*visit)(void *context, const struct owner *owner);
    void *context;
};

static void look_at(const char *path, const struct visit *visit)
{
    struct owner owner;
    bool locked = false;
    int dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dirfd < 0)
        return;
    if (owner_read(dirfd, &owner, &locked, NULL) == 0) {
        enum owner_state state = owner_judge(&owner, locked, NULL);

        if (state == OWNER_ALIVE && visit->visit != NULL)
            visit->visit(visit->context, &owner);
        else if (state == OWNER_DEAD)
            file_remove_tree(path, M2_E_RESULTS, NULL);
    } else if (!locked) { /* killed before it had an owner, or after */
        file_remove_tree(path, M2_E_RESULTS, NULL);
    }
    close(dirfd);
}

int driver_each(const char *root, const char *name,
                void (*visit)(void *context, const struct owner *owner),
                void *context, struct m2_error *err)
{
    const struct visit each = {visit, context};
    struct string_list names = {0};
    struct text dir = {0};
    int code = 0;

    text_addf(&dir, "%s/%s/.active", root, name);
    if (file_is_dir(text_string(&dir)))
        code = path_list(text_string(&dir), M2_E_RESULTS, &names, err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path;

        if (strncmp(names.items[i], DRIVER_PREFIX, strlen(DRIVER_PREFIX)) != 0)
            continue;
        path = path_join(text_string(&dir), names.items[i], err);
        if (path == NULL)
            code = M2_E_MEMORY;
        else
            look_at(path, &each);
        free(path);
    }
    string_list_free(&names);
    text_free(&dir);
    return code;
}

int driver_begin(const char *root, const char *name, struct driver **out,
                 struct m2_error *err)
{
    struct driver *driver = memory_zeroed(1, sizeof *driver, err);
    int code;

    if (driver == NULL)
        return M2_E_MEMORY;
    driver->dirfd = driver->owner_fd = -1;
    code = make_mark_soon(driver, root, name, err);
    if (code == 0)
        code = driver_each(root, name, NULL, NULL, err);
    if (code != 0) {
        driver_end(driver);
        return code;
    }
    *out = driver;
    return 0;
}
