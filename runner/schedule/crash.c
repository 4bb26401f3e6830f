/* Publishing for a worker that no longer can. */
#include "schedule/crash.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "results/attempt.h"
#include "results/listing.h"
#include "util/file.h"
#include "util/json.h"
#include "util/path.h"
#include "util/timefmt.h"

#define LAST_FILE "checkpoints/last.safetensors"
#define LOG_FILE  "log.txt"
#define LOG_LIMIT ((size_t)1 << 28)

/* The newest attempt that has such a file, or NULL: the last one may have died
 * before it had taken over anything. */
static const char *newest_with(const struct attempt *attempt, const char *name)
{
    for (char *const *dir = attempt_earlier(attempt); *dir != NULL; dir++) {
        char *path = path_join(*dir, name, NULL);
        bool found = path != NULL && file_exists(path);

        free(path);
        if (found)
            return *dir;
    }
    return NULL;
}

static int copy_newest(const struct attempt *attempt, const char *name,
                       struct m2_error *err)
{
    const char *from = newest_with(attempt, name);

    return from != NULL ? attempt_copy_file(attempt, from, name, err) : 0;
}

/* Rows and checkpoints belong together. */
static int copy_computed(const struct attempt *attempt, struct m2_error *err)
{
    static const char *const names[] = {"metrics.csv", "timing.csv", LAST_FILE,
                                        "checkpoints/best.safetensors"};
    const struct file_at dir = attempt_file(attempt, "checkpoints");
    const char *from = newest_with(attempt, LAST_FILE);
    int code = file_make_dir_at(&dir, M2_E_RESULTS, err);

    if (from == NULL)
        from = newest_with(attempt, "metrics.csv");
    for (size_t i = 0;
         code == 0 && from != NULL && i < sizeof names / sizeof *names; i++)
        code = attempt_copy_file(attempt, from, names[i], err);
    return code;
}

static int copy_files(const struct attempt *attempt, struct m2_error *err)
{
    int code = copy_newest(attempt, "config.yaml", err);

    if (code == 0)
        code = copy_newest(attempt, LOG_FILE, err);
    return code != 0 ? code : copy_computed(attempt, err);
}

/* Appends those of the lines that the log does not have. */
static void add_new_lines(struct text *log, const char *words)
{
    struct text line = {0};

    while (*words != '\0') {
        size_t length = strcspn(words, "\n");

        text_clear(&line);
        text_add_bytes(&line, words, length);
        if (length > 0 && strstr(text_string(log), text_string(&line)) == NULL)
            text_addf(log, "%s\n", text_string(&line));
        words += length + (words[length] == '\n');
    }
    text_free(&line);
}

/* What the dead worker wrote past its log: an assertion, a sanitizer's report,
 * the loader's complaint. */
static int add_last_words(const struct attempt *attempt, const char *words,
                          struct m2_error *err)
{
    const struct file_at file = attempt_file(attempt, LOG_FILE);
    char *path = path_join(attempt_path(attempt), LOG_FILE, err);
    struct text log = {0};
    size_t before;
    int code = path == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_exists(path))
        code = file_read(path, LOG_LIMIT, M2_E_RESULTS, &log, err);
    before = log.length;
    add_new_lines(&log, words);
    if (code == 0)
        code = text_check(&log, err);
    if (code == 0 && log.length > before)
        code = file_write_at(&file, text_string(&log), log.length, M2_E_RESULTS,
                             err);
    text_free(&log);
    free(path);
    return code;
}

/* The dead attempt's record with the new end; a minimal one when it had none
 * yet. */
static json_t *failed_record(const char *dead, const struct run_place *place,
                             const struct attempt *attempt, const char *reason)
{
    struct run_entry entry;
    char now[TIME_TEXT_SIZE], run[RUN_NAME_SIZE];
    json_t *record = NULL;

    if (dead != NULL && run_entry_load(dead, &entry, NULL) == 0) {
        record = json_incref(entry.record);
        run_entry_free(&entry);
    }
    time_print(time_now(), now);
    run_name_print(attempt_label(attempt), place->identity, run);
    if (record == NULL)
        record = json_pack("{s:i, s:s, s:s, s:s, s:s}", "schema", 1, "name",
                           place->name, "run", run, "identity", place->identity,
                           "started", now);
    if (record == NULL)
        return NULL;
    if (json_object_set_new(record, "state", json_string("failed")) != 0 ||
        json_object_set_new(record, "reason", json_any_text(reason)) != 0 ||
        json_object_set_new(record, "finished", json_string(now)) != 0 ||
        json_object_set_new(record, "token",
                            json_string(attempt_owner(attempt)->token)) != 0) {
        json_decref(record);
        return NULL;
    }
    return record;
}

int crash_publish(const struct run_place *place, const struct crash *crash,
                  char **path_out, struct m2_error *err)
{
    struct claim_request request = {.place = *place};
    struct attempt *attempt = NULL;
    enum claim claim;
    json_t *record;
    bool won;
    int code = attempt_claim(&request, &claim, &attempt, path_out, err);

    if (code != 0 || claim != CLAIM_OWNED)
        return code;
    record = failed_record(newest_with(attempt, "run.json"), place, attempt,
                           crash->reason);
    if (record == NULL)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    if (code == 0)
        code = copy_files(attempt, err);
    if (code == 0)
        code = add_last_words(attempt, crash->last_words, err);
    if (code == 0)
        code = attempt_write_record(attempt, record, err);
    json_decref(record);
    if (code != 0) {
        attempt_discard(attempt); /* copies, all of it */
        return code;
    }
    return attempt_publish(attempt, &won, path_out, err);
}
