/* Golden vectors: the manifest, one case at a time, and what a kind's
 * function may call. */
#include "backends/conformance/golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/conformance/suite.h"

void golden_file_free(struct golden_file *file)
{
    for (size_t i = 0; i < file->n; i++) {
        free(file->tensors[i].name);
        free(file->tensors[i].values);
    }
    free(file->tensors);
    *file = (struct golden_file){NULL, 0};
}

const struct golden_tensor *golden_find(const struct golden_case *c,
                                        const char *name)
{
    for (size_t i = 0; i < c->file.n; i++)
        if (strcmp(c->file.tensors[i].name, name) == 0)
            return &c->file.tensors[i];
    return NULL;
}

int golden_need(const struct golden_case *c, const char *name,
                const struct golden_tensor **out, struct m2_error *err)
{
    const struct golden_tensor *found = golden_find(c, name);
    if (found == NULL)
        return m2_fail(err, M2_E_DATA, "golden case %s has no tensor %s",
                       c->name, name);
    *out = found;
    return M2_OK;
}

static const json_t *scalar(const struct golden_case *c, const char *name)
{
    return json_object_get(json_object_get(c->entry, "scalars"), name);
}

int golden_number(const struct golden_case *c, const char *name, double *out,
                  struct m2_error *err)
{
    const json_t *value = scalar(c, name);
    if (json_is_null(value))
        *out = INFINITY;
    else if (json_is_number(value))
        *out = json_number_value(value);
    else
        return m2_fail(err, M2_E_DATA, "golden case %s has no number %s",
                       c->name, name);
    return M2_OK;
}

double golden_number_or(const struct golden_case *c, const char *name,
                        double otherwise)
{
    double value = otherwise;
    golden_number(c, name, &value, NULL);
    return value;
}

void golden_check(struct golden_case *c, const char *name, const double *values,
                  int64_t n)
{
    for (size_t i = 0; i < c->file.n; i++) {
        struct golden_tensor *tensor = &c->file.tensors[i];
        if (strncmp(tensor->name, "out.", 4) != 0 ||
            strcmp(tensor->name + 4, name) != 0)
            continue;
        tensor->checked = true;
        if (n == tensor->n)
            tensor->worst = compare(values, tensor->values, n);
        else
            tensor->worst = (struct difference){INFINITY, n, NAN, NAN};
    }
}

static const struct golden_kind *find_kind(const struct suite *suite,
                                           const char *name)
{
    const struct conformance_options *options = suite->options;
    size_t n;
    const struct golden_kind *built_in = golden_op_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(built_in[i].name, name) == 0)
            return &built_in[i];
    for (size_t i = 0; i < options->n_kinds; i++)
        if (strcmp(options->kinds[i].name, name) == 0)
            return &options->kinds[i];
    return NULL;
}

/* The verdict of a case whose function came back. */
static void judge(struct suite *suite, const struct golden_case *c,
                  double limit)
{
    const struct golden_tensor *worst = NULL;
    for (size_t i = 0; i < c->file.n; i++) {
        const struct golden_tensor *tensor = &c->file.tensors[i];
        if (strncmp(tensor->name, "out.", 4) != 0)
            continue;
        if (!tensor->checked) {
            suite_report(suite, CONFORMANCE_FAILED,
                         "golden %s %s: %s was not computed", c->name,
                         suite_real(suite), tensor->name);
            return;
        }
        if (worst == NULL || tensor->worst.error > worst->worst.error)
            worst = tensor;
    }
    if (worst == NULL)
        suite_report(suite, CONFORMANCE_FAILED,
                     "golden %s %s: the file expects nothing", c->name,
                     suite_real(suite));
    else if (worst->worst.error <= limit)
        suite_report(suite, CONFORMANCE_PASSED,
                     "golden %s %s: error %.2g, limit %.2g", c->name,
                     suite_real(suite), worst->worst.error, limit);
    else
        suite_report(suite, CONFORMANCE_FAILED,
                     "golden %s %s: %s[%lld] is %.17g, expected %.17g: error "
                     "%.3g, limit %.3g",
                     c->name, suite_real(suite), worst->name + 4,
                     (long long)worst->worst.index, worst->worst.got,
                     worst->worst.want, worst->worst.error, limit);
}

static void run_case(struct suite *suite, const struct golden_kind *kind,
                     struct golden_case *c, double limit)
{
    struct m2_error err = {0};
    const json_t *file = json_object_get(c->entry, "file");
    const json_t *sha256 = json_object_get(c->entry, "sha256");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", suite->options->golden_dir,
             json_is_string(file) ? json_string_value(file) : "");
    int code = suite->options->golden_read(path, json_string_value(sha256),
                                           &c->file, &err);
    if (code == M2_OK)
        code = kind->run(c, &err);
    if (code == M2_OK)
        judge(suite, c, limit);
    else
        suite_report(suite, suite_outcome(code), "golden %s %s: %s", c->name,
                     suite_real(suite), err.text);
    golden_file_free(&c->file);
}

static void run_entry(struct suite *suite, const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *kind_name = json_string_value(json_object_get(entry, "kind"));
    const json_t *limit =
        json_object_get(entry, suite->real == M2_F32 ? "tol_f32" : "tol_f64");
    if (name == NULL || kind_name == NULL) {
        suite_report(suite, CONFORMANCE_FAILED,
                     "golden: a case without name or kind");
        return;
    }
    const struct golden_kind *kind = find_kind(suite, kind_name);
    if (!json_is_number(limit) ||
        !(suite_wants(suite, name) || suite_wants(suite, kind_name) ||
          (kind && kind->op && suite_wants(suite, kind->op))))
        return;
    if (kind == NULL) {
        suite->result->unknown++;
        return;
    }
    struct golden_case c = {.name = name,
                            .kind = kind_name,
                            .entry = entry,
                            .device = suite->devices[0]};
    run_case(suite, kind, &c, json_number_value(limit));
}

int suite_golden(struct suite *suite, struct m2_error *err)
{
    char path[4096];
    json_error_t error;
    size_t i;
    const json_t *entry;

    snprintf(path, sizeof path, "%s/manifest.json", suite->options->golden_dir);
    json_t *manifest = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (manifest == NULL)
        return m2_fail(err, M2_E_DATA, "%s:%d:%d: %s", path, error.line,
                       error.column, error.text);
    const json_t *cases = json_object_get(manifest, "cases");
    int code = M2_OK;
    if (!json_is_array(cases))
        code = m2_fail(err, M2_E_DATA, "%s: expected a list \"cases\"", path);
    json_array_foreach (cases, i, entry)
        run_entry(suite, entry);
    json_decref(manifest);
    return code;
}
