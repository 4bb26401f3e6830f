/* The sweep block in the JSON Schema. */
#include <stddef.h>

#include "config/reference.h"

static bool can_sweep(const struct schema_row *row)
{
    return row->key->type != KEY_BLOCK && row->key->type != KEY_SEED &&
           (row->key->flags & KEY_NO_SWEEP) == 0;
}

/* A key's own schema, by its place in this document. */
static void add_pointer(const char *path, struct text *out)
{
    text_add(out, "{\"$ref\": \"#/properties/");
    for (const char *p = path; *p != '\0'; p++) {
        if (*p == '.')
            text_add(out, "/properties/");
        else
            text_add_char(out, *p);
    }
    text_add(out, "\"}");
}

/* Every key that can be swept, by its full name: `before` and `after` stand
 * around the key's own schema. */
static void add_keys(const struct schema *schema, const char *before,
                     const char *after, struct text *out)
{
    bool is_first = true;

    for (size_t i = 0; i < schema->n_rows; i++) {
        if (!can_sweep(&schema->rows[i]))
            continue;
        text_addf(out, "%s\n      \"%s\": %s", is_first ? "" : ",",
                  schema->rows[i].path, before);
        add_pointer(schema->rows[i].path, out);
        text_add(out, after);
        is_first = false;
    }
}

/* Keys with lists of their values; a range is text. */
static void add_axes(const struct schema *schema, struct text *out)
{
    text_add(out, "\"additionalProperties\": {\"type\": [\"array\", "
                  "\"string\"], \"minItems\": 1}, \"properties\": {");
    add_keys(schema,
             "{\"type\": [\"array\", \"string\"], \"minItems\": 1, \"items\": ",
             "}", out);
    text_add_char(out, '}');
}

static void add_distributions(struct text *out)
{
    static const struct {
        const char *name;
        int n; /* arguments, 0: any number */
    } distributions[] = {
        {"uniform", 2}, {"loguniform", 2}, {"quniform", 3},
        {"normal", 2},  {"int", 2},        {"choice", 0},
    };

    text_add(out, "{\"type\": \"object\", \"minProperties\": 1, "
                  "\"maxProperties\": 1, \"additionalProperties\": false, "
                  "\"properties\": {");
    for (size_t i = 0; i < sizeof distributions / sizeof *distributions; i++) {
        int n = distributions[i].n;

        text_addf(out, "%s\"%s\": {\"type\": \"array\", \"minItems\": %d",
                  i == 0 ? "" : ", ", distributions[i].name, n > 0 ? n : 1);
        if (n > 0)
            text_addf(out,
                      ", \"maxItems\": %d, \"items\": {\"type\": "
                      "\"number\"}",
                      n);
        text_add_char(out, '}');
    }
    text_add(out, "}}");
}

static void add_random(struct text *out)
{
    text_add(out,
             "    \"random\": {\"type\": [\"object\", \"null\"], "
             "\"additionalProperties\": false, \"required\": [\"n\"], "
             "\"description\": \"Trials that draw what params says.\", "
             "\"properties\": {\"n\": {\"type\": \"integer\", \"minimum\": 1}, "
             "\"seed\": {\"type\": \"integer\", \"minimum\": 0}, "
             "\"params\": {\"type\": \"object\", \"additionalProperties\": ");
    add_distributions(out);
    text_add(out, "}}},\n    \"params\": {\"type\": [\"object\", \"null\"], "
                  "\"description\": \"Keys and the distributions they are "
                  "drawn from.\", \"additionalProperties\": ");
    add_distributions(out);
    text_add(out, "},\n");
}

static void add_scalars(struct text *out)
{
    text_add(out,
             "    \"exclude\": {\"type\": [\"array\", \"string\", \"null\"], "
             "\"items\": {\"type\": \"string\"}, \"description\": \"Points "
             "that are left out, as d_state == 64 && d_model == 256.\"},\n"
             "    \"seeds\": {\"type\": [\"integer\", \"array\", \"string\"], "
             "\"minimum\": 1, \"items\": {\"type\": \"integer\", \"minimum\": "
             "0}, \"description\": \"Runs of each combination: a number of "
             "seeds from seed on, or a list of seeds.\"},\n"
             "    \"max_runs\": {\"type\": \"integer\", \"minimum\": 1, "
             "\"maximum\": 1000000, \"default\": 10000, \"description\": "
             "\"More runs are an error.\"}}}");
}

void reference_add_sweep(const struct schema *schema, struct text *out)
{
    text_add(out, "\"sweep\": {\"type\": [\"object\", \"null\"], "
                  "\"additionalProperties\": false, \"properties\": {\n"
                  "    \"grid\": {\"type\": [\"object\", \"null\"], "
                  "\"description\": \"Keys and the values they take; every "
                  "combination is a run.\", ");
    add_axes(schema, out);
    text_add(out, "},\n    \"zip\": {\"type\": [\"array\", \"object\", "
                  "\"null\"], \"description\": \"Groups of keys that change "
                  "together: lists of equal lengths.\", \"items\": {\"type\": "
                  "\"object\", ");
    add_axes(schema, out);
    text_add(out, "}},\n    \"list\": {\"type\": [\"array\", \"null\"], "
                  "\"minItems\": 1, \"description\": \"Whole points, each "
                  "with its keys and a label.\", \"items\": {\"type\": "
                  "\"object\", \"properties\": {");
    add_keys(schema, "", "", out);
    text_add(out, ",\n      \"label\": {\"type\": \"string\", \"maxLength\": "
                  "40, \"pattern\": \"^[A-Za-z0-9._-]+$\"}}}},\n");
    add_random(out);
    add_scalars(out);
}
