/* Comparing two computations of a run, byte by byte. */
#include "prove/agreement.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/difference.h"
#include "util/file.h"
#include "util/path.h"

#define MAX_FILE ((size_t)1 << 36)

static const char *const file_names[] = {"metrics.csv",
                                         "checkpoints/last.safetensors",
                                         "checkpoints/best.safetensors"};
enum { N_FILES = sizeof file_names / sizeof file_names[0] };

void agreement_free(struct agreement *agreement)
{
    text_free(&agreement->differences);
    *agreement = (struct agreement){0};
}

/* ---- bytes --------------------------------------------------------------- */

static int read_one(const char *dir, const char *name, struct text *out,
                    struct m2_error *err)
{
    char *path = path_join(dir, name, err);
    int code = path == NULL ? M2_E_MEMORY
                            : file_read(path, MAX_FILE, M2_E_RESULTS, out, err);

    free(path);
    return code;
}

/* The first byte that differs; -1: none. */
static int64_t first_byte(const struct text *a, const struct text *b)
{
    size_t shorter = a->length < b->length ? a->length : b->length, i = 0;

    while (i < shorter && a->bytes[i] == b->bytes[i])
        i++;
    return i == a->length && i == b->length ? -1 : (int64_t)i;
}

static size_t line_of(const struct text *text, int64_t at)
{
    size_t line = 1;

    for (int64_t i = 0; i < at; i++)
        line += text->bytes[i] == '\n';
    return line;
}

static void note_bytes(struct agreement *out, const char *name,
                       const struct text *first, int64_t at)
{
    if (!out->differs)
        out->file = name;
    out->differs = true;
    text_addf(&out->differences, "%s: byte %" PRId64, name, at + 1);
    if (strcmp(name, "metrics.csv") == 0)
        text_addf(&out->differences, " (line %zu)", line_of(first, at));
    text_add(&out->differences, " is the first that differs\n");
}

static bool is_there(const char *dir, const char *name)
{
    char *path = path_join(dir, name, NULL);
    bool found = path != NULL && file_exists(path);

    free(path);
    return found;
}

static int compare_bytes(const struct agreement_request *request,
                         const char *name, struct agreement *out,
                         struct m2_error *err)
{
    struct text first = {0}, other = {0};
    int64_t at;
    int code = read_one(request->first, name, &first, err);

    if (code == 0)
        code = read_one(request->other, name, &other, err);
    if (code == 0) {
        out->n_files++;
        out->bytes += (int64_t)first.length;
        at = first_byte(&first, &other);
        if (at >= 0)
            note_bytes(out, path_basename(name), &first, at);
    }
    text_free(&first);
    text_free(&other);
    return code;
}

/* Without a validation part there is no best checkpoint. */
static int compare_file(const struct agreement_request *request,
                        const char *name, struct agreement *out,
                        struct m2_error *err)
{
    bool first = is_there(request->first, name);
    bool other = is_there(request->other, name);

    if (first && other)
        return compare_bytes(request, name, out, err);
    if (first != other) {
        if (!out->differs)
            out->file = path_basename(name);
        out->differs = true;
        text_addf(&out->differences, "%s: there is none in %s\n",
                  path_basename(name), first ? request->other : request->first);
    }
    return 0;
}

/* ---- words --------------------------------------------------------------- */

/* The first finding of each file, and what else there is to one. */
static void take_findings(const struct difference *difference,
                          struct agreement *out)
{
    struct text words = {0};
    const char *first = NULL;

    for (size_t i = 0; i < difference->n_findings; i++) {
        const struct finding *finding = &difference->findings[i];
        size_t before = 0;

        while (before < i &&
               strcmp(difference->findings[before].file, finding->file) != 0)
            before++;
        if (before < i || finding->kind == FINDING_NOTE)
            continue;
        if (first == NULL)
            first = finding->file;
        text_addf(&words, "%s: ", finding->file);
        if (finding->step >= 0)
            text_addf(&words, "step %" PRId64 ": ", finding->step);
        text_addf(&words, "%s\n", finding->text);
    }
    if (first != NULL) {
        out->file = first;
        text_add(&words, text_string(&out->differences));
        text_free(&out->differences);
        out->differences = words;
    } else {
        text_free(&words);
    }
}

static int explain(const struct agreement_request *request,
                   struct agreement *out, struct m2_error *err)
{
    const struct difference_request what = {
        .recorded = request->first,
        .again = request->other,
        .identity = request->identity,
    };
    struct difference difference = {0};
    int code = difference_find(&what, &difference, err);

    if (code == 0) {
        out->n_rows = difference.n_rows;
        out->n_tensors = difference.n_tensors;
        memcpy(out->parameters, difference.parameters, sizeof out->parameters);
        out->differs = out->differs || difference.differs;
        take_findings(&difference, out);
    }
    difference_free(&difference);
    return code;
}

int agreement_find(const struct agreement_request *request,
                   struct agreement *out, struct m2_error *err)
{
    int code = 0;

    *out = (struct agreement){0};
    for (int i = 0; code == 0 && i < N_FILES; i++)
        code = compare_file(request, file_names[i], out, err);
    if (code == 0)
        code = explain(request, out, err);
    if (code == 0 && !out->differs && (out->n_rows == 0 || out->n_tensors == 0))
        code = m2_fail(err, M2_E_RESULTS,
                       "%s: nothing to compare: %zu rows, "
                       "%zu tensors",
                       request->other, out->n_rows, out->n_tensors);
    return code == 0 ? text_check(&out->differences, err) : code;
}
