/* Comparing the circumstances of a run. */
#include "results/facts.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

struct comparison {
    const json_t *then, *now; /* run.json, or fact sheets */
    struct fact_differences *out;
    struct m2_error *err;
    int code; /* of the first failure: what follows is then left out */
};

void fact_differences_free(struct fact_differences *differences)
{
    for (size_t i = 0; i < differences->n; i++) {
        free(differences->items[i].what);
        free(differences->items[i].then);
        free(differences->items[i].now);
    }
    free(differences->items);
    *differences = (struct fact_differences){0};
}

size_t facts_that_change_bits(const struct fact_differences *differences)
{
    size_t n = 0;

    while (n < differences->n && differences->items[n].may_change_bits)
        n++;
    return n;
}

void facts_write(const struct fact_differences *differences, const char *indent,
                 struct text *out)
{
    size_t n = facts_that_change_bits(differences);

    for (size_t i = 0; i < n; i++) {
        const struct fact_difference *item = &differences->items[i];

        text_addf(out, "%s%s: %s, now %s\n", indent, item->what, item->then,
                  item->now);
    }
}

/* ---- adding -------------------------------------------------------------- */

static int add_item(struct comparison *c, const struct fact_difference *item)
{
    struct fact_differences *out = c->out;
    int code = array_reserve(&out->items, &out->capacity, out->n + 1,
                             sizeof *out->items, c->err);

    if (code != 0)
        return code;
    out->items[out->n] = (struct fact_difference){
        .what = memory_string(item->what, c->err),
        .then = memory_string(item->then, c->err),
        .now = memory_string(item->now, c->err),
        .may_change_bits = item->may_change_bits,
    };
    item = &out->items[out->n++];
    return item->what == NULL || item->then == NULL || item->now == NULL
               ? M2_E_MEMORY
               : 0;
}

static void add(struct comparison *c, const char *what, const char *then,
                const char *now, bool may_change_bits)
{
    const struct fact_difference item = {
        .what = (char *)(uintptr_t)what,
        .then = (char *)(uintptr_t)then,
        .now = (char *)(uintptr_t)now,
        .may_change_bits = may_change_bits,
    };

    if (c->code == 0)
        c->code = add_item(c, &item);
}

/* ---- single values ------------------------------------------------------- */

static const json_t *value_of(const json_t *facts, const char *group,
                              const char *key)
{
    return json_object_get(json_object_get(facts, group), key);
}

