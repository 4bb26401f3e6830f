/* One value: from a node into a config, from a config into text. */
#include "config/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "config/suggest.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"

/* ---- storing ------------------------------------------------------------ */

bool value_store_string(char **slot, const char *text)
{
    char *copy = text == NULL ? NULL : memory_string(text, NULL);

    if (text != NULL && copy == NULL)
        return false;
    free(*slot);
    *slot = copy;
    return true;
}

bool value_store_strings(char ***slot, size_t *count,
                         const struct string_list *list)
{
    char **copies = memory_zeroed(list->count, sizeof *copies, NULL);
    size_t n = 0;

    while (copies != NULL && n < list->count &&
           (copies[n] = memory_string(list->items[n], NULL)) != NULL)
        n++;
    if (n < list->count) {
        while (n > 0)
            free(copies[--n]);
        free(copies);
        return false;
    }
    for (size_t i = 0; i < *count; i++)
        free((*slot)[i]);
    free(*slot);
    *slot = copies;
    *count = list->count;
    return true;
}

/* ---- messages ----------------------------------------------------------- */

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

/* The same, with a hint of scalar.h behind it. */
static void hinted_error(const struct schema_row *row, const struct node *node,
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

/* ---- numbers and words -------------------------------------------------- */

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

static bool read_seed(const struct schema_row *row, const struct node *node,
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

static bool read_pair(const struct schema_row *row, const struct node *node,
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
    if (near.best != NULL)
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

/* ---- strings ------------------------------------------------------------ */

static bool check_name(const struct schema_row *row, const struct node *node,
                       struct messages *messages)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(node->text);

    if (length > 0 && length <= 80 && node->text[0] != '.' &&
        node->text[0] != '-' && node->text[strspn(node->text, allowed)] == '\0')
        return true;
    message_error(messages, node->place,
                  "'%s' names a folder: 1 to 80 letters, digits and . _ -, "
                  "not beginning with . or -",
                  row->path);
    return false;
}

char *value_resolve_path(const struct node *node, const char *text)
{
    const char *file = node->place.source->path;
    const char *home = getenv("HOME");
    char *joined = NULL, *absolute;

    if (strncmp(text, "~/", 2) == 0 && home != NULL)
        joined = path_join(home, text + 2, NULL);
    else if (file != NULL)
        joined = path_resolve(file, text, NULL);
    else
        joined = memory_string(text, NULL);
    if (joined == NULL)
        return NULL;
    absolute = path_absolute(joined, NULL);
    free(joined);
    return absolute;
}

static bool read_string(const struct schema_row *row, const struct node *node,
                        char **out, struct messages *messages)
{
    bool is_path = (row->key->flags & KEY_IS_PATH) != 0;
    char *path = NULL;
    bool stored;

    if (row->key->initial == NULL && node->kind == NODE_SCALAR &&
        scalar_is_null(node))
        return value_store_string(out, NULL);
    if (node->kind != NODE_SCALAR ||
        (scalar_is_null(node) && node->text[0] == '\0')) {
        value_type_error(row, node, "a string", messages);
        return false;
    }
    if ((row->key->flags & KEY_IS_NAME) != 0 &&
        !check_name(row, node, messages))
        return false;
    if (is_path && strchr(node->text, '/') != NULL)
        path = value_resolve_path(node, node->text);
    stored = value_store_string(out, path != NULL ? path : node->text);
    free(path);
    messages->failed = messages->failed || !stored;
    return stored;
}

/* One string of a list; join: into the string before, with a comma. */
static bool add_item(struct string_list *out, const char *text, bool join)
{
    struct text joined = {0};
    char *last;

    if (!join)
        return string_list_add(out, text, NULL) == 0;
    last = out->items[out->count - 1];
    text_addf(&joined, "%s,%s", last, text);
    out->items[out->count - 1] = text_steal(&joined, NULL);
    if (out->items[out->count - 1] == NULL) {
        out->items[out->count - 1] = last;
        return false;
    }
    free(last);
    return true;
}

static bool has_open_parenthesis(const char *text)
{
    int open = 0;

    for (const char *p = text; *p != '\0'; p++)
        open += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    return open > 0;
}

bool value_read_strings(const struct schema_row *row, const struct node *node,
                        bool join, struct string_list *out,
                        struct messages *messages)
{
    const struct node *child = node->kind == NODE_LIST ? node->first : node;

    for (; child != NULL; child = child->next) {
        bool is_open = join && out->count > 0 &&
                       has_open_parenthesis(out->items[out->count - 1]);

        if (child->kind != NODE_SCALAR ||
            (child->text[0] == '\0' && !child->quoted)) {
            value_type_error(row, child, "a string or a list of strings",
                             messages);
            return false;
        }
        if (!add_item(out, child->text, is_open)) {
            messages->failed = true;
            return false;
        }
        if (child == node)
            break;
    }
    return true;
}

static bool read_string_list(const struct schema_row *row,
                             const struct node *node, struct config *config,
                             struct messages *messages)
{
    const struct key *key = row->key;
    char ***slot = schema_member(key, config);
    size_t *count = (size_t *)(void *)((char *)config + key->count_offset);
    struct string_list list = {0};
    bool ok = value_read_strings(row, node, key->type == KEY_EXPRESSIONS, &list,
                                 messages);

    for (size_t i = 0; ok && key->type == KEY_PATHS && i < list.count; i++) {
        char *path = value_resolve_path(node, list.items[i]);

        ok = path != NULL;
        messages->failed = messages->failed || !ok;
        if (ok) {
            free(list.items[i]);
            list.items[i] = path;
        }
    }
    if (ok && !value_store_strings(slot, count, &list)) {
        messages->failed = true;
        ok = false;
    }
    string_list_free(&list);
    return ok;
}

/* ---- reading ------------------------------------------------------------ */

/* Keys that are one of a list of words. */
static bool read_word(const struct schema_row *row, const struct node *node,
                      struct config *config, struct messages *messages)
{
    const struct key *key = row->key;
    size_t i = 0;
    bool ok = value_read_choice(row, node, key->choices, &i, messages);

    if (ok && key->type == KEY_CHOICE) {
        _Static_assert(sizeof(enum loss_kind) == sizeof(int), "an enum is int");
        memcpy(schema_member(key, config), &key->choices[i].value, sizeof(int));
    } else if (ok && key->type == KEY_WORD) {
        ok = value_store_string(schema_member(key, config),
                                key->choices[i].name);
        messages->failed = messages->failed || !ok;
    }
    return ok;
}

static bool read_format(const struct schema_row *row, const struct node *node,
                        struct messages *messages)
{
    int64_t format;

    if (scalar_is_int(node, &format) && format == 1)
        return true;
    if (node->kind == NODE_SCALAR && scalar_is_int(node, &format))
        message_error(messages, node->place,
                      "'format' is %s; this version of m2run reads format 1",
                      node->text);
    else
        value_type_error(row, node, "1", messages);
    return false;
}

bool value_read(const struct schema_row *row, const struct node *node,
                struct config *config, struct messages *messages)
{
    void *member = schema_member(row->key, config);

    switch (row->key->type) {
    case KEY_FORMAT:
        return read_format(row, node, messages);
    case KEY_FIXED:
    case KEY_WORD:
    case KEY_CHOICE:
        return read_word(row, node, config, messages);
    case KEY_STRING:
        return read_string(row, node, member, messages);
    case KEY_BOOL:
        return value_read_bool(row, node, member, messages);
    case KEY_INT:
        return value_read_int(row, node, member, messages);
    case KEY_SEED:
        return read_seed(row, node, member, messages);
    case KEY_FLOAT:
        return value_read_number(row, node, member, messages);
    case KEY_PAIR:
        return read_pair(row, node, member, messages);
    case KEY_STRINGS:
    case KEY_EXPRESSIONS:
    case KEY_PATHS:
        return read_string_list(row, node, config, messages);
    case KEY_BOUND:
        return value_read_bound(row, node, member, messages);
    case KEY_OPTION:
        return value_read_option(row, node, member, messages);
    case KEY_BLOCK:
        break;
    }
    return false;
}

/* ---- defaults ----------------------------------------------------------- */

int value_set_default(const struct schema_row *row, struct config *config,
                      struct m2_error *err)
{
    struct source source = {.name = row->path, .bytes = ""};
    struct place place = {&source, 1, 1, 1};
    const char *initial = row->key->initial;
    struct messages messages = {0};
    struct tree tree;
    struct node *node;
    bool ok;

    if (row->key->type == KEY_BLOCK)
        return 0;
    tree_init(&tree);
    node =
        initial != NULL && initial[0] != '['
            ? node_new_scalar(&tree, place, initial)
            : tree_parse_value(&tree, place, initial == NULL ? "null" : initial,
                               &messages);
    if (node != NULL && initial != NULL && initial[0] == '\0')
        node->quoted = true; /* the empty string, and not no value */
    ok = node != NULL && value_read(row, node, config, &messages);
    if (row->key->type == KEY_OPTION && ok)
        ((struct config_option *)schema_member(row->key, config))->is_default =
            true;
    tree_free(&tree);
    if (!ok && messages.n_errors > 0)
        m2_fail(err, M2_E_DEVICE, "default of '%s': %s", row->path,
                messages.items[0].text);
    else if (!ok)
        m2_fail(err, M2_E_MEMORY, "out of memory");
    messages_free(&messages);
    return ok ? 0 : err != NULL ? err->code : M2_E_MEMORY;
}

int value_set_defaults(const struct schema *schema, struct config *config,
                       struct m2_error *err)
{
    struct config defaults = {0};

    defaults.data.options =
        memory_zeroed(schema->n_options, sizeof *defaults.data.options, err);
    if (defaults.data.options == NULL)
        return M2_E_MEMORY;
    defaults.data.n_options = schema->n_options;
    for (size_t i = 0; i < schema->n_rows; i++) {
        int code = value_set_default(&schema->rows[i], &defaults, err);

        if (code != 0) {
            config_free(&defaults);
            return code;
        }
    }
    *config = defaults;
    return 0;
}

/* ---- writing ------------------------------------------------------------ */

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
        if (*(const int64_t *)member == 0 && key->word != NULL)
            text_add(out, key->word);
        else
            text_addf(out, "%lld", (long long)*(const int64_t *)member);
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
        text_add_char(out, '[');
        scalar_write_number(out, numbers[0]);
        text_add(out, ", ");
        scalar_write_number(out, numbers[1]);
        text_add_char(out, ']');
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
