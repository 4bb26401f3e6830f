/* Every run of a results folder: the directories are the only truth. */
#include "results/listing.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "results/record_reader.h"
#include "results/store.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"

/* More threads only wait for each other's memory; a few runs need one. */
enum { MAX_THREADS = 8, RUNS_PER_THREAD = 256 };

void run_list_free(struct run_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        run_entry_free(&list->entries[i]);
    free(list->entries);
    *list = (struct run_list){0};
}

/* ---- which runs there are ------------------------------------------------ */

struct loading {
    struct run_list *list;
    size_t capacity;
    bool unfinished_only;
    struct m2_error *err;
};

/* Adds a run, its record not yet read; the folder's own name and place win over
 * what run.json says, so that a copied results folder lists what is seen in
 * it. */
static int add_run(struct loading *loading, const char *path,
                   const char *experiment, const char *run, bool published)
{
    struct run_list *list = loading->list;
    struct run_entry *entry;
    int code = array_reserve(&list->entries, &loading->capacity, list->n + 1,
                             sizeof *list->entries, loading->err);

    if (code != 0)
        return code;
    entry = &list->entries[list->n];
    *entry = (struct run_entry){
        .path = memory_string(path, loading->err),
        .experiment = memory_string(experiment, loading->err),
        .run = memory_string(run, loading->err),
        .published = published,
    };
    list->n++;
    return entry->path == NULL || entry->experiment == NULL ||
                   entry->run == NULL
               ? M2_E_MEMORY
               : 0;
}

/* Name of an unfinished run: its label as fixed by the first claim. */
static int add_active(struct loading *loading, const char *active,
                      const char *experiment, const char *hash)
{
    struct string_list names = {0};
    struct text run = {0};
    char *label = path_join(active, "label", loading->err);
    char *path = NULL;
    int code = label == NULL ? M2_E_MEMORY
                             : path_list(active, M2_E_RESULTS, &names, NULL);
    size_t i = names.count;

    if (code == 0 && file_check_regular(label, M2_E_RESULTS, NULL) == 0)
        code = file_read(label, 2 * RUN_LABEL_MAX, M2_E_RESULTS, &run, NULL);
    if (code == 0 && !run_label_is_valid(text_string(&run)))
        text_clear(&run);
    text_addf(&run, "-%s", hash);
    /* The newest attempt stands for the run. */
    while (code == 0 && i > 0 && store_attempt_number(names.items[i - 1]) == 0)
        i--;
    if (code == 0 && i > 0) {
        path = path_join(active, names.items[i - 1], loading->err);
        code = path == NULL ? M2_E_MEMORY
                            : add_run(loading, path, experiment,
                                      text_string(&run), false);
    }
    free(path);
    free(label);
    text_free(&run);
    string_list_free(&names);
    return code == M2_E_RESULTS ? 0 : code; /* gone meanwhile */
}

static int add_actives(struct loading *loading, const char *dir,
                       const char *experiment)
{
    struct string_list names = {0};
    char *active = path_join(dir, ".active", loading->err);
    int code = active == NULL ? M2_E_MEMORY : 0;

    if (code == 0 && file_is_dir(active))
        code = path_list(active, M2_E_RESULTS, &names, loading->err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path;

        if (names.items[i][0] == '.') /* a driver's mark */
            continue;
        path = path_join(active, names.items[i], loading->err);
        code = path == NULL
                   ? M2_E_MEMORY
                   : add_active(loading, path, experiment, names.items[i]);
        free(path);
    }
    string_list_free(&names);
    free(active);
    return code;
}

static int add_published(struct loading *loading, const char *dir,
                         const char *experiment)
{
    struct string_list names = {0};
    int code = loading->unfinished_only
                   ? 0
                   : path_list(dir, M2_E_RESULTS, &names, loading->err);

    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *path;

        if (!run_name_is_valid(names.items[i]))
            continue;
        path = path_join(dir, names.items[i], loading->err);
        code = path == NULL
                   ? M2_E_MEMORY
                   : add_run(loading, path, experiment, names.items[i], true);
        free(path);
    }
    string_list_free(&names);
    return code;
}

static int compare_hash(const struct run_entry *a, const struct run_entry *b)
{
    return strcmp(run_name_hash(a->run), run_name_hash(b->run));
}

/* Runs of one hash together, the published one first. */
static int compare_hashes(const void *left, const void *right)
{
    const struct run_entry *a = left, *b = right;
    int order = compare_hash(a, b);

    return order != 0 ? order : b->published - a->published;
}

static int compare_names(const void *left, const void *right)
{
    const struct run_entry *a = left, *b = right;
    int order = strcmp(a->run, b->run);

    return order != 0 ? order : strcmp(a->path, b->path);
}

