/* The reference of every key as a Markdown page. */
#include "config/reference.h"

#include <string.h>

#include "config/value.h"

/* Text in a cell of a table: a bar would end it. */
static void add_cell(struct text *out, const char *string)
{
    for (const char *p = string; *p != '\0'; p++) {
        if (*p == '|')
            text_add_char(out, '\\');
        text_add_char(out, *p);
    }
}

/* Words of the help that are code keep their own marks. */
static void add_row(const struct schema *schema, const struct schema_row *row,
                    struct text *out)
{
    const struct key *key = row->key;
    struct text words = {0}, initial = {0};

    reference_describe(row, &words);
    if (strcmp(row->path, "name") == 0)
        text_add(&initial, "the file's");
    else
        value_write(row, &schema->defaults, &initial);
    text_addf(out, "| `%s` | `", key->name);
    add_cell(out, text_string(&initial));
    text_add(out, "` | ");
    add_cell(out, text_string(&words));
    text_add(out, " | ");
    add_cell(out, key->help);
    if ((key->flags & KEY_NO_IDENTITY) != 0)
        text_add(out, " Not part of a run's identity.");
    text_add(out, " |\n");
    text_free(&words);
    text_free(&initial);
}

/* The keys of one block that are no blocks themselves. */
static void add_table(const struct schema *schema, size_t first, int depth,
                      struct text *out)
{
    bool has_head = false;

    for (size_t i = first; i < schema->n_rows; i++) {
        const struct schema_row *row = &schema->rows[i];

        if (row->depth < depth)
            break;
        if (row->depth > depth || row->key->type == KEY_BLOCK)
            continue;
        if (!has_head)
            text_add(out, "\n| key | default | values | meaning |\n"
                          "| --- | --- | --- | --- |\n");
        has_head = true;
        add_row(schema, row, out);
    }
}

static void add_introduction(struct text *out)
{
    text_add(out, "# Reference of the experiment file\n\n"
                  "Made by `m2run schema --format markdown`; the same text is "
                  "`man 5 m2run-config`.\nFor completion in an editor: `m2run "
                  "schema --format json > m2run.schema.json`, and as\nthe "
                  "first line of an experiment\n`# yaml-language-server: "
                  "$schema=m2run.schema.json`.\n");
    for (const struct reference_section *s = reference_sections;
         s->title != NULL; s++)
        text_addf(out, "\n## %s\n\n%s\n", s->title, s->text);
}

static int add_source(const struct reference_source *source, struct text *out,
                      struct m2_error *err)
{
    struct schema schema;
    size_t block;
    int code = schema_init(&schema, "mamba2", source->options, err);

    if (code != 0)
        return code;
    block = schema_find(&schema, "data.options");
    text_addf(out, "\n## data.options of source `%s`\n\n%s\n", source->name,
              source->help == NULL ? "" : source->help);
    add_table(&schema, block + 1, schema.rows[block].depth + 1, out);
    schema_free(&schema);
    return 0;
}

int reference_write_markdown(const struct reference_source *sources,
                             size_t count, struct text *out,
                             struct m2_error *err)
{
    struct schema schema;
    int code = schema_init(&schema, "mamba2", NULL, err);

    if (code != 0)
        return code;
    add_introduction(out);
    text_add(out, "\n## Top of the file\n");
    add_table(&schema, 0, 0, out);
    for (size_t i = 0; i < schema.n_rows; i++) {
        const struct schema_row *row = &schema.rows[i];

        if (row->key->type != KEY_BLOCK ||
            strcmp(row->path, "data.options") == 0)
            continue;
        text_addf(out, "\n## %s\n\n%s\n", row->path, row->key->help);
        add_table(&schema, i + 1, row->depth + 1, out);
    }
    for (size_t i = 0; code == 0 && i < count; i++)
        code = add_source(&sources[i], out, err);
    schema_free(&schema);
    return code != 0 ? code : text_check(out, err);
}
