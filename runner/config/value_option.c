/* Options of the data plugin, checked against the plugin's own table. */
#include "config/value_parts.h"

#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "util/number.h"

static bool read_scalar(const struct schema_row *row, const struct node *node,
                        struct config_option *out, struct text *canonical,
                        struct messages *messages)
{
    bool boolean = false;
    char printed[NUMBER_TEXT_SIZE];

    switch (row->key->option->type) {
    case M2_OPTION_BOOL:
        if (!value_read_bool(row, node, &boolean, messages))
            return false;
        out->integer = boolean;
        out->number = boolean;
        text_add(canonical, boolean ? "true" : "false");
        return true;
    case M2_OPTION_INT:
        if (!value_read_int(row, node, &out->integer, messages))
            return false;
        out->number = (double)out->integer;
        text_addf(canonical, "%lld", (long long)out->integer);
        return true;
    case M2_OPTION_FLOAT:
        if (!value_read_number(row, node, &out->number, messages))
            return false;
        text_add(canonical, number_print_double(out->number, printed));
        return true;
    default:
        if (node->kind != NODE_SCALAR ||
            (node->text[0] == '\0' && !node->quoted)) {
            value_type_error(row, node, "a string", messages);
            return false;
        }
        text_add(canonical, node->text);
        return true;
    }
}

/* One of the plugin's choices. */
static bool check_choice(const struct schema_row *row, const struct node *node,
                         struct messages *messages)
{
    struct choice choices[64] = {{0}};
    const char *const *name = row->key->option->choices;
    size_t index;

    for (size_t i = 0; i < 63 && name[i] != NULL; i++)
        choices[i].name = name[i];
    return value_read_choice(row, node, choices, &index, messages);
}

static bool read_texts(const struct schema_row *row, const struct node *node,
                       struct config_option *out, struct string_list *texts,
                       struct messages *messages)
{
    const struct m2_option *option = row->key->option;
    struct text canonical = {0};
    bool ok;

    if (option->type == M2_OPTION_STRINGS)
        return value_read_strings(row, node, false, texts, messages);
    if (option->type == M2_OPTION_CHOICE && !check_choice(row, node, messages))
        return false;
    ok = read_scalar(row, node, out, &canonical, messages);
    if (ok && string_list_add(texts, text_string(&canonical), NULL) != 0) {
        messages->failed = true;
        ok = false;
    }
    text_free(&canonical);
    return ok;
}

bool value_read_option(const struct schema_row *row, const struct node *node,
                       struct config_option *out, struct messages *messages)
{
    const struct m2_option *option = row->key->option;
    struct config_option value = {.texts = out->texts, .n_texts = out->n_texts};
    struct string_list texts = {0};
    bool ok = true;

    /* no value is a value where the plugin gives none */
    if (option->initial != NULL || !scalar_is_null(node))
        ok = read_texts(row, node, &value, &texts, messages);
    if (ok && (!value_store_strings(&value.texts, &value.n_texts, &texts) ||
               !value_store_string(&out->name, option->name))) {
        messages->failed = true;
        ok = false;
    }
    string_list_free(&texts);
    if (!ok)
        return false;
    value.name = out->name;
    *out = value;
    return true;
}

void value_write_option(const struct schema_row *row,
                        const struct config_option *option, struct text *out)
{
    enum m2_option_type type = row->key->option->type;
    bool is_list = type == M2_OPTION_STRINGS && option->n_texts != 1;
    bool is_text = type != M2_OPTION_BOOL && type != M2_OPTION_INT &&
                   type != M2_OPTION_FLOAT;

    if (option->n_texts == 0 && !is_list) {
        text_add(out, "null");
        return;
    }
    text_add(out, is_list ? "[" : "");
    for (size_t i = 0; i < option->n_texts; i++) {
        text_add(out, i == 0 ? "" : ", ");
        if (is_text)
            scalar_write_string(out, option->texts[i]);
        else
            text_add(out, option->texts[i]);
    }
    text_add(out, is_list ? "]" : "");
}
