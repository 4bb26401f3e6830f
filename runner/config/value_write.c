/* One value: from a config into text. */
#include <string.h>

#include "config/scalar.h"
#include "config/value_parts.h"

static void write_strings(char *const *items, size_t count, struct text *out)
{
    text_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        text_add(out, i == 0 ? "" : ", ");
        scalar_write_string(out, items[i]);
    }
    text_add_char(out, ']');
}

static void write_choice(const struct key *key, const int *value,
                         struct text *out)
{
    const struct choice *choice = key->choices;

    while (choice->name != NULL && choice->value != *value)
        choice++;
    text_add(out, choice->name == NULL ? "null" : choice->name);
}

static void write_number(const struct key *key, double number, struct text *out)
{
    if (number == 0 && key->word != NULL)
        text_add(out, key->word);
    else
        scalar_write_number(out, number);
}

static void write_integer(const struct key *key, int64_t integer,
                          struct text *out)
{
    if (integer == 0 && key->word != NULL)
        text_add(out, key->word);
    else
        text_addf(out, "%lld", (long long)integer);
}

static void write_pair(const double *numbers, struct text *out)
{
    text_add_char(out, '[');
    scalar_write_number(out, numbers[0]);
    text_add(out, ", ");
    scalar_write_number(out, numbers[1]);
    text_add_char(out, ']');
}

void value_write(const struct schema_row *row, const struct config *config,
                 struct text *out)
{
    const struct key *key = row->key;
    const char *base = (const char *)config;
    const void *member =
        key->type == KEY_OPTION
            ? (const void *)(config->data.options + key->offset)
            : (const void *)(base + key->offset);
    const double *numbers = member;

    switch (key->type) {
    case KEY_FORMAT:
    case KEY_FIXED:
        text_add(out, key->initial);
        break;
    case KEY_STRING:
    case KEY_WORD:
        if (*(char *const *)member == NULL)
            text_add(out, "null");
        else
            scalar_write_string(out, *(char *const *)member);
        break;
    case KEY_BOOL:
        text_add(out, *(const bool *)member ? "true" : "false");
        break;
    case KEY_INT:
        write_integer(key, *(const int64_t *)member, out);
        break;
    case KEY_SEED:
        text_addf(out, "%llu", (unsigned long long)*(const uint64_t *)member);
        break;
    case KEY_FLOAT:
        write_number(key, *numbers, out);
        break;
    case KEY_CHOICE:
        write_choice(key, member, out);
        break;
    case KEY_PAIR:
        write_pair(numbers, out);
        break;
    case KEY_STRINGS:
    case KEY_EXPRESSIONS:
    case KEY_PATHS:
        write_strings(*(char **const *)member,
                      *(const size_t *)(const void *)(base + key->count_offset),
                      out);
        break;
    case KEY_BOUND:
        value_write_bound(member, out);
        break;
    case KEY_OPTION:
        value_write_option(row, member, out);
        break;
    case KEY_BLOCK:
        break;
    }
}

bool value_is_default(const struct schema *schema, size_t row,
                      const struct config *config)
{
    struct text mine = {0}, initial = {0};
    bool same;

    value_write(&schema->rows[row], config, &mine);
    value_write(&schema->rows[row], &schema->defaults, &initial);
    same = strcmp(text_string(&mine), text_string(&initial)) == 0;
    text_free(&mine);
    text_free(&initial);
    return same;
}