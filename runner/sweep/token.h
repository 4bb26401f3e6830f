/* The words and signs of a predicate. */
#ifndef M2_SWEEP_TOKEN_H
#define M2_SWEEP_TOKEN_H

#include "config/tree.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* a key, a number, a word */
    TOKEN_QUOTED, /* text in quotes, which belong to it */
    TOKEN_LIST,   /* [a, b] */
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_NOT,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_EQUAL, /* the comparisons, in a row */
    TOKEN_UNEQUAL,
    TOKEN_LESS,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER,
    TOKEN_GREATER_EQUAL,
    TOKEN_WRONG, /* no token */
};

/* `struct token t = {0}` stands before the first one. */
struct token {
    enum token_kind kind;
    size_t start, size; /* bytes of the scalar */
    char *text;         /* owned; NULL when out of memory */
};

/* Goes to the next token of a scalar. */
void token_next(struct token *token, const struct node *node);
void token_free(struct token *token);

/* Where a token stands in the file; the whole scalar where that is not known:
 * one with escapes, or of several lines. */
struct place token_place(const struct token *token, const struct node *node);

/* "expected a value, found '&&'", with a hint where one helps. */
void token_report(const struct token *token, const struct node *node,
                  const char *wanted, struct messages *messages);

#endif
