/* Two results folders that must hold the same runs, once each. */
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/chaos/chaos.h"
#include "util/file.h"
#include "util/path.h"

#define LIMIT    ((size_t)1 << 26)
#define MAX_RUNS 256

static void join(char out[CHAOS_PATH], const char *dir, const char *name)
{
    snprintf(out, CHAOS_PATH, "%.700s/%.300s", dir, name);
}

/* A folder, which is no sweep-*.yaml and not hidden, is a run. */
static bool is_run(const char *name)
{
    return name[0] != '.' && strncmp(name, "sweep-", 6) != 0;
}

/* ---- published once ------------------------------------------------------ */

/* The folders seen so far: one that was published again is another one. */
static struct {
    char name[300];
    ino_t inode;
} seen[MAX_RUNS];
static int n_seen;

static bool is_another(const char *name, ino_t inode)
{
    for (int i = 0; i < n_seen; i++)
        if (strcmp(seen[i].name, name) == 0)
            return seen[i].inode != inode;
    if (n_seen < MAX_RUNS) {
        snprintf(seen[n_seen].name, sizeof seen[n_seen].name, "%s", name);
        seen[n_seen++].inode = inode;
    }
    return false;
}

bool chaos_published_again(const char *dir)
{
    char experiment[CHAOS_PATH];
    const struct dirent *entry;
    bool again = false;
    DIR *names;

    join(experiment, dir, "chaos");
    names = opendir(experiment);
    while (names != NULL && !again && (entry = readdir(names)) != NULL)
        again =
            is_run(entry->d_name) && is_another(entry->d_name, entry->d_ino);
    if (names != NULL)
        closedir(names);
    if (again)
        printf("chaos: a run was published twice\n");
    return again;
}

/* ---- the same bytes ------------------------------------------------------ */

static bool same_file(const char *whole, const char *other, const char *name)
{
    char left[CHAOS_PATH], right[CHAOS_PATH];
    struct text a = {0}, b = {0};
    bool same;

    join(left, whole, name);
    join(right, other, name);
    same = file_read(left, LIMIT, M2_E_RESULTS, &a, NULL) == 0 &&
           file_read(right, LIMIT, M2_E_RESULTS, &b, NULL) == 0 &&
           a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
    text_free(&a);
    text_free(&b);
    if (!same)
        printf("chaos: %s is missing, or differs from %s\n", right, left);
    return same;
}

/* Published as done; counts its attempts. */
static bool check_record(const char *run, struct chaos_counts *counts)
{
    char path[CHAOS_PATH];
    json_t *record;
    const char *state;
    bool done;

    join(path, run, "run.json");
    record = json_load_file(path, 0, NULL);
    state = json_string_value(json_object_get(record, "state"));
    done = state != NULL && strcmp(state, "done") == 0;
    counts->attempts +=
        (long)json_array_size(json_object_get(record, "attempts"));
    if (!done)
        printf("chaos: %s: the state is %s\n", path,
               state != NULL ? state : "unknown");
    json_decref(record);
    join(path, run, "owner.json");
    if (file_exists(path))
        printf("chaos: %s was left\n", path);
    return done && !file_exists(path);
}

static bool same_run(const char *whole, const char *other,
                     struct chaos_counts *counts)
{
    bool same = same_file(whole, other, "metrics.csv");

    same = same_file(whole, other, "checkpoints/last.safetensors") && same;
    same = same_file(whole, other, "checkpoints/best.safetensors") && same;
    return check_record(other, counts) && same;
}

static bool nothing_left(const char *experiment)
{
    struct string_list names = {0};
    char active[CHAOS_PATH];
    bool nothing;

    join(active, experiment, ".active");
    nothing =
        path_list(active, M2_E_RESULTS, &names, NULL) == 0 && names.count == 0;
    for (size_t i = 0; i < names.count; i++)
        printf("chaos: %s/%s was left\n", active, names.items[i]);
    string_list_free(&names);
    return nothing;
}

bool chaos_compare(const char *whole, const char *chaos,
                   struct chaos_counts *counts)
{
    struct string_list expected = {0}, found = {0};
    char left[CHAOS_PATH], right[CHAOS_PATH];
    bool same;

    join(left, whole, "chaos");
    join(right, chaos, "chaos");
    same = path_list(left, M2_E_RESULTS, &expected, NULL) == 0 &&
           path_list(right, M2_E_RESULTS, &found, NULL) == 0 &&
           expected.count == found.count;
    if (!same)
        printf("chaos: %zu names in %s, %zu in %s\n", expected.count, left,
               found.count, right);
    for (size_t i = 0; i < expected.count; i++) {
        char run[CHAOS_PATH], other[CHAOS_PATH];

        if (!is_run(expected.items[i]))
            continue;
        join(run, left, expected.items[i]);
        join(other, right, expected.items[i]);
        same = same_run(run, other, counts) && same;
    }
    for (size_t i = 0; i < found.count; i++)
        counts->published += is_run(found.items[i]);
    same = nothing_left(right) && same;
    string_list_free(&expected);
    string_list_free(&found);
    return same;
}