/* A value as text; NULL: not known. */
static const char *text_of(const json_t *value, char buffer[32])
{
    if (json_is_integer(value)) {
        snprintf(buffer, 32, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
        return buffer;
    }
    if (json_is_boolean(value))
        return json_is_true(value) ? "yes" : "no";
    return json_string_value(value);
}

/* Facts of a device name the slot that it sits in, "PCI 0000:01:00.0": another
 * one of the same kind computes the same. */
static bool same_but_slot(const char *then, const char *now)
{
    const char *a = strstr(then, "PCI "), *b = strstr(now, "PCI ");

    if (a == NULL || b == NULL)
        return strcmp(then, now) == 0;
    return a - then == b - now && strncmp(then, now, (size_t)(a - then)) == 0 &&
           strcmp(a + strcspn(a, ","), b + strcspn(b, ",")) == 0;
}

static void compare_value(struct comparison *c, const char *group,
                          const char *key, const char *what,
                          bool may_change_bits)
{
    char a[32], b[32];
    const char *then = text_of(value_of(c->then, group, key), a);
    const char *now = text_of(value_of(c->now, group, key), b);

    if (then != NULL && now != NULL && *then != '\0' && *now != '\0' &&
        !same_but_slot(then, now))
        add(c, what, then, now, may_change_bits);
}

/* A digest says by its first digits what it is. */
static void compare_digest(struct comparison *c, const char *what,
                           const json_t *then, const json_t *now)
{
    const char *a = json_string_value(then), *b = json_string_value(now);
    char text_a[32], text_b[32];

    if (a == NULL || b == NULL || strcmp(a, b) == 0)
        return;
    snprintf(text_a, sizeof text_a, "sha256 %.12s", a);
    snprintf(text_b, sizeof text_b, "sha256 %.12s", b);
    add(c, what, text_a, text_b, true);
}

/* ---- data ---------------------------------------------------------------- */

static const char *name_of(const json_t *file)
{
    const char *name = json_string_value(json_object_get(file, "name"));

    return name != NULL ? name : "?";
}

/* The k-th file of a name: files of several folders may share one. */
static const json_t *find_file(const json_t *files, const char *name, size_t k)
{
    size_t i;
    json_t *file;

    json_array_foreach (files, i, file)
        if (strcmp(name_of(file), name) == 0 && k-- == 0)
            return file;
    return NULL;
}

static size_t same_names_before(const json_t *files, size_t at)
{
    const char *name = name_of(json_array_get(files, at));
    size_t n = 0;

    for (size_t i = 0; i < at; i++)
        n += strcmp(name_of(json_array_get(files, i)), name) == 0;
    return n;
}

static const char *digest_text(const json_t *file, char buffer[32])
{
    const char *digest = json_string_value(json_object_get(file, "sha256"));

    if (file == NULL)
        return "not there";
    snprintf(buffer, 32, "sha256 %.12s", digest != NULL ? digest : "?");
    return buffer;
}

static void compare_file(struct comparison *c, const char *name,
                         const json_t *then, const json_t *now)
{
    char what[300], a[32], b[32];

    snprintf(what, sizeof what, "data file %.255s", name);
    if (then == NULL || now == NULL)
        add(c, what, digest_text(then, a), digest_text(now, b), true);
    else
        compare_digest(c, what, json_object_get(then, "sha256"),
                       json_object_get(now, "sha256"));
}

static void compare_data(struct comparison *c)
{
    const json_t *then = value_of(c->then, "data", "files");
    const json_t *now = value_of(c->now, "data", "files");
    size_t i;
    json_t *file;

    if (!json_is_array(then) || !json_is_array(now))
        return;
    json_array_foreach (then, i, file)
        compare_file(c, name_of(file), file,
                     find_file(now, name_of(file), same_names_before(then, i)));
    json_array_foreach (now, i, file)
        if (find_file(then, name_of(file), same_names_before(now, i)) == NULL)
            compare_file(c, name_of(file), NULL, file);
}

/* ---- libraries ----------------------------------------------------------- */

/* Those whose functions compute the numbers; others read, write and hash. */
static bool is_numeric(const char *name)
{
    static const char *const starts[] = {
        "libm.",     "libm-",     "libmvec",  "libopenblas", "libblas",
        "libcblas",  "liblapack", "libmkl",   "libblis",     "libflexiblas",
        "libcublas", "libcudart", "libcuda.", "libsleef",
    };

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static const char *find_build_id(const json_t *libraries, const char *name)
{
    size_t i;
    json_t *library;

    json_array_foreach (libraries, i, library)
        if (strcmp(name_of(library), name) == 0)
            return json_string_value(json_object_get(library, "build_id"));
    return NULL;
}

static void compare_libraries(struct comparison *c, bool numeric)
{
    const json_t *then = json_object_get(c->then, "libraries");
    const json_t *now = json_object_get(c->now, "libraries");
    size_t i;
    json_t *library;

    json_array_foreach (then, i, library) {
        const char *name = name_of(library);
        const char *a = find_build_id(then, name);
        const char *b = find_build_id(now, name);
        char what[300], text_a[32], text_b[32];

        /* plugins have their SHA-256 */
        if (is_numeric(name) != numeric || strncmp(name, "m2_", 3) == 0 ||
            a == NULL || b == NULL || strcmp(a, b) == 0)
            continue;
        snprintf(what, sizeof what, "library %.255s", name);
        snprintf(text_a, sizeof text_a, "build %.12s", a);
        snprintf(text_b, sizeof text_b, "build %.12s", b);
        add(c, what, text_a, text_b, numeric);
    }
}

/* ---- environment --------------------------------------------------------- */

static void compare_variable(struct comparison *c, const char *name,
                             bool may_change_bits)
{
    const json_t *a = json_object_get(c->then, "environment");
    const json_t *b = json_object_get(c->now, "environment");
    const char *then = json_string_value(json_object_get(a, name));
    const char *now = json_string_value(json_object_get(b, name));
    char what[64];

    if (then != NULL && now != NULL && strcmp(then, now) == 0)
        return;
    snprintf(what, sizeof what, "environment variable %s", name);
    add(c, what, then != NULL ? then : "not set", now != NULL ? now : "not set",
        may_change_bits);
}

/* Threads and devices are chosen by them, paths of plugins: their results are
 * the same, or told by other facts. */
static bool variable_changes_bits(const char *name)
{
    static const char *const names[] = {
        "OPENBLAS_CORETYPE",       "M2_CPU_ISA",
        "GLIBC_TUNABLES",          "NVIDIA_TF32_OVERRIDE",
        "CUBLAS_WORKSPACE_CONFIG", "LD_PRELOAD",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void compare_environment(struct comparison *c, bool may_change_bits)
{
    json_t *then = json_object_get(c->then, "environment");
    json_t *now = json_object_get(c->now, "environment");
    const char *name;
    json_t *value;

    if (!json_is_object(then) || !json_is_object(now))
        return;
    json_object_foreach (then, name, value)
        if (variable_changes_bits(name) == may_change_bits)
            compare_variable(c, name, may_change_bits);
    json_object_foreach (now, name, value)
        if (json_object_get(then, name) == NULL &&
            variable_changes_bits(name) == may_change_bits)
            compare_variable(c, name, may_change_bits);
}

/* ---- all ----------------------------------------------------------------- */

struct plain_fact {
    const char *group, *key, *what;
};

static void compare_plain(struct comparison *c, const struct plain_fact *facts,
                          size_t n, bool may_change_bits)
{
    for (size_t i = 0; i < n; i++)
        compare_value(c, facts[i].group, facts[i].key, facts[i].what,
                      may_change_bits);
}

static void compare_computing(struct comparison *c)
{
    static const struct plain_fact first[] = {
        {"backend", "name", "backend"},
        {"backend", "numerics", "numerics number of the backend"},
        {"backend", "device_name", "device"},
        {"backend", "facts", "libraries and driver of the backend"},
    };
    static const struct plain_fact second[] = {
        {"backend", "build", "build of the backend"},
    };
    static const struct plain_fact build[] = {
        {"build", "version", "version of m2run"},
        {"build", "commit", "commit of m2run"},
        {"build", "difference", "uncommitted changes of m2run"},
        {"build", "compiler", "compiler of m2run"},
        {"build", "cflags", "compiler flags of m2run"},
    };
    static const struct plain_fact machine[] = {
        {"host", "machine", "architecture"},
        {"host", "cpu", "processor"},
        {"host", "isa", "vector instructions"},
        {"host", "libc", "C library"},
    };

    compare_plain(c, first, sizeof first / sizeof first[0], true);
    compare_environment(c, true);
    compare_libraries(c, true);
    compare_plain(c, second, sizeof second / sizeof second[0], true);
    compare_digest(c, "file of the backend",
                   value_of(c->then, "backend", "sha256"),
                   value_of(c->now, "backend", "sha256"));
    compare_plain(c, build, sizeof build / sizeof build[0], true);
    compare_plain(c, machine, sizeof machine / sizeof machine[0], true);
}

static void compare_plugin(struct comparison *c)
{
    const json_t *then = value_of(c->then, "data", "plugin");
    const json_t *now = value_of(c->now, "data", "plugin");
    char a[32], b[32];
    const char *from = text_of(json_object_get(then, "numerics"), a);
    const char *to = text_of(json_object_get(now, "numerics"), b);

    if (from != NULL && to != NULL && strcmp(from, to) != 0)
        add(c, "numerics number of the data plugin", from, to, true);
    compare_digest(c, "file of the data plugin",
                   json_object_get(then, "sha256"),
                   json_object_get(now, "sha256"));
}

static void compare_rest(struct comparison *c)
{
    static const struct plain_fact rest[] = {
        {"host", "threads", "threads"},
        {"host", "cores", "cores"},
        {"host", "name", "host"},
        {"host", "system", "system"},
        {"host", "release", "kernel"},
        {"backend", "file", "place of the backend"},
    };

    compare_plain(c, rest, sizeof rest / sizeof rest[0], false);
    compare_environment(c, false);
    compare_libraries(c, false);
}

int facts_compare(const json_t *then, const json_t *now,
                  struct fact_differences *out, struct m2_error *err)
{
    struct comparison comparison = {then, now, out, err, 0};

    *out = (struct fact_differences){0};
    compare_data(&comparison);
    compare_computing(&comparison);
    compare_plugin(&comparison);
    compare_rest(&comparison);
    if (comparison.code != 0)
        fact_differences_free(out);
    return comparison.code;
}
