/* The manual page m2run-config(5). */
#include "config/reference.h"

#include <ctype.h>
#include <string.h>

#include "config/value.h"
#include "util/build.h"

/* Text that roff prints as it is: no requests, escapes or hyphenation. */
static void add_plain(struct text *out, const char *string)
{
    bool is_start = true;

    for (const char *p = string; *p != '\0'; p++) {
        if (is_start && (*p == '.' || *p == '\''))
            text_add(out, "\\&");
        if (*p == '\\')
            text_add(out, "\\e");
        else if (*p == '-')
            text_add(out, "\\-");
        else
            text_add_char(out, *p);
        is_start = *p == '\n';
    }
}

static void add_heading(struct text *out, const char *request,
                        const char *title)
{
    text_addf(out, "%s \"", request);
    for (const char *p = title; *p != '\0'; p++)
        text_add_char(out, (char)toupper((unsigned char)*p));
    text_add(out, "\"\n");
}

static void add_key(const struct schema *schema, const struct schema_row *row,
                    struct text *out)
{
    struct text words = {0}, initial = {0};

    reference_describe(row, &words);
    if (strcmp(row->path, "name") == 0)
        text_add(&initial, "that of the file");
    else
        value_write(row, &schema->defaults, &initial);
    text_add(out, ".TP\n.B ");
    add_plain(out, row->path);
    text_add_char(out, '\n');
    add_plain(out, row->key->help);
    text_add(out, "\n.br\n");
    add_plain(out, text_string(&words));
    text_add(out, "; default ");
    add_plain(out, text_string(&initial));
    text_add(out, (row->key->flags & KEY_NO_IDENTITY) != 0
                      ? "; not part of a run's identity.\n"
                      : ".\n");
    text_free(&words);
    text_free(&initial);
}

/* Paragraphs; those that begin with a blank are printed line by line. */
static void add_paragraphs(struct text *out, const char *string)
{
    while (*string != '\0') {
        const char *end = strstr(string, "\n\n");
        size_t length = end == NULL ? strlen(string) : (size_t)(end - string);
        struct text paragraph = {0};
        bool is_example = string[0] == ' ';

        text_add_bytes(&paragraph, string, length);
        text_add(out, is_example ? ".PP\n.nf\n" : ".PP\n");
        add_plain(out, text_string(&paragraph));
        text_add(out, is_example ? "\n.fi\n" : "\n");
        text_free(&paragraph);
        string += length + (end == NULL ? 0 : 2);
    }
}

static int add_source(const struct reference_source *source, struct text *out,
                      struct m2_error *err)
{
    struct schema schema;
    struct text title = {0};
    size_t block;
    int code = schema_init(&schema, "mamba2", source->options, err);

    if (code != 0)
        return code;
    block = schema_find(&schema, "data.options");
    text_addf(&title, "data.options of source %s", source->name);
    add_heading(out, ".SH", text_string(&title));
    text_free(&title);
    add_plain(out, source->help == NULL ? "" : source->help);
    text_add_char(out, '\n');
    for (size_t i = block + 1;
         i < schema.n_rows && schema.rows[i].depth > schema.rows[block].depth;
         i++)
        add_key(&schema, &schema.rows[i], out);
    schema_free(&schema);
    return 0;
}

static void add_keys(const struct schema *schema, struct text *out)
{
    add_heading(out, ".SH", "keys at the top");
    for (size_t i = 0; i < schema->n_rows; i++) {
        const struct schema_row *row = &schema->rows[i];

        if (strcmp(row->path, "data.options") == 0)
            continue;
        if (row->key->type != KEY_BLOCK) {
            add_key(schema, row, out);
            continue;
        }
        add_heading(out, row->depth == 0 ? ".SH" : ".SS", row->path);
        add_plain(out, row->key->help);
        text_add_char(out, '\n');
    }
}

int reference_write_man(const struct reference_source *sources, size_t count,
                        struct text *out, struct m2_error *err)
{
    struct schema schema;
    int code = schema_init(&schema, "mamba2", NULL, err);

    if (code != 0)
        return code;
    text_addf(out,
              ".\\\" Made by m2run schema --format man\n"
              ".TH M2RUN\\-CONFIG 5 \"\" \"m2run %s\" \"m2run\"\n"
              ".SH NAME\nm2run\\-config \\- experiment files of m2run\n",
              build_facts()->version);
    for (const struct reference_section *s = reference_sections;
         s->title != NULL; s++) {
        add_heading(out, ".SH", s->title);
        add_paragraphs(out, s->text);
    }
    add_keys(&schema, out);
    for (size_t i = 0; code == 0 && i < count; i++)
        code = add_source(&sources[i], out, err);
    text_add(out, ".SH SEE ALSO\n.BR m2run (1)\n");
    schema_free(&schema);
    return code != 0 ? code : text_check(out, err);
}
