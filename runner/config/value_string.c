/* Strings, names, paths, and lists of them. */
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "config/value_parts.h"
#include "util/memory.h"
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

/* ---- one string --------------------------------------------------------- */

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

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);

    return length > size && strcmp(text + length - size, ending) == 0;
}

bool value_is_path(const char *text)
{
    return strchr(text, '/') != NULL || ends_with(text, ".so") ||
           ends_with(text, ".safetensors");
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

/* Records of runs and their JSON are UTF-8. */
static bool check_path(const struct schema_row *row, const struct node *node,
                       const char *path, struct messages *messages)
{
    struct text shown = {0};

    if (text_is_utf8(path))
        return true;
    text_add_json(&shown, path);
    message_error(messages, node->place,
                  "'%s' is %s: a file must have a name in UTF-8, and so must "
                  "its folders",
                  row->path, text_string(&shown));
    text_free(&shown);
    return false;
}

bool value_read_string(const struct schema_row *row, const struct node *node,
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
    if (is_path && value_is_path(node->text))
        path = value_resolve_path(node, node->text);
    if (path != NULL && !check_path(row, node, path, messages)) {
        free(path);
        return false;
    }
    stored = value_store_string(out, path != NULL ? path : node->text);
    free(path);
    messages->failed = messages->failed || !stored;
    return stored;
}

/* Without the blanks around parentheses and commas: they mean nothing, and
 * must not make two runs of one. */
static void trim_expression(char *text)
{
    static const char marks[] = "(),";
    char *to = text;

    for (const char *p = text; *p != '\0'; p++) {
        const char *next = p + strspn(p, " ");
        bool is_idle = next > p && (*next == '\0' || to == text ||
                                    strchr(marks, *next) != NULL ||
                                    strchr(marks, to[-1]) != NULL);

        if (is_idle)
            p = next;
        if (*p == '\0')
            break;
        *to++ = *p;
    }
    *to = '\0';
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

/* No file and no column has an empty name. */
static bool check_not_empty(const struct schema_row *row,
                            const struct node *node,
                            const struct string_list *list,
                            struct messages *messages)
{
    if (string_list_find(list, "") == list->count)
        return true;
    message_error(messages, node->place, "'%s' holds an empty string",
                  row->path);
    return false;
}

bool value_read_string_list(const struct schema_row *row,
                            const struct node *node, struct config *config,
                            struct messages *messages)
{
    const struct key *key = row->key;
    char ***slot = schema_member(key, config);
    size_t *count = (size_t *)(void *)((char *)config + key->count_offset);
    struct string_list list = {0};
    bool ok = value_read_strings(row, node, key->type == KEY_EXPRESSIONS, &list,
                                 messages) &&
              check_not_empty(row, node, &list, messages);

    for (size_t i = 0; key->type == KEY_EXPRESSIONS && i < list.count; i++)
        trim_expression(list.items[i]);
    for (size_t i = 0; ok && key->type == KEY_PATHS && i < list.count; i++) {
        char *path = value_resolve_path(node, list.items[i]);

        messages->failed = messages->failed || path == NULL;
        ok = path != NULL && check_path(row, node, path, messages);
        if (path != NULL) {
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
