/* Conditions on runs, and their order. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "results/query.h"
#include "util/memory.h"

/* Longer signs first: "<=" begins with "<". */
static const struct sign {
    const char *text;
    enum run_relation relation;
} signs[] = {
    {"<=", RUN_LESS_EQUAL}, {">=", RUN_GREATER_EQUAL}, {"!=", RUN_UNEQUAL},
    {"==", RUN_EQUAL},      {"<", RUN_LESS},           {">", RUN_GREATER},
    {"=", RUN_EQUAL},
};

static const struct sign *sign_at(const char *text)
{
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (strncmp(text, signs[i].text, strlen(signs[i].text)) == 0)
            return &signs[i];
    return NULL;
}

bool run_condition_is(const char *text)
{
    size_t length = strcspn(text, "<>=!");

    return length > 0 && text[length] != '\0' && sign_at(text + length) != NULL;
}

static bool is_order(enum run_relation relation)
{
    return relation != RUN_EQUAL && relation != RUN_UNEQUAL;
}

/* True when runs have values and all of these are numbers. */
static bool has_only_numbers(const struct run_list *list,
                             const struct run_key *key)
{
    bool any = false;

    for (size_t i = 0; i < list->n; i++) {
        char buffer[NUMBER_TEXT_SIZE];
        const char *text = run_key_text(key, &list->entries[i], buffer);
        double number;

        if (text == NULL || run_text_is_missing(key, text))
            continue;
        if (!number_parse_double(text, &number))
            return false;
        any = true;
    }
    return any;
}

/* As text every number is below a word, so a slip would keep all the runs. */
static int check_order(const struct run_list *list, const char *text,
                       const struct run_condition *condition,
                       struct m2_error *err)
{
    double number;

    if (!is_order(condition->relation) ||
        number_parse_double(condition->value, &number))
        return 0;
    if (*condition->value == '\0')
        return m2_fail(err, M2_E_USAGE, "'%s': expected a value at its end",
                       text);
    if (has_only_numbers(list, &condition->key))
        return m2_fail(err, M2_E_USAGE,
                       "'%s': '%s' is a number, expected one in place of '%s'",
                       text, condition->key.name, condition->value);
    return 0;
}

int run_condition_parse(const struct run_list *list, const char *text,
                        struct run_condition *out, struct m2_error *err)
{
    size_t length = strcspn(text, "<>=!");
    const struct sign *sign = sign_at(text + length);
    char word[sizeof out->key.name];
    int code;

    if (length == 0 || length >= sizeof word || sign == NULL)
        return m2_fail(err, M2_E_USAGE,
                       "'%s' is no condition; expected KEY=VALUE, or != < <= "
                       "> >= in place of =",
                       text);
    memcpy(word, text, length);
    word[length] = '\0';
    out->relation = sign->relation;
    out->value = text + length + strlen(sign->text);
    code = run_key_find(list, word, &out->key, err);
    return code != 0 ? code : check_order(list, text, out, err);
}

static bool text_equals(const char *text, const char *value)
{
    if (strcmp(text, value) == 0)
        return true;
    return strpbrk(value, "*?") != NULL && fnmatch(value, text, 0) == 0;
}

static bool holds(enum run_relation relation, int order)
{
    switch (relation) {
    case RUN_EQUAL:
        return order == 0;
    case RUN_UNEQUAL:
        return order != 0;
    case RUN_LESS:
        return order < 0;
    case RUN_LESS_EQUAL:
        return order <= 0;
    case RUN_GREATER:
        return order > 0;
    case RUN_GREATER_EQUAL:
        return order >= 0;
    }
    return false;
}

bool run_condition_holds(const struct run_condition *condition,
                         const struct run_entry *entry)
{
    char buffer[NUMBER_TEXT_SIZE];
    const char *text = run_key_text(&condition->key, entry, buffer);
    double a, b;

    if (text == NULL)
        return condition->relation == RUN_UNEQUAL;
    if (number_parse_double(condition->value, &b)) {
        if (number_parse_double(text, &a))
            return holds(condition->relation, (a > b) - (a < b));
        if (condition->key.kind != RUN_KEY_FACT) /* a fact may be a time */
            return condition->relation == RUN_UNEQUAL;
    }
    if (text_equals(text, condition->value))
        return holds(condition->relation, 0);
    return holds(condition->relation, strcmp(text, condition->value));
}

void run_list_filter(struct run_list *list,
                     const struct run_condition *conditions, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++) {
        size_t c = 0;

        while (c < n && run_condition_holds(&conditions[c], &list->entries[i]))
            c++;
        if (c == n)
            list->entries[kept++] = list->entries[i];
        else
            run_entry_free(&list->entries[i]);
    }
    list->n = kept;
}

/* ---- order --------------------------------------------------------------- */

enum rank { RANK_NUMBER, RANK_TEXT, RANK_MISSING };

struct sort_item {
    struct run_entry entry;
    enum rank rank;
    double number;
    char *text;
    size_t index;
    bool descending;
};

static int compare(const void *left, const void *right)
{
    const struct sort_item *a = left, *b = right;
    int order = 0;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->rank == RANK_NUMBER)
        order = (a->number > b->number) - (a->number < b->number);
    else if (a->rank == RANK_TEXT)
        order = strcmp(a->text, b->text);
    if (order != 0)
        return a->descending ? -order : order;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int make_item(const struct run_key *key, struct sort_item *item,
                     struct m2_error *err)
{
    char buffer[NUMBER_TEXT_SIZE];
    const char *text = run_key_text(key, &item->entry, buffer);

    item->rank = RANK_MISSING;
    if (text == NULL || run_text_is_missing(key, text))
        return 0;
    item->rank = RANK_NUMBER;
    if (number_parse_double(text, &item->number))
        return 0;
    item->rank = RANK_TEXT;
    item->text = memory_string(text, err);
    return item->text == NULL ? M2_E_MEMORY : 0;
}

int run_list_sort(struct run_list *list, const struct run_key *key,
                  bool descending, struct m2_error *err)
{
    struct sort_item *items = memory_zeroed(list->n, sizeof *items, err);
    int code = items == NULL && list->n > 0 ? M2_E_MEMORY : 0;

    for (size_t i = 0; code == 0 && i < list->n; i++) {
        items[i].entry = list->entries[i];
        items[i].index = i;
        items[i].descending = descending;
        code = make_item(key, &items[i], err);
    }
    if (code == 0 && list->n > 0) {
        qsort(items, list->n, sizeof *items, compare);
        for (size_t i = 0; i < list->n; i++)
            list->entries[i] = items[i].entry;
    }
    for (size_t i = 0; items != NULL && i < list->n; i++)
        free(items[i].text);
    free(items);
    return code;
}
