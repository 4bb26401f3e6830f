/* The newest valid checkpoint of the earlier attempts. */
#include "train/resume.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/csvlog.h"
#include "results/listing.h"
#include "util/file.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"

#define BEST_FILE "checkpoints/best.safetensors"

void resume_free(struct resume_point *point)
{
    if (point->found)
        st_free(&point->file);
    free(point->dir);
    free(point->started);
    json_decref(point->attempts);
    *point = (struct resume_point){0};
}

/* Do these bytes end with a row of a metrics.csv? */
static bool are_rows(const char *bytes, size_t size)
{
    struct csv_table table;
    bool found;

    if (size == 0 || bytes[size - 1] != '\n' ||
        csv_table_parse("metrics.csv", bytes, size, &table, NULL) != 0)
        return false;
    found = csv_table_column(&table, "step") == 0 &&
            csv_table_column(&table, "trace") == (int)table.n_columns - 1;
    csv_table_free(&table);
    return found;
}

/* Do the rows that belong to the checkpoint exist?  A process that died while
 * it copied them leaves a folder with a checkpoint and no rows. */
static bool has_rows(const char *dir, const struct train_state *state)
{
    char *path = path_join(dir, "metrics.csv", NULL);
    struct text text = {0};
    bool found =
        path != NULL && state->metrics_bytes >= 0 &&
        file_check_regular(path, M2_E_RESULTS, NULL) == 0 &&
        file_read(path, (size_t)1 << 30, M2_E_RESULTS, &text, NULL) == 0 &&
        text.length >= (size_t)state->metrics_bytes &&
        are_rows(text_string(&text), (size_t)state->metrics_bytes);

    text_free(&text);
    free(path);
    return found;
}

/* Is the best checkpoint the one of the state's best step? */
static bool has_best(const struct resume_request *request, const char *dir,
                     const struct train_state *state)
{
    char *path = path_join(dir, BEST_FILE, NULL);
    struct train_state best;
    struct st_file file;
    bool found = state->best_step == 0 || !request->needs_best;

    if (!found && path != NULL &&
        checkpoint_read(path, request->identity, &file, &best, NULL) == 0) {
        found = best.step == state->best_step;
        st_free(&file);
    }
    free(path);
    return found;
}

/* Why a checkpoint cannot be gone on from, or NULL. */
static const char *find_fault(const struct resume_request *request,
                              const char *dir, const struct train_state *state)
{
    if (!has_rows(dir, state))
        return "metrics.csv lacks rows that belong to it";
    if (!has_best(request, dir, state))
        return "its best checkpoint is missing or damaged";
    return NULL;
}

/* Takes the checkpoint at `path` if it can be used and is further than what
 * was found before. */
static int consider(const struct resume_request *request, const char *dir,
                    const char *path, struct resume_point *point,
                    struct m2_error *err)
{
    struct train_state state;
    struct st_file file;
    struct m2_error cause;
    const char *fault;
    int code;

