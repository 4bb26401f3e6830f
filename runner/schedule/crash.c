/* Publishing for a worker that no longer can. */
#include "schedule/crash.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "results/attempt.h"
#include "results/listing.h"
#include "util/file.h"
#include "util/path.h"
#include "util/timefmt.h"

#define COPY_LIMIT ((size_t)1 << 30)

static int copy_file(const char *from_dir, const char *to_dir, const char *name,
                     struct m2_error *err)
{
    struct text bytes = {0};
    char *from = path_join(from_dir, name, err);
    char *to = path_join(to_dir, name, err);
    int code = from == NULL || to == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_exists(from)) {
        code = file_read(from, COPY_LIMIT, M2_E_RESULTS, &bytes, err);
        if (code == 0)
            code = file_write_atomic(to, text_string(&bytes), bytes.length,
                                     M2_E_RESULTS, err);
    }
    text_free(&bytes);
    free(from);
    free(to);
    return code;
}

static int copy_files(const char *from, const char *to, struct m2_error *err)
{
    static const char *const names[] = {"config.yaml", "metrics.csv",
                                        "timing.csv", "log.txt"};
    int code = 0;

    for (size_t i = 0; code == 0 && i < sizeof names / sizeof *names; i++)
        code = copy_file(from, to, names[i], err);
    return code;
}

/* The dead attempt's record with the new end; a minimal one when it had none
 * yet. */
static json_t *failed_record(const char *dead, const struct run_place *place,
                             const struct attempt *attempt, const char *reason)
{
    struct run_entry entry;
    char now[TIME_TEXT_SIZE];
    json_t *record = NULL;

    if (dead != NULL && run_entry_load(dead, &entry, NULL) == 0) {
        record = json_incref(entry.record);
        run_entry_free(&entry);
    }
    if (record == NULL)
        record = json_pack("{s:i, s:s, s:s}", "schema", 1, "name", place->name,
                           "identity", place->identity);
    if (record == NULL)
        return NULL;
    time_print(time_now(), now);
    json_object_set_new(record, "state", json_string("failed"));
    json_object_set_new(record, "reason", json_string(reason));
    json_object_set_new(record, "finished", json_string(now));
    json_object_set_new(record, "token",
                        json_string(attempt_owner(attempt)->token));
    return record;
}

int crash_publish(const struct run_place *place, const char *reason,
                  char **path_out, struct m2_error *err)
{
    struct claim_request request = {.place = *place};
    struct attempt *attempt = NULL;
    enum claim claim;
    json_t *record;
    const char *dead;
    bool won;
    int code = attempt_claim(&request, &claim, &attempt, path_out, err);

    if (code != 0 || claim != CLAIM_OWNED)
        return code;
    dead = attempt_earlier(attempt)[0];
    record = failed_record(dead, place, attempt, reason);
    if (record == NULL)
        code = m2_fail(err, M2_E_MEMORY, "out of memory");
    if (code == 0 && dead != NULL)
        code = copy_files(dead, attempt_path(attempt), err);
    if (code == 0)
        code = attempt_write_record(attempt, record, err);
    json_decref(record);
    if (code != 0) {
        attempt_release(attempt);
        return code;
    }
    return attempt_publish(attempt, &won, path_out, err);
}
