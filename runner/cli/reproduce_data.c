/* Data that were moved are known by their SHA-256. */
#include "cli/reproduce_data.h"

#include <stdlib.h>
#include <string.h>

#include "data/fingerprint.h"
#include "util/log.h"
#include "util/memory.h"
#include "util/path.h"
#include "util/text.h"

/* A file that the run was trained on; both inside the copied fingerprint. */
struct known_file {
    const char *name, *sha256;
    bool found;
};

struct known_files {
    char *memory;
    struct known_file *items;
    size_t n;
};

static void known_free(struct known_files *known)
{
    free(known->memory);
    free(known->items);
}

/* A line is a name, a blank and 64 digits; other lines are passed over. */
static int known_parse(const char *fingerprint, struct known_files *out,
                       struct m2_error *err)
{
    size_t capacity = 0;
    int code = 0;
    char *line, *rest = NULL;

    *out = (struct known_files){.memory = memory_string(fingerprint, err)};
    if (out->memory == NULL)
        return M2_E_MEMORY;
    for (line = strtok_r(out->memory, "\n", &rest); code == 0 && line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char *blank = strrchr(line, ' ');

        if (blank == NULL || strlen(blank + 1) != SHA256_HEX_SIZE - 1)
            continue;
        code = array_reserve(&out->items, &capacity, out->n + 1,
                             sizeof *out->items, err);
        if (code != 0)
            break;
        *blank = '\0';
        out->items[out->n++] = (struct known_file){line, blank + 1, false};
    }
    if (code != 0)
        known_free(out);
    return code;
}

/* The file with these contents, of this name if there is one. */
static struct known_file *find_contents(const struct known_files *known,
                                        const struct data_file *file)
{
    struct known_file *found = NULL;

    for (size_t i = 0; i < known->n; i++) {
        struct known_file *item = &known->items[i];

        if (item->found || strcmp(item->sha256, file->sha256) != 0)
            continue;
        if (found == NULL || strcmp(item->name, path_basename(file->path)) == 0)
            found = item;
    }
    return found;
}

static struct known_file *find_name(const struct known_files *known,
                                    const char *name)
{
    for (size_t i = 0; i < known->n; i++)
        if (!known->items[i].found && strcmp(known->items[i].name, name) == 0)
            return &known->items[i];
    return NULL;
}

/* What is found is marked; what is strange is told. */
static void match_files(const struct known_files *known,
                        const struct data_files *files, bool *matched)
{
    for (size_t i = 0; i < files->n; i++) {
        struct known_file *item = find_contents(known, &files->items[i]);

        if (item == NULL)
            continue;
        matched[i] = item->found = true;
        if (strcmp(item->name, path_basename(files->items[i].path)) != 0)
            log_warning("%s has the contents of %s, which the run was trained "
                        "on",
                        files->items[i].path, item->name);
    }
}

static void add_strangers(const struct known_files *known,
                          const struct data_files *files, const bool *matched,
                          struct text *out)
{
    for (size_t i = 0; i < files->n; i++) {
        const struct data_file *file = &files->items[i];
        struct known_file *item = find_name(known, path_basename(file->path));

        if (matched[i])
            continue;
        if (item == NULL) {
            text_addf(out, "\n  %s: the run had no such file (sha256 %s)",
                      file->path, file->sha256);
            continue;
        }
        item->found = true;
        text_addf(out,
                  "\n  %s: has other contents: sha256 %s, the run was trained "
                  "on %s",
                  file->path, file->sha256, item->sha256);
    }
}

static void add_missing(const struct known_files *known, struct text *out)
{
    for (size_t i = 0; i < known->n; i++)
        if (!known->items[i].found)
            text_addf(out, "\n  %s: is missing (sha256 %s)",
                      known->items[i].name, known->items[i].sha256);
}

static int compare_files(const struct known_files *known,
                         const struct data_files *files, struct m2_error *err)
{
    bool *matched = memory_zeroed(files->n, sizeof *matched, err);
    struct text text = {0};
    int code = 0;

    if (matched == NULL)
        return M2_E_MEMORY;
    match_files(known, files, matched);
    add_strangers(known, files, matched, &text);
    add_missing(known, &text);
    if (text.length > 0)
        code = m2_fail(err, M2_E_DATA,
                       "these are not the data of the run; data.path=FILE says "
                       "where they are:%s",
                       text_string(&text));
    text_free(&text);
    free(matched);
    return code;
}

/* Nothing is found: what was there says what to look for. */
static int fail_missing(const struct known_files *known,
                        const struct m2_error *cause, struct m2_error *err)
{
    struct text text = {0};
    int code;

    add_missing(known, &text);
    code =
        m2_fail(err, M2_E_DATA,
                "%s\nthe run was trained on these; data.path=FILE says where "
                "they are now:%s",
                cause->text, text_string(&text));
    text_free(&text);
    return code;
}

int reproduce_check_data(const struct config_data *config,
                         const char *fingerprint, struct m2_error *err)
{
    struct known_files known = {0};
    struct data_files files = {0};
    struct m2_error cause;
    int code = known_parse(fingerprint != NULL ? fingerprint : "", &known, err);

    if (code != 0)
        return code;
    code = data_files_find(config, &files, &cause);
    if (code == M2_E_DATA)
        code = fail_missing(&known, &cause, err);
    else if (code != 0)
        code = m2_fail(err, code, "%s", cause.text);
    else if (fingerprint != NULL)
        code = compare_files(&known, &files, err);
    data_files_free(&files);
    known_free(&known);
    return code;
}
