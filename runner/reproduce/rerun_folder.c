/* RUN.repro-K: found, made, finished. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reproduce/rerun_private.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/sha256.h"

#define SUFFIX      ".repro-"
#define BEGUN_FILE  "begun.txt"
#define BEGUN_LIMIT ((size_t)1 << 26)
#define MAX_FOLDERS 10000

/* The folder that RUN.repro-K is in, and what it is called up to K. */
struct beside {
    char *dir, *prefix;
};

static void beside_free(struct beside *beside)
{
    free(beside->dir);
    free(beside->prefix);
}

static int beside_find(const struct rerun_request *request, struct beside *out,
                       struct m2_error *err)
{
    struct text prefix = {0};
    int code = 0;

    *out = (struct beside){0};
    text_addf(&prefix, "%s" SUFFIX, path_basename(request->run));
    out->prefix = text_steal(&prefix, err);
    out->dir = request->into != NULL ? path_absolute(request->into, err)
                                     : path_dirname(request->run, err);
    if (out->prefix == NULL || out->dir == NULL)
        code = M2_E_MEMORY;
    else if (request->into != NULL)
        code = file_make_dirs(out->dir, M2_E_RESULTS, err);
    if (code != 0)
        beside_free(out);
    return code;
}

/* ---- what was begun ------------------------------------------------------ */

/* Program and request: only the same may go on where another has stopped. */
static int begun_text(const struct rerun_request *request, struct text *out,
                      struct m2_error *err)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    char *program = path_executable(err);
    int code = program == NULL ? M2_E_MEMORY
                               : sha256_file(program, M2_E_FAILED, digest, err);

    free(program);
    if (code != 0)
        return code;
    text_addf(out, "program %s\ncut after %lld\n%s", sha256_hex(digest, hex),
              (long long)request->cut_after, request->record);
    return text_check(out, err);
}

static bool was_begun(const char *work, const struct text *begun)
{
    char *path = path_join(work, BEGUN_FILE, NULL);
    struct text found = {0};
    bool same =
        path != NULL && file_exists(path) &&
        file_check_regular(path, M2_E_RESULTS, NULL) == 0 &&
        file_read(path, BEGUN_LIMIT, M2_E_RESULTS, &found, NULL) == 0 &&
        found.length == begun->length &&
        memcmp(text_string(&found), text_string(begun), found.length) == 0;

    text_free(&found);
    free(path);
    return same;
}

/* ---- leftovers ----------------------------------------------------------- */

static void note_alive(void *context, const struct owner *owner)
{
    bool *alive = context;

    (void)owner;
    *alive = true;
}

static bool is_worked_on(const char *work, const char *name)
{
    bool alive = false;

    return driver_each(work, name, note_alive, &alive, NULL) == 0 && alive;
}

/* One RUN.repro-K that is there: taken, or told. */
static int look_at(const struct rerun_request *request, const char *path,
                   const struct text *begun, struct rerun_folder *out,
                   struct m2_error *err)
{
    char *work = path_join(path, ".work", err);
    int code = work == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && !file_is_dir(work))
        log_info("left by an earlier reproduce: %s", path);
    else if (code == 0 && is_worked_on(work, request->name))
        log_info("another process works in %s", path);
    else if (code == 0 && out->path == NULL && was_begun(work, begun)) {
        out->path = memory_string(path, err);
        out->work = work;
        work = NULL;
        code = out->path == NULL ? M2_E_MEMORY : 0;
    } else if (code == 0)
        log_info("left unfinished, begun otherwise or by another program: %s",
                 path);
    free(work);
    return code;
}

static bool is_folder_name(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 && name[length] != '\0' &&
           strspn(name + length, "0123456789") == strlen(name + length);
}

static int look_around(const struct rerun_request *request,
                       const struct beside *beside, const struct text *begun,
                       struct rerun_folder *out, struct m2_error *err)
{
    struct string_list names = {0};
    int code = path_list(beside->dir, M2_E_RESULTS, &names, err);

    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path;

        if (!is_folder_name(names.items[i], beside->prefix))
            continue;
        path = path_join(beside->dir, names.items[i], err);
        code = path == NULL ? M2_E_MEMORY
                            : look_at(request, path, begun, out, err);
        free(path);
    }
    string_list_free(&names);
    return code;
}