/* What a published run left behind in .active is no run of its own. */
static void drop_leftovers(struct run_list *list, size_t first)
{
    size_t kept = first;

    qsort(list->entries + first, list->n - first, sizeof *list->entries,
          compare_hashes);
    for (size_t i = first; i < list->n; i++) {
        struct run_entry *entry = &list->entries[i];

        if (!entry->published && kept > first &&
            list->entries[kept - 1].published &&
            compare_hash(&list->entries[kept - 1], entry) == 0)
            run_entry_free(entry);
        else
            list->entries[kept++] = *entry;
    }
    list->n = kept;
}

/* Unfinished ones first: a run that is published meanwhile is then seen at
 * least once. */
static int add_experiment(struct loading *loading, const char *dir,
                          const char *experiment)
{
    struct run_list *list = loading->list;
    size_t first = list->n;
    int code = add_actives(loading, dir, experiment);

    if (code == 0)
        code = add_published(loading, dir, experiment);
    if (code != 0 || list->n == first)
        return code;
    drop_leftovers(list, first);
    qsort(list->entries + first, list->n - first, sizeof *list->entries,
          compare_names);
    return 0;
}

static int find_runs(const char *root, const char *name,
                     struct loading *loading)
{
    struct string_list names = {0};
    int code = 0;

    if (name != NULL)
        code = string_list_add(&names, name, loading->err);
    else if (file_exists(root))
        code = path_list(root, M2_E_RESULTS, &names, loading->err);
    for (size_t i = 0; code == 0 && i < names.count; i++) {
        char *dir = path_join(root, names.items[i], loading->err);

        if (dir == NULL)
            code = M2_E_MEMORY;
        else if (names.items[i][0] != '.' && file_is_dir(dir))
            code = add_experiment(loading, dir, names.items[i]);
        free(dir);
    }
    string_list_free(&names);
    return code;
}

/* ---- their records ------------------------------------------------------- */

/* Runs first to first + n - 1 of a list, for one thread. */
struct reading {
    struct run_entry *entries;
    size_t n;
    int code;
    struct m2_error err;
};

/* A run that is published between the two looks at it has moved. */
static int follow_to_published(struct run_entry *entry, struct m2_error *err)
{
    struct text path = {0};
    const char *active = strstr(entry->path, "/.active/");
    char *moved;

    if (entry->published || active == NULL || file_is_dir(entry->path))
        return 0;
    text_add_bytes(&path, entry->path, (size_t)(active - entry->path) + 1);
    text_add(&path, entry->run);
    moved = text_steal(&path, err);
    if (moved == NULL)
        return M2_E_MEMORY;
    if (file_is_dir(moved)) {
        free(entry->path);
        entry->path = moved;
        entry->published = true;
    } else {
        free(moved);
    }
    return 0;
}

static void *read_records(void *context)
{
    struct reading *reading = context;
    struct record_reader reader = {.settings_apart = true};

    for (size_t i = 0; reading->code == 0 && i < reading->n; i++) {
        struct run_entry *entry = &reading->entries[i];

        reading->code = follow_to_published(entry, &reading->err);
        if (reading->code == 0)
            reading->code = run_entry_read(entry, &reader, &reading->err);
    }
    record_reader_free(&reader);
    return NULL;
}

static size_t count_threads(size_t n_runs)
{
    size_t n = 1 + n_runs / RUNS_PER_THREAD, cores = 1;
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = (size_t)CPU_COUNT(&set);
    n = n < cores ? n : cores;
    return n < MAX_THREADS ? n : MAX_THREADS;
}

/* The last share is this thread's own, and so is one without a thread. */
static int read_all(struct run_list *list, struct m2_error *err)
{
    struct reading shares[MAX_THREADS] = {0};
    pthread_t threads[MAX_THREADS];
    bool started[MAX_THREADS] = {false};
    size_t n = count_threads(list->n), first = 0;
    int code = 0;

    for (size_t t = 0; t < n; t++) {
        size_t last = list->n * (t + 1) / n;

        shares[t].entries = list->entries + first;
        shares[t].n = last - first;
        first = last;
        started[t] = t + 1 < n && pthread_create(&threads[t], NULL,
                                                 read_records, &shares[t]) == 0;
        if (!started[t])
            read_records(&shares[t]);
    }
    for (size_t t = 0; t < n; t++) {
        if (started[t])
            pthread_join(threads[t], NULL);
        if (code == 0 && shares[t].code != 0) {
            code = shares[t].code;
            *err = shares[t].err;
        }
    }
    return code;
}

static int load(struct loading *loading, const char *root, const char *name)
{
    struct run_list *list = loading->list;
    int code;

    *list = (struct run_list){0};
    code = find_runs(root, name, loading);
    if (code == 0 && list->n > 0)
        code = read_all(list, loading->err);
    if (code != 0)
        run_list_free(list);
    return code;
}

int run_list_load(const char *root, const char *name, struct run_list *out,
                  struct m2_error *err)
{
    struct loading loading = {.list = out, .err = err};

    return load(&loading, root, name);
}

int run_list_load_unfinished(const char *root, const char *name,
                             struct run_list *out, struct m2_error *err)
{
    struct loading loading = {.list = out, .unfinished_only = true, .err = err};

    return load(&loading, root, name);
}