    code = checkpoint_read(path, request->identity, &file, &state, &cause);
    if (code == M2_E_MEMORY)
        return m2_fail(err, code, "%s", cause.text);
    if (code != 0) {
        log_warning("%s; trying an earlier checkpoint", cause.text);
        return 0;
    }
    if (point->found && state.step <= point->resume.state.step) {
        st_free(&file);
        return 0;
    }
    fault = find_fault(request, dir, &state);
    if (fault != NULL) {
        log_warning("%s: %s; trying an earlier checkpoint", path, fault);
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

/* The best one may be the newer one, when the process died after it. */
static int consider_attempt(const struct resume_request *request,
                            const char *dir, struct resume_point *point,
                            struct m2_error *err)
{
    static const char *const names[] = {BEST_FILE,
                                        "checkpoints/last.safetensors"};
    int code = 0;

    for (size_t i = 0; code == 0 && i < 2; i++) {
        char *path = path_join(dir, names[i], err);

        if (path == NULL)
            code = M2_E_MEMORY;
        else if (file_exists(path))
            code = consider(request, dir, path, point, err);
        free(path);
    }
    return code;
}

static int check_numerics(const struct resume_request *request,
                          const struct resume_point *point,
                          struct m2_error *err)
{
    const char *found = st_metadata(&point->file, "m2run.numerics");

    if (found == NULL || strcmp(found, request->numerics) == 0)
        return 0;
    if (request->mixed) {
        log_warning("%s was computed by '%s', the rest will be by '%s': the "
                    "run is recorded as mixed",
                    point->file.path, found, request->numerics);
        return 0;
    }
    return m2_fail(err, M2_E_RESULTS,
                   "%s was computed by '%s', this process computes by '%s': "
                   "the bits would not be those of one machine; --mixed "
                   "accepts that",
                   point->file.path, found, request->numerics);
}

/* On a full disk what lies in the way is what no attempt goes on from. */
static int copy_best(const struct attempt *attempt, const char *dir,
                     struct m2_error *err)
{
    int code = attempt_copy_file(attempt, dir, BEST_FILE, err);

    if (code == M2_E_RESULTS && (errno == ENOSPC || errno == EDQUOT) &&
        attempt_prune(attempt, dir))
        code = attempt_copy_file(attempt, dir, BEST_FILE, err);
    return code;
}

static int go_on(const struct resume_request *request,
                 struct resume_point *point, struct m2_error *err)
{
    int code = copy_best(request->attempt, point->dir, err);

    if (code != 0)
        return code;
    point->resume.file = &point->file;
    point->resume.dir = point->dir;
    point->attempt = atoi(path_basename(point->dir));
    log_info("going on from step %" PRId64 " (attempt %s)",
             point->resume.state.step, path_basename(point->dir));
    return 0;
}

/* What an attempt knew of itself and those before it; *known_out: it had got
 * as far as writing that down. */
static int take_history(struct resume_point *point, const char *dir,
                        bool *known_out, struct m2_error *err)
{
    struct run_entry entry;
    const char *started;
    int code = run_entry_load(dir, &entry, err);

    if (code != 0)
        return code;
    started = json_string_value(run_value(&entry, NULL, "started"));
    *known_out = started != NULL;
    if (started != NULL) {
        point->attempts = json_incref(run_value(&entry, NULL, "attempts"));
        point->started = memory_string(started, err);
        code = point->started == NULL ? M2_E_MEMORY : 0;
    }
    run_entry_free(&entry);
    return code;
}

int resume_history(const struct attempt *attempt, struct resume_point *out,
                   struct m2_error *err)
{
    bool known = false;
    int code = 0;

    *out = (struct resume_point){0};
    for (char *const *dir = attempt_earlier(attempt);
         code == 0 && !known && *dir != NULL; dir++)
        code = take_history(out, *dir, &known, err);
    return code;
}

/* What to go on from, if it may be gone on from. */
static int choose(const struct resume_request *request, char *const *folders,
                  struct resume_point *point, struct m2_error *err)
{
    int code = 0;

    for (char *const *dir = folders; code == 0 && *dir != NULL; dir++)
        code = consider_attempt(request, *dir, point, err);
    return code == 0 && point->found ? check_numerics(request, point, err)
                                     : code;
}

int resume_find(const struct resume_request *request, struct resume_point *out,
                struct m2_error *err)
{
    int code = choose(request, attempt_earlier(request->attempt), out, err);

    return code == 0 && out->found ? go_on(request, out, err) : code;
}

int resume_check(const struct resume_request *request, const char *active,
                 struct m2_error *err)
{
    struct resume_point point = {0};
    char **folders = NULL;
    int code = attempt_list_folders(active, &folders, err);

    if (code == 0)
        code = choose(request, folders, &point, err);
    attempt_free_folders(folders);
    resume_free(&point);
    return code;
}
