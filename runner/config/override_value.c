/* Values of overrides: pieces between commas, and ranges. */
#include "config/override_value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/scalar.h"
#include "util/number.h"

enum { MAX_RANGE = 10000 };

/* Characters of UTF-8 text: what columns count. */
static int count_characters(const char *text, size_t size)
{
    int count = 0;

    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

struct place override_place(const struct overriding *o, const char *text,
                            const char *part, size_t size)
{
    return (struct place){
        .source = o->source,
        .line = o->line,
        .column = 1 + count_characters(text, (size_t)(part - text)),
        .width = size > 0 ? count_characters(part, size) : 1,
    };
}

struct node *override_word(const struct overriding *o, struct place place,
                           const char *text, size_t size)
{
    struct text copy = {0};
    struct node *node = NULL;

    text_add_bytes(&copy, text, size);
    if (!copy.failed)
        node = node_new_scalar(&o->experiment->tree, place, text_string(&copy));
    o->messages->failed = o->messages->failed || copy.failed;
    text_free(&copy);
    return node;
}

/* ---- texts -------------------------------------------------------------- */

bool override_is_clean(const char *text)
{
    size_t size;

    for (; (size = text_character_size(text)) > 0; text += size)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return false;
    return *text == '\0';
}

/* End of a value: a comma outside brackets, parentheses and quotes, or the
 * end of the text. */
static const char *find_comma(const char *p)
{
    int depth = 0;
    char quote = '\0';

    for (; *p != '\0' && (*p != ',' || depth > 0 || quote != '\0'); p++) {
        if (quote != '\0')
            quote = *p == quote ? '\0' : quote;
        else if (*p == '"' || *p == '\'')
            quote = *p;
        else if (strchr("([{", *p) != NULL)
            depth++;
        else if (strchr(")]}", *p) != NULL)
            depth--;
    }
    return p;
}

static struct node *parse_piece(const struct overriding *o, const char *text,
                                const char *piece, size_t size)
{
    struct place place = override_place(o, text, piece, size);
    struct text copy = {0};
    struct node *node = NULL;

    text_add_bytes(&copy, piece, size);
    if (!copy.failed)
        node = tree_parse_value(&o->experiment->tree, place, text_string(&copy),
                                o->messages);
    o->messages->failed = o->messages->failed || copy.failed;
    text_free(&copy);
    return node;
}

/* ---- ranges ------------------------------------------------------------- */

static const char range_start[] = "range(";

bool range_is(const char *value)
{
    return strncmp(value, range_start, strlen(range_start)) == 0;
}

/* One number, blanks around it allowed. */
static bool parse_number(const char *text, size_t size, double *out)
{
    char copy[NUMBER_TEXT_SIZE];
    struct node node = {.kind = NODE_SCALAR, .text = copy};

    for (; size > 0 && *text == ' '; text++)
        size--;
    while (size > 0 && text[size - 1] == ' ')
        size--;
    if (size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    return scalar_is_number(&node, out) && !isinf(*out);
}

/* The three numbers of range(a,b,s), or of range(a,b) with s = 1. */
static bool parse_range(const char *value, double numbers[3])
{
    const char *p = value + strlen(range_start);
    size_t n = 0;

    numbers[2] = 1;
    while (n < 3) {
        size_t size = strcspn(p, ",)");

        if (!parse_number(p, size, &numbers[n]))
            return false;
        n++;
        p += size;
        if (*p != ',')
            break;
        p++;
    }
    return n >= 2 && p[0] == ')' && p[1] == '\0' && numbers[2] != 0;
}

struct node *range_values(struct tree *tree, struct place place,
                          const char *value, struct messages *messages)
{
    double numbers[3], count;
    struct node *list;

    if (!parse_range(value, numbers)) {
        message_error(messages, place,
                      "a range is range(start,stop,step), without stop itself"
                      "%s",
                      strchr(value, ')') == NULL
                          ? "; within {} or [] its commas need quotes"
                          : "");
        return NULL;
    }
    /* the last one may be there only by rounding */
    count = ceil((numbers[1] - numbers[0]) / numbers[2] - 1e-9);
    if (!(count >= 1 && count <= MAX_RANGE)) {
        message_error(messages, place,
                      "this range has %s values; it may have 1 to %d",
                      count < 1 ? "no" : "too many", MAX_RANGE);
        return NULL;
    }
    list = node_new(tree, NODE_LIST, place);
    for (int i = 0; list != NULL && i < (int)count; i++) {
        char printed[NUMBER_TEXT_SIZE];
        struct node *item;

        /* 12 digits: 0.1 + 2 * 0.1 is 0.3 */
        snprintf(printed, sizeof printed, "%.12g", numbers[0] + i * numbers[2]);
        item = node_new_scalar(tree, place, printed);
        if (item == NULL)
            return NULL;
        node_append(list, item);
    }
    return list;
}

/* ---- values ------------------------------------------------------------- */

bool override_is_axis(const char *value)
{
    return range_is(value) || *find_comma(value) == ',';
}

struct node *override_value(const struct overriding *o, const char *text,
                            const char *value)
{
    return parse_piece(o, text, value, strlen(value));
}

struct node *override_axis_values(const struct overriding *o, const char *text,
                                  const char *value)
{
    struct place place = override_place(o, text, text, strlen(text));
    struct node *list;

    if (range_is(value))
        return range_values(&o->experiment->tree,
                            override_place(o, text, value, strlen(value)),
                            value, o->messages);
    list = node_new(&o->experiment->tree, NODE_LIST, place);
    while (list != NULL) {
        const char *end = find_comma(value);
        struct node *item = parse_piece(o, text, value, (size_t)(end - value));

        if (item == NULL)
            return NULL;
        node_append(list, item);
        if (*end == '\0')
            break;
        value = end + 1;
    }
    return list;
}
