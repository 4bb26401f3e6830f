/* Writing and reading the record of an invocation. */
#include "sweep/record.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/identity.h"
#include "results/owner.h"
#include "results/store.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"

#define RECORD_LIMIT ((size_t)256 << 20)
#define HEX_DIGITS   "0123456789abcdef"

void record_run_free(struct record_run *run)
{
    free(run->label);
    string_list_free(&run->set);
    *run = (struct record_run){0};
}

void sweep_record_free(struct sweep_record *record)
{
    for (size_t i = 0; i < record->n_runs; i++)
        record_run_free(&record->runs[i]);
    free(record->runs);
    *record = (struct sweep_record){0};
}

/* A YAML block scalar: every line indented by two blanks. */
static void add_block(struct text *out, const char *key, const char *block)
{
    text_addf(out, "%s: |\n", key);
    while (*block != '\0') {
        size_t length = strcspn(block, "\n");

        if (length > 0) {
            text_add(out, "  ");
            text_add_bytes(out, block, length);
        }
        text_add_char(out, '\n');
        block += length + (block[length] == '\n');
    }
}

static void add_run(struct text *out, const struct record_run *run)
{
    text_add(out, "- {\"run\": ");
    text_add_json(out, run->label);
    text_addf(out, ", \"identity\": \"%s\", \"set\": [", run->identity);
    for (size_t i = 0; i < run->set.count; i++) {
        text_add(out, i > 0 ? ", " : "");
        text_add_json(out, run->set.items[i]);
    }
    text_add(out, "]}\n");
}

int sweep_record_text(const struct experiment *experiment,
                      const struct sweep_record *record,
                      const char *const *overrides, size_t n_overrides,
                      struct text *out, struct m2_error *err)
{
    struct text part = {0};
    int code;

    text_add(out, "format: 1\noverrides: [");
    for (size_t i = 0; i < n_overrides; i++) {
        text_add(out, i > 0 ? ", " : "");
        text_add_json(out, overrides[i]);
    }
    text_add(out, "]\n");
    experiment_write_sources(experiment, &part);
    add_block(out, "source", text_string(&part));
    text_clear(&part);
    config_write(&experiment->schema, &experiment->config, &part);
    add_block(out, "base", text_string(&part));
    code = text_check(&part, err);
    text_free(&part);
    text_add(out, "runs:\n");
    for (size_t i = 0; i < record->n_runs; i++)
        add_run(out, &record->runs[i]);
    return code != 0 ? code : text_check(out, err);
}

/* Is the file there with these very bytes?  Its name holds 32 bits of their
 * hash, so another content is not impossible. */
static int check_existing(const char *path, const struct text *text,
                          struct m2_error *err)
{
    struct text found = {0};
    int code = file_check_regular(path, M2_E_RESULTS, err);

    if (code == 0)
        code = file_read(path, RECORD_LIMIT, M2_E_RESULTS, &found, err);
    if (code == 0 && (found.length != text->length ||
                      memcmp(found.bytes, text->bytes, text->length) != 0))
        code = m2_fail(err, M2_E_RESULTS,
                       "%s: is not the record that its name says; move it "
                       "away to run",
                       path);
    text_free(&found);
    return code;
}

/* Two invocations may write the same record at once, on two machines perhaps:
 * each into a file of its own, and link() keeps what is there. */
static int create_record(const char *path, const struct text *text,
                         struct m2_error *err)
{
    struct text mine = {0};
    struct owner self;
    int code = owner_self(&self, err);

    if (code != 0)
        return code;
    text_addf(&mine, "%s.%s", path, self.token);
    code = text_check(&mine, err);
    if (code == 0)
        code = file_write_atomic(text_string(&mine), text->bytes, text->length,
                                 M2_E_RESULTS, err);
    if (code == 0 && link(text_string(&mine), path) != 0 && errno != EEXIST)
        code = m2_fail(err, M2_E_RESULTS, "%s: cannot create: %s", path,
                       strerror(errno));
    unlink(text_string(&mine));
    text_free(&mine);
    /* whoever has written it may take our file for one that was left over */
    return code == M2_E_RESULTS && file_exists(path) ? 0 : code;
}

