/* The newest valid checkpoint of the earlier attempts. */
#include "train/resume.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/listing.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"

#define COPY_LIMIT ((size_t)16 << 30)

void resume_free(struct resume_point *point)
{
    if (point->found)
        st_free(&point->file);
    free(point->dir);
    free(point->started);
    json_decref(point->attempts);
    *point = (struct resume_point){0};
}

/* Takes the checkpoint at `path` if it is valid and further than what was
 * found before. */
static int consider(struct resume_point *point, const char *dir,
                    const char *path, const char *identity,
                    struct m2_error *err)
{
    struct train_state state;
    struct st_file file;
    struct m2_error cause;

    if (!file_exists(path))
        return 0;
    if (checkpoint_read(path, identity, &file, &state, &cause) != 0) {
        log_warning("%s; trying an earlier checkpoint", cause.text);
        return 0;
    }
    if (point->found && state.step <= point->resume.state.step) {
        st_free(&file);
        return 0;
    }
    if (point->found)
        st_free(&point->file);
    free(point->dir);
    point->dir = memory_string(dir, err);
    point->file = file;
    point->found = true;
    point->resume.state = state;
    return point->dir == NULL ? M2_E_MEMORY : 0;
}

static int consider_attempt(struct resume_point *point, const char *dir,
                            const char *identity, struct m2_error *err)
{
    static const char *const names[] = {"checkpoints/last.safetensors",
                                        "checkpoints/best.safetensors"};
    int code = 0;

    for (size_t i = 0; code == 0 && i < 2; i++) {
        char *path = path_join(dir, names[i], err);

        code = path == NULL ? M2_E_MEMORY
                            : consider(point, dir, path, identity, err);
        free(path);
    }
    return code;
}

/* What the newest earlier attempt knew of itself and those before it. */
static int take_history(struct resume_point *point, const char *dir,
                        struct m2_error *err)
{
    struct run_entry entry;
    const char *started;
    int code = run_entry_load(dir, &entry, err);

    if (code != 0)
        return code;
    point->attempts =
        json_incref((json_t *)(uintptr_t)run_value(&entry, NULL, "attempts"));
    started = json_string_value(run_value(&entry, NULL, "started"));
    if (started != NULL)
        point->started = memory_string(started, err);
    run_entry_free(&entry);
    return 0;
}

static int copy_file(const char *from_dir, const char *to_dir, const char *name,
                     struct m2_error *err)
{
    struct text bytes = {0};
    char *from = path_join(from_dir, name, err);
    char *to = path_join(to_dir, name, err);
    int code = from == NULL || to == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_exists(from))
        code = file_read(from, COPY_LIMIT, M2_E_RESULTS, &bytes, err);
    if (code == 0 && bytes.length > 0)
        code =
            file_write_atomic(to, bytes.bytes, bytes.length, M2_E_RESULTS, err);
    text_free(&bytes);
    free(from);
    free(to);
    return code;
}

static int check_numerics(const struct resume_point *point,
                          const char *numerics, bool mixed,
                          struct m2_error *err)
{
    const char *found = st_metadata(&point->file, "m2run.numerics");

    if (mixed || found == NULL || strcmp(found, numerics) == 0)
        return 0;
    return m2_fail(err, M2_E_RESULTS,
                   "%s was computed by '%s', this process computes by '%s': "
                   "the bits would not be those of one machine; --mixed "
                   "accepts that",
                   point->file.path, found, numerics);
}

int resume_find(const struct attempt *attempt, const char *identity,
                const char *numerics, bool mixed, struct resume_point *out,
                struct m2_error *err)
{
    char *const *earlier = attempt_earlier(attempt);
    int code = 0;

    *out = (struct resume_point){0};
    for (char *const *dir = earlier; code == 0 && *dir != NULL; dir++)
        code = consider_attempt(out, *dir, identity, err);
    if (code == 0 && earlier[0] != NULL)
        code = take_history(out, earlier[0], err);
    if (code == 0 && out->found) {
        code = check_numerics(out, numerics, mixed, err);
        if (code == 0)
            code = copy_file(out->dir, attempt_path(attempt),
                             "checkpoints/best.safetensors", err);
    }
    if (code == 0 && out->found) {
        out->resume.file = &out->file;
        out->resume.dir = out->dir;
        log_info("going on from step %" PRId64 " (attempt %d)",
                 out->resume.state.step, attempt_number(attempt) - 1);
    }
    if (code != 0)
        resume_free(out);
    return code;
}
