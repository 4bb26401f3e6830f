/* Canonical text and identity. */
#include "config/identity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "config/value.h"
#include "util/memory.h"
#include "util/path.h"

/* ---- canonical text ----------------------------------------------------- */

/* A block is empty when the row after it does not lie deeper. */
static bool is_empty_block(const struct schema *schema, size_t row)
{
    return row + 1 == schema->n_rows ||
           schema->rows[row + 1].depth <= schema->rows[row].depth;
}

void config_write(const struct schema *schema, const struct config *config,
                  struct text *out)
{
    for (size_t i = 0; i < schema->n_rows; i++) {
        const struct schema_row *row = &schema->rows[i];

        text_add_repeated(out, ' ', 2 * (size_t)row->depth);
        text_addf(out, "%s:", row->key->name);
        if (row->key->type != KEY_BLOCK) {
            text_add_char(out, ' ');
            value_write(row, config, out);
        } else if (is_empty_block(schema, i)) {
            text_add(out, " {}");
        }
        text_add_char(out, '\n');
    }
}

void config_write_value(const struct schema *schema, size_t row,
                        const struct config *config, struct text *out)
{
    value_write(&schema->rows[row], config, out);
}

/* ---- identity ----------------------------------------------------------- */

/* A plugin is its name, wherever its file lies. */
void identity_write_plugin(const char *name, struct text *out)
{
    const char *base = path_basename(name);
    bool is_file = strchr(name, '/') != NULL;
    size_t length = strlen(base);

    if (is_file && strncmp(base, "m2_", 3) == 0) {
        base += 3;
        length -= 3;
    }
    if (is_file && length > 3 && strcmp(base + length - 3, ".so") == 0)
        length -= 3;
    if (!is_file)
        length = strcspn(base, ":");
    text_add_bytes(out, base, length);
}

/* The value of a key as it enters the identity. */
static void write_value(const struct schema_row *row,
                        const struct config *config,
                        const struct identity_facts *facts, struct text *out)
{
    const char *device =
        facts->backend != NULL ? facts->backend : config->device;

    if (strcmp(row->path, "device") == 0) {
        assert(strcmp(device, "auto") != 0);
        identity_write_plugin(device, out);
    } else if (strcmp(row->path, "data.source") == 0) {
        identity_write_plugin(config->data.source, out);
    } else if (strcmp(row->path, "model.init_from") == 0) {
        text_addf(out, "%s%s", facts->init_sha256 == NULL ? "null" : "sha256:",
                  facts->init_sha256 == NULL ? "" : facts->init_sha256);
    } else {
        value_write(row, config, out);
    }
}

static int compare_paths(const void *left, const void *right)
{
    const struct schema_row *const *a = left, *const *b = right;

    return strcmp((*a)->path, (*b)->path);
}

/* The rows that count, sorted by name.  NULL when out of memory. */
static const struct schema_row **sorted_rows(const struct schema *schema,
                                             size_t *count)
{
    const struct schema_row **rows =
        memory_zeroed(schema->n_rows, sizeof *rows, NULL);

    *count = 0;
    for (size_t i = 0; rows != NULL && i < schema->n_rows; i++)
        if (schema->rows[i].key->type != KEY_BLOCK &&
            (schema->rows[i].key->flags & KEY_NO_IDENTITY) == 0)
            rows[(*count)++] = &schema->rows[i];
    if (rows != NULL)
        qsort(rows, *count, sizeof *rows, compare_paths);
    return rows;
}

void identity_write(const struct schema *schema, const struct config *config,
                    const struct identity_facts *facts, struct text *out)
{
    size_t count;
    const struct schema_row **rows = sorted_rows(schema, &count);
    struct text mine = {0}, initial = {0};

    text_add(out, "m2run-identity-1\n");
    for (size_t i = 0; rows != NULL && i < count; i++) {
        text_clear(&mine);
        text_clear(&initial);
        write_value(rows[i], config, facts, &mine);
        value_write(rows[i], &schema->defaults, &initial);
        if (strcmp(text_string(&mine), text_string(&initial)) != 0)
            text_addf(out, "%s: %s\n", rows[i]->path, text_string(&mine));
    }
    text_add(out, "data:\n");
    if (facts->data != NULL)
        text_add(out, facts->data);
    out->failed = out->failed || rows == NULL || mine.failed || initial.failed;
    text_free(&mine);
    text_free(&initial);
    free(rows);
}

int identity_hash(const struct schema *schema, const struct config *config,
                  const struct identity_facts *facts, char out[SHA256_HEX_SIZE],
                  struct m2_error *err)
{
    uint8_t digest[SHA256_SIZE];
    struct text text = {0};
    int code;

    identity_write(schema, config, facts, &text);
    code = text_check(&text, err);
    if (code == 0)
        code = sha256_bytes(text_string(&text), text.length, digest, err);
    if (code == 0)
        sha256_hex(digest, out);
    text_free(&text);
    return code;
}