/* Files of invocations that were killed while they wrote this record. */
static void remove_strays(const char *dir, const char *record)
{
    struct string_list names = {0};
    size_t length = strlen(record);

    if (path_list(dir, M2_E_RESULTS, &names, NULL) != 0)
        return;
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        const char *from = name + (name[0] == '.');
        char *path;

        if (strncmp(from, record, length) != 0 || from[length] != '.')
            continue;
        path = path_join(dir, name, NULL);
        if (path != NULL)
            unlink(path);
        free(path);
    }
    string_list_free(&names);
}

int sweep_record_write(const char *dir, const struct text *text,
                       char **path_out, struct m2_error *err)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE], name[64];
    int code = sha256_bytes(text->bytes, text->length, digest, err);

    if (code == 0)
        code = file_make_dirs(dir, M2_E_RESULTS, err);
    if (code != 0)
        return code;
    sha256_hex(digest, hex);
    snprintf(name, sizeof name, "sweep-%.8s.yaml", hex);
    *path_out = path_join(dir, name, err);
    if (*path_out == NULL)
        return M2_E_MEMORY;
    if (!file_exists(*path_out))
        code = create_record(*path_out, text, err);
    if (code == 0)
        code = check_existing(*path_out, text, err);
    if (code == 0)
        remove_strays(dir, name);
    if (code != 0) {
        free(*path_out);
        *path_out = NULL;
    }
    return code;
}

/* Start of the line that begins with `mark`, or NULL. */
static const char *find_line(const char *text, const char *mark)
{
    size_t length = strlen(mark);

    while (text != NULL && strncmp(text, mark, length) != 0) {
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    return text;
}

static void take_block(const char *line, struct text *out)
{
    const char *at = strchr(line, '\n');

    for (at = at != NULL ? at + 1 : "";
         strncmp(at, "  ", 2) == 0 || *at == '\n';) {
        size_t length = strcspn(at, "\n");

        if (length > 2)
            text_add_bytes(out, at + 2, length - 2);
        text_add_char(out, '\n');
        at += length + (at[length] == '\n');
    }
}

static int parse_run(const char *path, const char *line, struct record_run *out,
                     struct m2_error *err)
{
    json_t *object = json_loadb(line + 2, strcspn(line + 2, "\n"), 0, NULL);
    const char *label = json_string_value(json_object_get(object, "run"));
    const char *identity =
        json_string_value(json_object_get(object, "identity"));
    json_t *set = json_object_get(object, "set"), *item;
    size_t i;
    int code = 0;

    *out = (struct record_run){0};
    /* Both become names of folders. */
    if (label == NULL || !run_label_is_valid(label) || identity == NULL ||
        strlen(identity) != 64 || strspn(identity, HEX_DIGITS) != 64) {
        json_decref(object);
        return m2_fail(err, M2_E_RESULTS, "%s: damaged: no run in '%.60s'",
                       path, line);
    }
    out->label = memory_string(label, err);
    snprintf(out->identity, sizeof out->identity, "%s", identity);
    json_array_foreach (set, i, item)
        if (code == 0 && json_is_string(item))
            code = string_list_add(&out->set, json_string_value(item), err);
    json_decref(object);
    if (code == 0 && out->label == NULL)
        code = M2_E_MEMORY;
    if (code != 0)
        record_run_free(out);
    return code;
}

int sweep_record_parse(const struct record_text *record, size_t index,
                       struct text *base, struct record_run *out,
                       struct m2_error *err)
{
    const char *block = find_line(record->text, "base: |");
    const char *line = find_line(block, "runs:");

    for (size_t i = 0; line != NULL && i <= index; i++) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line == NULL || strncmp(line, "- {", 3) != 0)
        return m2_fail(err, M2_E_RESULTS, "%s: has no run number %zu",
                       record->path, index);
    take_block(block, base);
    return parse_run(record->path, line, out, err);
}

int sweep_record_read(const char *path, size_t index, struct text *base,
                      struct record_run *out, struct m2_error *err)
{
    struct text text = {0};
    int code = file_check_regular(path, M2_E_RESULTS, err);

    if (code == 0)
        code = file_read(path, RECORD_LIMIT, M2_E_RESULTS, &text, err);
    if (code == 0)
        code =
            sweep_record_parse(&(struct record_text){path, text_string(&text)},
                               index, base, out, err);
    text_free(&text);
    return code;
}