/* ---- a new one ----------------------------------------------------------- */

/* mkdir succeeds for one process only: that is what makes the number ours. */
static int make_folder(const struct beside *beside, char **path_out,
                       struct m2_error *err)
{
    for (int k = 1; k <= MAX_FOLDERS; k++) {
        struct text path = {0};

        text_addf(&path, "%s/%s%d", beside->dir, beside->prefix, k);
        *path_out = text_steal(&path, err);
        if (*path_out == NULL)
            return M2_E_MEMORY;
        if (mkdir(*path_out, 0777) == 0)
            return 0;
        if (errno != EEXIST) {
            int code = m2_fail(err, M2_E_RESULTS,
                               "%s: cannot create: %s; --into DIR puts the new "
                               "run elsewhere",
                               *path_out, strerror(errno));

            free(*path_out);
            *path_out = NULL;
            return code;
        }
        free(*path_out);
        *path_out = NULL;
    }
    return m2_fail(err, M2_E_RESULTS, "%s/%s*: %d folders are left",
                   beside->dir, beside->prefix, MAX_FOLDERS);
}

/* Our mark is in it before it can be taken for one that was left. */
static int begin_folder(const struct beside *beside, const char *name,
                        const struct text *begun, struct rerun_folder *out,
                        struct m2_error *err)
{
    char *file = NULL;
    int code = make_folder(beside, &out->path, err);

    if (code == 0) {
        out->work = path_join(out->path, ".work", err);
        file = out->work != NULL ? path_join(out->work, BEGUN_FILE, err) : NULL;
        code = file == NULL ? M2_E_MEMORY
                            : file_make_dirs(out->work, M2_E_RESULTS, err);
    }
    if (code == 0)
        code = driver_begin(out->work, name, &out->driver, err);
    if (code == 0)
        code = file_write_atomic(file, begun->bytes, begun->length,
                                 M2_E_RESULTS, err);
    free(file);
    return code;
}

int rerun_folder_open(const struct rerun_request *request,
                      struct rerun_folder *out, struct m2_error *err)
{
    struct beside beside;
    struct text begun = {0};
    int code = beside_find(request, &beside, err);

    *out = (struct rerun_folder){0};
    if (code != 0)
        return code;
    code = begun_text(request, &begun, err);
    if (code == 0)
        code = look_around(request, &beside, &begun, out, err);
    if (code == 0 && out->path != NULL) {
        log_info("going on in %s, where an earlier reproduce has stopped",
                 out->path);
        code = driver_begin(out->work, request->name, &out->driver, err);
    } else if (code == 0) {
        code = begin_folder(&beside, request->name, &begun, out, err);
    }
    text_free(&begun);
    beside_free(&beside);
    return code;
}

void rerun_folder_close(struct rerun_folder *folder)
{
    driver_end(folder->driver);
    free(folder->path);
    free(folder->work);
}

/* ---- the end ------------------------------------------------------------- */

static int move_file(const char *from_dir, const char *to_dir, const char *name,
                     struct m2_error *err)
{
    char *from = path_join(from_dir, name, err);
    char *to = path_join(to_dir, name, err);
    int code = from == NULL || to == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && rename(from, to) != 0)
        code = m2_fail(err, M2_E_RESULTS, "%s: cannot move to %s: %s", from,
                       to_dir, strerror(errno));
    free(from);
    free(to);
    return code;
}

int rerun_folder_finish(struct rerun_folder *folder, const char *dir,
                        struct m2_error *err)
{
    struct string_list names = {0};
    char *traces = path_join(folder->work, TRACE_FILE, err);
    int code = traces == NULL ? M2_E_MEMORY
                              : path_list(dir, M2_E_RESULTS, &names, err);

    for (size_t i = 0; code == 0 && i < names.count; i++)
        if (strcmp(names.items[i], "owner.json") != 0)
            code = move_file(dir, folder->path, names.items[i], err);
    if (code == 0 && file_exists(traces))
        code = move_file(folder->work, folder->path, TRACE_FILE, err);
    if (code == 0) {
        driver_end(folder->driver);
        folder->driver = NULL;
        code = file_remove_tree(folder->work, M2_E_RESULTS, err);
    }
    string_list_free(&names);
    free(traces);
    return code;
}
