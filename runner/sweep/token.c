/* The words and signs of a predicate. */
#include "sweep/token.h"

#include <stdlib.h>
#include <string.h>

static const struct sign {
    const char *text;
    enum token_kind kind;
} signs[] = {
    /* the longer ones first */
    {"==", TOKEN_EQUAL},      {"!=", TOKEN_UNEQUAL},
    {"<=", TOKEN_LESS_EQUAL}, {">=", TOKEN_GREATER_EQUAL},
    {"&&", TOKEN_AND},        {"||", TOKEN_OR},
    {"<", TOKEN_LESS},        {">", TOKEN_GREATER},
    {"!", TOKEN_NOT},         {"(", TOKEN_OPEN},
    {")", TOKEN_CLOSE},
};

/* What other languages write. */
static const struct habit {
    const char *text, *ours;
} habits[] = {
    {"=", "=="},  {"and", "&&"}, {"or", "||"},        {"not", "!"},
    {"&", "&&"},  {"|", "||"},   {"AND", "&&"},       {"OR", "||"},
    {"NOT", "!"}, {"<>", "!="},  {"=>", ">="},        {"=<", "<="},
    {"is", "=="}, {"~", "!"},    {"in", "== and ||"},
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("._+-/:*", c) != NULL);
}

static size_t word_size(const char *text)
{
    size_t size = 0;

    while (is_word(text[size]))
        size++;
    return size;
}

/* Quotes, or brackets outside quotes, up to where they close; 0: nowhere. */
static size_t closed_size(const char *text)
{
    size_t depth = 0, i = 0;

    do {
        if (text[i] == '"' || text[i] == '\'') {
            const char *end = strchr(text + i + 1, text[i]);

            if (end == NULL)
                return 0;
            i = (size_t)(end - text);
        } else if (text[i] == '[' || text[i] == ']') {
            depth += text[i] == '[' ? 1 : (size_t)-1;
        }
        i++;
    } while (depth > 0 && text[i] != '\0');
    return depth == 0 ? i : 0;
}

/* Kind and size of what a text begins with. */
static void classify(struct token *token, const char *text)
{
    token->kind = TOKEN_WRONG;
    token->size = word_size(text);
    if (token->size > 0) {
        token->kind = TOKEN_WORD;
        return;
    }
    if (*text == '"' || *text == '\'' || *text == '[') {
        token->size = closed_size(text);
        if (token->size > 0)
            token->kind = *text == '[' ? TOKEN_LIST : TOKEN_QUOTED;
        else
            token->size = strlen(text);
        return;
    }
    if (strncmp(text, "<>", 2) == 0) {
        token->size = 2;
        return;
    }
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        token->size = strlen(signs[i].text);
        if (strncmp(text, signs[i].text, token->size) == 0) {
            token->kind = signs[i].kind;
            return;
        }
    }
    token->size = strspn(text, "=&|<>~");
    if (token->size == 0)
        token->size = text_character_size(text);
}

void token_next(struct token *token, const struct node *node)
{
    const char *all = node->kind == NODE_SCALAR ? node->text : "";
    const char *text = all + token->start + token->size;

    free(token->text);
    token->text = NULL;
    text += strspn(text, " \t\r\n");
    token->start = (size_t)(text - all);
    token->size = 0;
    token->kind = TOKEN_END;
    if (*text != '\0')
        classify(token, text);
    token->text = strndup(text, token->size);
    if (token->text == NULL)
        token->kind = TOKEN_WRONG;
}

void token_free(struct token *token)
{
    free(token->text);
    *token = (struct token){0};
}

static int count_characters(const char *text, size_t size)
{
    int count = 0;

    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

struct place token_place(const struct token *token, const struct node *node)
{
    struct place place = node->place;
    size_t left, length = strlen(node->text);
    const char *bytes = place_bytes(&place, &left);
    int quote = node->quoted ? 1 : 0;

    if (bytes == NULL || left < length + (size_t)quote ||
        strchr(node->text, '\n') != NULL ||
        memcmp(bytes + quote, node->text, length) != 0)
        return place;
    place.column += quote + count_characters(node->text, token->start);
    place.width = count_characters(node->text + token->start, token->size);
    if (place.width < 1)
        place.width = 1;
    return place;
}

void token_report(const struct token *token, const struct node *node,
                  const char *wanted, struct messages *messages)
{
    struct place place = token_place(token, node);

    if (token->text == NULL) {
        messages->failed = true;
        return;
    }
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++) {
        if (strcmp(habits[i].text, token->text) != 0)
            continue;
        message_error(messages, place, "expected %s, found '%s'; write %s",
                      wanted, token->text, habits[i].ours);
        return;
    }
    if (token->kind == TOKEN_END)
        message_error(messages, place,
                      "expected %s, but the condition ends here", wanted);
    else if (token->kind == TOKEN_WRONG && strchr("\"'[", *token->text) != NULL)
        message_error(messages, place, "expected %s; this is not closed: %s",
                      wanted, token->text);
    else
        message_error(messages, place, "expected %s, found '%s'", wanted,
                      token->text);
}
