/* The schema tables as JSON Schema, draft 2020-12. */
#include "config/reference.h"

#include <string.h>

#include "config/value.h"
#include "util/number.h"

/* ---- one key ------------------------------------------------------------ */

static void add_limits(const struct key *key, struct text *out)
{
    char printed[NUMBER_TEXT_SIZE];

    if (!(key->low < key->high))
        return;
    text_addf(out, ", \"%s\": %s",
              (key->flags & KEY_OPEN_LOW) != 0 ? "exclusiveMinimum" : "minimum",
              number_print_double(key->low, printed));
    if ((key->flags & KEY_INFINITE) == 0)
        text_addf(out, ", \"%s\": %s",
                  (key->flags & KEY_OPEN_HIGH) != 0 ? "exclusiveMaximum"
                                                    : "maximum",
                  number_print_double(key->high, printed));
}

/* A number; or the word that stands for 0. */
static void add_number(const struct key *key, const char *type,
                       struct text *out)
{
    if (key->word != NULL)
        text_add(out, "\"anyOf\": [{");
    text_addf(out, "\"type\": \"%s\"", type);
    add_limits(key, out);
    if (key->word == NULL)
        return;
    if (strcmp(key->word, "null") == 0)
        text_add(out, "}, {\"type\": \"null\"}]");
    else
        text_addf(out, "}, {\"const\": \"%s\"}]", key->word);
}

static void add_enum(const struct key *key, struct text *out)
{
    text_add(out, "\"enum\": [");
    for (const struct choice *c = key->choices; c->name != NULL; c++) {
        text_add(out, c == key->choices ? "" : ", ");
        text_add_json(out, c->name);
    }
    text_add(out, "]");
}

static void add_string_list(struct text *out)
{
    text_add(out, "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", "
                  "\"items\": {\"type\": \"string\"}}]");
}

static void add_option(const struct key *key, struct text *out)
{
    const char *const *choices = key->option->choices;

    switch (key->option->type) {
    case M2_OPTION_BOOL:
        text_add(out, "\"type\": \"boolean\"");
        break;
    case M2_OPTION_INT:
        add_number(key, "integer", out);
        break;
    case M2_OPTION_FLOAT:
        add_number(key, "number", out);
        break;
    case M2_OPTION_CHOICE:
        text_add(out, "\"enum\": [");
        for (size_t i = 0; choices[i] != NULL; i++) {
            text_add(out, i == 0 ? "" : ", ");
            text_add_json(out, choices[i]);
        }
        text_add(out, "]");
        break;
    case M2_OPTION_STRINGS:
        add_string_list(out);
        break;
    case M2_OPTION_STRING: /* unquoted digits are text here, not to an editor */
        text_add(out, "\"type\": [\"string\", \"number\"]");
        break;
    }
}

static void add_string(const struct key *key, struct text *out)
{
    text_add(out, key->initial == NULL ? "\"type\": [\"string\", \"null\"]"
                                       : "\"type\": \"string\"");
    if ((key->flags & KEY_IS_NAME) != 0)
        text_add(out, ", \"pattern\": \"^[A-Za-z0-9_][A-Za-z0-9._-]{0,79}$\"");
}

static void add_type(const struct schema_row *row, struct text *out)
{
    const struct key *key = row->key;

    switch (key->type) {
    case KEY_FORMAT:
        text_add(out, "\"const\": 1");
        break;
    case KEY_FIXED:
    case KEY_WORD:
    case KEY_CHOICE:
        add_enum(key, out);
        break;
    case KEY_STRING:
        add_string(key, out);
        break;
    case KEY_BOOL:
        text_add(out, "\"type\": \"boolean\"");
        break;
    case KEY_INT:
        add_number(key, "integer", out);
        break;
    case KEY_SEED:
        text_add(out, "\"type\": \"integer\", \"minimum\": 0");
        break;
    case KEY_FLOAT:
        add_number(key, "number", out);
        break;
    case KEY_PAIR:
        text_add(out, "\"type\": \"array\", \"minItems\": 2, \"maxItems\": 2, "
                      "\"items\": {");
        add_number(key, "number", out);
        text_add(out, "}");
        break;
    case KEY_STRINGS:
    case KEY_EXPRESSIONS:
    case KEY_PATHS:
        add_string_list(out);
        break;
    case KEY_BOUND:
        text_add(out, "\"anyOf\": [{\"type\": \"number\", \"minimum\": 0}, "
                      "{\"type\": \"string\", \"pattern\": "
                      "\"^[0-9]{4}-[0-9]{2}-[0-9]{2}\"}]");
        break;
    case KEY_OPTION:
        add_option(key, out);
        break;
    case KEY_BLOCK:
        break;
    }
}

