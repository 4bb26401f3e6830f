/* Numbers, true and false, and words that are one of a list. */
#include <math.h>
#include <string.h>

#include "config/scalar.h"
#include "config/value_parts.h"
#include "util/number.h"
#include "util/suggest.h"

void value_type_error(const struct schema_row *row, const struct node *node,
                      const char *wanted, struct messages *messages)
{
    bool can_sweep = (row->key->flags & KEY_NO_SWEEP) == 0;

    if (node->kind == NODE_SCALAR && scalar_is_null(node))
        message_error(messages, node->place,
                      "'%s' has no value; leave the key out for its default, "
                      "%s",
                      row->path,
                      row->key->initial == NULL ? "null" : row->key->initial);
    else if (node->kind == NODE_SCALAR)
        message_error(messages, node->place, "'%s' must be %s, not '%s'",
                      row->path, wanted, node->text);
    else
        message_error(messages, node->place, "'%s' must be %s, not %s%s",
                      row->path, wanted, node_kind_name(node),
                      node->kind == NODE_LIST && can_sweep
                          ? "; values to try go under sweep: grid:"
                          : "");
}

/* The same, with a hint of scalar.h behind it. */ static void
hinted_error(const struct schema_row *row, const struct node *node,
             const char *wanted, const struct text *hint,
             struct messages *messages)
{
    if (hint->length == 0)
        value_type_error(row, node, wanted, messages);
    else
        message_error(messages, node->place, "'%s' must be %s, not '%s'%s",
                      row->path, wanted, node->text, text_string(hint));
}

static bool check_range(const struct schema_row *row, const struct node *node,
                        double number, struct messages *messages)
{
    const struct key *key = row->key;
    bool is_open_low = (key->flags & KEY_OPEN_LOW) != 0;
    bool is_open_high = (key->flags & KEY_OPEN_HIGH) != 0;
    bool has_range = key->low < key->high;
    const char *wanted = NULL;
    char limit[NUMBER_TEXT_SIZE] = "";

    if (isinf(number) && number > 0 && (key->flags & KEY_INFINITE) != 0)
        return true;
    if (!has_range && isinf(number)) {
        wanted = "a finite number";
    } else if (has_range &&
               (number < key->low || (number == key->low && is_open_low))) {
        wanted = is_open_low ? "greater than " : "at least ";
        number_print_double(key->low, limit);
    } else if (has_range &&
               (number > key->high || (number == key->high && is_open_high))) {
        wanted = is_open_high ? "less than " : "at most ";
        number_print_double(key->high, limit);
    }
    if (wanted != NULL)
        message_error(messages, node->place, "'%s' is %s; it must be %s%s",
                      row->path, node->text, wanted, limit);
    return wanted == NULL;
}
/* ---- numbers ------------------------------------------------------------ */

static bool is_word(const struct key *key, const struct node *node)
{
    if (key->word == NULL || node->kind != NODE_SCALAR)
        return false;
    if (strcmp(key->word, "null") == 0)
        return scalar_is_null(node);
    return strcmp(key->word, node->text) == 0;
}

/* "an integer", "a number or ignore". */
static const char *wanted_number(const struct key *key, bool whole,
                                 struct text *buffer)
{
    text_add(buffer, whole ? "an integer" : "a number");
    if (key->word != NULL)
        text_addf(buffer, " or %s", key->word);
    return text_string(buffer);
}

static void number_error(const struct schema_row *row, const struct node *node,
                         bool whole, struct messages *messages)
{
    struct text wanted = {0}, hint = {0};

    if (node->kind == NODE_SCALAR)
        scalar_hint_number(node, whole, &hint);
    hinted_error(row, node, wanted_number(row->key, whole, &wanted), &hint,
                 messages);
    text_free(&wanted);
    text_free(&hint);
}

bool value_read_int(const struct schema_row *row, const struct node *node,
                    int64_t *out, struct messages *messages)
{
    int64_t integer;

    if (is_word(row->key, node)) {
        *out = 0;
        return true;
    }
    if (!scalar_is_int(node, &integer)) {
        number_error(row, node, true, messages);
        return false;
    }
    if (!check_range(row, node, (double)integer, messages))
        return false;
    *out = integer;
    return true;
}

bool value_read_number(const struct schema_row *row, const struct node *node,
                       double *out, struct messages *messages)
{
    double number;

    if (is_word(row->key, node)) {
        *out = 0;
        return true;
    }
    if (!scalar_is_number(node, &number)) {
        number_error(row, node, false, messages);
        return false;
    }
    if (!check_range(row, node, number, messages))
        return false;
    *out = number + 0.0; /* -0 and 0 are one value */
    return true;
}

bool value_read_seed(const struct schema_row *row, const struct node *node,
                     uint64_t *out, struct messages *messages)
{
    int64_t negative;

    if (scalar_is_unsigned(node, out))
        return true;
    if (scalar_is_int(node, &negative))
        message_error(messages, node->place,
                      "'%s' is %s; it must be at least "
                      "0",
                      row->path, node->text);
    else
        number_error(row, node, true, messages);
    return false;
}

bool value_read_bool(const struct schema_row *row, const struct node *node,
                     bool *out, struct messages *messages)
{
    struct text hint = {0};

    if (scalar_is_bool(node, out))
        return true;
    if (node->kind == NODE_SCALAR)
        scalar_hint_bool(node, &hint);
    hinted_error(row, node, "true or false", &hint, messages);
    text_free(&hint);
    return false;
}

bool value_read_pair(const struct schema_row *row, const struct node *node,
                     double *out, struct messages *messages)
{
    double pair[2] = {0};
    const struct node *child = node->first;

    if (node->kind != NODE_LIST || node->n_children != 2) {
        message_error(messages, node->place,
                      "'%s' must be a list of two numbers, as %s", row->path,
                      row->key->initial);
        return false;
    }
    for (size_t i = 0; i < 2; i++, child = child->next)
        if (!value_read_number(row, child, &pair[i], messages))
            return false;
    memcpy(out, pair, sizeof pair);
    return true;
}
/* ---- words -------------------------------------------------------------- */

static void choice_error(const struct schema_row *row, const struct node *node,
                         const struct choice *choices,
                         struct messages *messages)
{
    struct suggestion near = suggest_start(node->text);
    struct text list = {0};

    for (const struct choice *c = choices; c->name != NULL; c++) {
        if (suggest_is_listed(c->habits, node->text)) {
            near.best = c->name;
            near.distance = 0;
        }
        suggest_try(&near, c->name);
        text_addf(&list, "%s%s", c == choices ? "" : ", ", c->name);
    }
    if (near.best == NULL && scalar_is_null(node))
        value_type_error(row, node, "one word", messages);
    else if (near.best != NULL)
        message_error(messages, node->place,
                      "'%s' cannot be '%s'; did you mean '%s'?", row->path,
                      node->text, near.best);
    else
        message_error(messages, node->place,
                      "'%s' cannot be '%s'; it is one of %s", row->path,
                      node->text, text_string(&list));
    text_free(&list);
}

bool value_read_choice(const struct schema_row *row, const struct node *node,
                       const struct choice *choices, size_t *out,
                       struct messages *messages)
{
    if (node->kind != NODE_SCALAR) {
        value_type_error(row, node, "one word", messages);
        return false;
    }
    for (size_t i = 0; choices[i].name != NULL; i++) {
        if (strcmp(choices[i].name, node->text) != 0)
            continue;
        *out = i;
        return true;
    }
    choice_error(row, node, choices, messages);
    return false;
}