static void add_description(const struct schema *schema,
                            const struct schema_row *row, struct text *out)
{
    struct text description = {0};

    text_add(&description, row->key->help);
    if (row->key->type != KEY_BLOCK && strcmp(row->path, "name") != 0) {
        text_add(&description, " Default: ");
        value_write(row, &schema->defaults, &description);
        text_add_char(&description, '.');
    }
    text_add(out, ", \"description\": ");
    text_add_json(out, text_string(&description));
    text_free(&description);
}

/* ---- blocks ------------------------------------------------------------- */

static void start_line(struct text *out, int depth)
{
    text_add_char(out, '\n');
    text_add_repeated(out, ' ', 2 * (size_t)depth);
}

/* The properties of a block whose first row is `first`, at this depth, without
 * the closing brace.  Returns the row after the block. */
static size_t add_properties(const struct schema *schema, size_t first,
                             int depth, struct text *out)
{
    size_t i = first;

    text_add(out, "\"properties\": {");
    while (i < schema->n_rows && schema->rows[i].depth == depth) {
        const struct schema_row *row = &schema->rows[i++];

        text_add(out, i == first + 1 ? "" : ",");
        start_line(out, depth + 1);
        text_add_json(out, row->key->name);
        text_add(out, ": {");
        if (strcmp(row->path, "data.options") == 0) {
            text_add(out, "\"type\": [\"object\", \"null\"]");
        } else if (row->key->type == KEY_BLOCK) {
            text_add(out, "\"type\": [\"object\", \"null\"], "
                          "\"additionalProperties\": false, ");
            i = add_properties(schema, i, depth + 1, out);
            text_add_char(out, '}');
        } else {
            add_type(row, out);
        }
        add_description(schema, row, out);
        text_add(out, "}");
    }
    return i;
}

/* The options of one data source; synthetic is what no source means. */
static int add_source(const struct reference_source *source, struct text *out,
                      struct m2_error *err)
{
    struct schema schema;
    size_t block;
    int code = schema_init(&schema, "mamba2", source->options, err);

    if (code != 0)
        return code;
    block = schema_find(&schema, "data.options");
    text_add_char(out, ',');
    start_line(out, 1);
    text_add(out, "{\"if\": {\"properties\": {\"data\": {\"properties\": "
                  "{\"source\": {\"const\": ");
    text_add_json(out, source->name);
    text_addf(out, "}}%s}}},",
              strcmp(source->name, "synthetic") == 0
                  ? ""
                  : ", \"required\": [\"source\"]");
    start_line(out, 2);
    text_add(out, "\"then\": {\"properties\": {\"data\": {\"properties\": "
                  "{\"options\": {\"additionalProperties\": false, ");
    add_properties(&schema, block + 1, schema.rows[block].depth + 1, out);
    text_add(out, "}}}}}}}");
    schema_free(&schema);
    return 0;
}

int reference_write_json(const struct reference_source *sources, size_t count,
                         struct text *out, struct m2_error *err)
{
    struct schema schema;
    int code = schema_init(&schema, "mamba2", NULL, err);

    if (code != 0)
        return code;
    text_add(out, "{\n\"$schema\": "
                  "\"https://json-schema.org/draft/2020-12/schema\",\n"
                  "\"title\": \"m2run experiment\",\n\"type\": \"object\",\n"
                  "\"additionalProperties\": false,\n");
    add_properties(&schema, 0, 0, out);
    text_add(out, ",\n  \"include\": {\"anyOf\": [{\"type\": \"string\"}, "
                  "{\"type\": \"array\", \"items\": {\"type\": "
                  "\"string\"}}], \"description\": \"Files merged below this "
                  "one.\"},\n  ");
    reference_add_sweep(&schema, out);
    text_add(out, "},\n\"allOf\": [{}");
    for (size_t i = 0; code == 0 && i < count; i++)
        code = add_source(&sources[i], out, err);
    text_add(out, "]\n}\n");
    schema_free(&schema);
    return code != 0 ? code : text_check(out, err);
}
