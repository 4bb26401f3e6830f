/* Predicates over a config: parsing and evaluating. */
#include "sweep/predicate.h"

#include <stdlib.h>
#include <string.h>

#include "config/identity.h"
#include "config/value.h"
#include "sweep/token.h"
#include "util/memory.h"

enum { MAX_TERMS = 256, MAX_DEPTH = 32 };

enum term_kind { TERM_COMPARE, TERM_NOT, TERM_AND, TERM_OR };

/* The terms of a predicate lie in one array, operands before what joins them;
 * the last one is the whole. */
struct term {
    enum term_kind kind;
    size_t left, right;        /* terms; TERM_NOT: left alone */
    enum token_kind operation; /* TERM_COMPARE: ... of the value of `row` ... */
    size_t row;
    bool is_number;
    double number; /* ... with this number, or else ... */
    char *text;    /* ... with this canonical text */
};

struct predicate {
    const struct schema *schema;
    struct term terms[MAX_TERMS];
    size_t n_terms;
};

/* Functions that parse return false after a message, or when out of memory. */
struct parser {
    const struct predicate_scope *scope;
    const struct node *node;
    struct predicate *predicate;
    struct config scratch;
    struct token token; /* the next one */
    int depth;
};

/* ---- helpers ------------------------------------------------------------ */

static void next(struct parser *parser)
{
    token_next(&parser->token, parser->node);
}

static bool fail_at(struct parser *parser, const char *wanted)
{
    token_report(&parser->token, parser->node, wanted, parser->scope->messages);
    return false;
}

static bool add_term(struct parser *parser, const struct term *term,
                     size_t *out)
{
    struct predicate *predicate = parser->predicate;

    if (predicate->n_terms == MAX_TERMS) {
        message_error(parser->scope->messages, parser->node->place,
                      "this condition is too long: more than %d comparisons "
                      "and operators",
                      MAX_TERMS);
        free(term->text);
        return false;
    }
    *out = predicate->n_terms;
    predicate->terms[predicate->n_terms++] = *term;
    return true;
}

static bool is_comparison(enum token_kind kind)
{
    return kind >= TOKEN_EQUAL && kind <= TOKEN_GREATER_EQUAL;
}

/* The value of a row as a number; false when its type is none. */
static bool number_of(const struct schema_row *row, const struct config *config,
                      double *out)
{
    struct config copy = *config; /* shallow: schema_member is for writing */
    const void *member = schema_member(row->key, &copy);
    const struct config_option *option = member;

    switch (row->key->type) {
    case KEY_INT:
        *out = (double)*(const int64_t *)member;
        return true;
    case KEY_FLOAT:
        *out = *(const double *)member;
        return true;
    case KEY_OPTION:
        *out = option->number;
        return row->key->option->type == M2_OPTION_INT ||
               row->key->option->type == M2_OPTION_FLOAT;
    default:
        return false;
    }
}

static bool is_bool(const struct key *key)
{
    return key->type == KEY_BOOL ||
           (key->type == KEY_OPTION && key->option->type == M2_OPTION_BOOL);
}

/* ---- keys and values ---------------------------------------------------- */

static bool find_key(struct parser *parser, struct term *term)
{
    const struct predicate_scope *scope = parser->scope;
    const char *name = parser->token.text;
    struct place place = token_place(&parser->token, parser->node);
    size_t found = schema_find_ending(scope->schema, name, &term->row);
    struct text hint = {0};

    if (found == 0 && strchr("0123456789+-.", name[0]) != NULL) {
        message_error(scope->messages, place,
                      "the key stands on the left, as d_state == 64");
    } else if (found == 0) {
        schema_suggest_path(scope->schema, name, &hint);
        message_error(scope->messages, place, "unknown key '%s'%s", name,
                      text_string(&hint));
    } else if (found > 1) {
        message_error(scope->messages, place,
                      "'%s' is the ending of more than one key; write the "
                      "full name",
                      name);
    } else if (scope->schema->rows[term->row].key->type == KEY_BLOCK) {
        message_error(scope->messages, place,
                      "'%s' is a block; a condition is about one key, as %s.%s",
                      name, name, scope->schema->rows[term->row + 1].key->name);
        found = 0;
    } else if (scope->schema->rows[term->row].key->type == KEY_SEED) {
        message_error(scope->messages, place,
                      "points have no seed: each of them runs with every seed");
        found = 0;
    }
    text_free(&hint);
    return found == 1;
}

/* The value behind a comparison. */
static bool read_value(struct parser *parser, struct term *term)
{
    const struct predicate_scope *scope = parser->scope;
    const struct schema_row *row = &scope->schema->rows[term->row];
    struct place place = token_place(&parser->token, parser->node);
    struct text text = {0};
    struct node *value;

    if (parser->token.kind != TOKEN_WORD &&
        parser->token.kind != TOKEN_QUOTED && parser->token.kind != TOKEN_LIST)
        return fail_at(parser, "a value");
    value = parser->token.kind == TOKEN_WORD
                ? node_new_scalar(scope->tree, place, parser->token.text)
                : tree_parse_value(scope->tree, place, parser->token.text,
                                   scope->messages);
    if (value == NULL ||
        !value_read(row, value, &parser->scratch, scope->messages))
        return false;
    config_write_value(scope->schema, term->row, &parser->scratch, &text);
    term->is_number = number_of(row, &parser->scratch, &term->number);
    term->text = text_steal(&text, NULL);
    text_free(&text);
    scope->messages->failed = scope->messages->failed || term->text == NULL;
    next(parser);
    return term->text != NULL;
}

/* KEY, alone: true or false. */
static bool read_alone(struct parser *parser, struct term *term)
{
    const struct schema_row *row = &parser->scope->schema->rows[term->row];

    if (!is_bool(row->key)) {
        token_report(&parser->token, parser->node,
                     "a comparison, as ==", parser->scope->messages);
        return false;
    }
    term->operation = TOKEN_EQUAL;
    term->text = memory_string("true", NULL);
    parser->scope->messages->failed =
        parser->scope->messages->failed || term->text == NULL;
    return term->text != NULL;
}

static bool parse_comparison(struct parser *parser, size_t *out)
{
    struct messages *messages = parser->scope->messages;
    struct term term = {.kind = TERM_COMPARE};
    double ignored;

    if (!find_key(parser, &term))
        return false;
    next(parser);
    term.operation = parser->token.kind;
    if (!is_comparison(term.operation))
        return read_alone(parser, &term) && add_term(parser, &term, out);
    if (term.operation >= TOKEN_LESS &&
        !number_of(&parser->scope->schema->rows[term.row], parser->scope->base,
                   &ignored)) {
        message_error(messages, token_place(&parser->token, parser->node),
                      "'%s' is no number; it can be compared by == and !=",
                      parser->scope->schema->rows[term.row].path);
        return false;
    }
    next(parser);
    if (!read_value(parser, &term))
        return false;
    if (is_comparison(parser->token.kind)) {
        message_error(messages, token_place(&parser->token, parser->node),
                      "two comparisons are joined by &&");
        free(term.text);
        return false;
    }
    return add_term(parser, &term, out);
}

/* ---- the grammar -------------------------------------------------------- */

static bool parse_or(struct parser *parser, size_t *out);
static bool parse_factor(struct parser *parser, size_t *out);

static bool parse_not(struct parser *parser, size_t *out)
{
    struct term term = {.kind = TERM_NOT};
    struct place place = token_place(&parser->token, parser->node);
    const struct term *inner;
    bool is_key;

    next(parser);
    is_key = parser->token.kind == TOKEN_WORD;
    if (parser->token.kind == TOKEN_NOT) {
        message_error(parser->scope->messages, place,
                      "one ! is enough, or none");
        return false;
    }
    if (is_key ? !parse_comparison(parser, &term.left)
               : !(parser->token.kind == TOKEN_OPEN
                       ? parse_factor(parser, &term.left)
                       : fail_at(parser, "a key or (")))
        return false;
    inner = &parser->predicate->terms[term.left];
    if (is_key && !is_bool(parser->scope->schema->rows[inner->row].key)) {
        message_error(parser->scope->messages, place,
                      "! stands before true or false: write key != value, or "
                      "!(...)");
        return false;
    }
    return add_term(parser, &term, out);
}

static bool parse_factor(struct parser *parser, size_t *out)
{
    switch (parser->token.kind) {
    case TOKEN_NOT:
        return parse_not(parser, out);
    case TOKEN_WORD:
        return parse_comparison(parser, out);
    case TOKEN_OPEN:
        if (++parser->depth > MAX_DEPTH)
            return fail_at(parser, "fewer parentheses");
        next(parser);
        if (!parse_or(parser, out))
            return false;
        if (parser->token.kind != TOKEN_CLOSE)
            return fail_at(parser, "&&, || or )");
        parser->depth--;
        next(parser);
        return true;
    default:
        return fail_at(parser, "a key");
    }
}

/* Operands joined by one operator; the last two levels of the grammar. */
static bool parse_joined(struct parser *parser, enum token_kind by, size_t *out)
{
    struct term term = {.kind = by == TOKEN_AND ? TERM_AND : TERM_OR};
    bool ok = by == TOKEN_AND ? parse_factor(parser, out)
                              : parse_joined(parser, TOKEN_AND, out);

    while (ok && parser->token.kind == by) {
        next(parser);
        term.left = *out;
        ok = by == TOKEN_AND ? parse_factor(parser, &term.right)
                             : parse_joined(parser, TOKEN_AND, &term.right);
        ok = ok && add_term(parser, &term, out);
    }
    return ok;
}

static bool parse_or(struct parser *parser, size_t *out)
{
    return parse_joined(parser, TOKEN_OR, out);
}

int predicate_parse(const struct predicate_scope *scope,
                    const struct node *node, struct predicate **out,
                    struct m2_error *err)
{
    struct parser parser = {.scope = scope, .node = node};
    int code = config_copy(scope->base, &parser.scratch, err);
    size_t whole;
    bool ok;

    *out = NULL;
    if (code != 0)
        return code;
    parser.predicate = memory_zeroed(1, sizeof *parser.predicate, err);
    if (parser.predicate == NULL) {
        config_free(&parser.scratch);
        return M2_E_MEMORY;
    }
    parser.predicate->schema = scope->schema;
    next(&parser);
    ok = parse_or(&parser, &whole);
    if (ok && parser.token.kind != TOKEN_END)
        ok = fail_at(&parser, "&& or ||");
    if (ok)
        *out = parser.predicate;
    else
        predicate_free(parser.predicate);
    token_free(&parser.token);
    config_free(&parser.scratch);
    return 0;
}

void predicate_free(struct predicate *predicate)
{
    if (predicate == NULL)
        return;
    for (size_t i = 0; i < predicate->n_terms; i++)
        free(predicate->terms[i].text);
    free(predicate);
}

/* ---- evaluating --------------------------------------------------------- */

static bool compare_numbers(enum token_kind operation, double a, double b)
{
    switch (operation) {
    case TOKEN_EQUAL:
        return a == b;
    case TOKEN_UNEQUAL:
        return a != b;
    case TOKEN_LESS:
        return a < b;
    case TOKEN_LESS_EQUAL:
        return a <= b;
    case TOKEN_GREATER:
        return a > b;
    default:
        return a >= b;
    }
}

static bool compare(const struct predicate *predicate, const struct term *term,
                    const struct config *config, bool *failed)
{
    const struct schema_row *row = &predicate->schema->rows[term->row];
    struct text text = {0};
    double number;
    bool equal;

    if (term->is_number && number_of(row, config, &number))
        return compare_numbers(term->operation, number, term->number);
    config_write_value(predicate->schema, term->row, config, &text);
    *failed = *failed || text.failed;
    equal = strcmp(text_string(&text), term->text) == 0;
    text_free(&text);
    return equal == (term->operation == TOKEN_EQUAL);
}

bool predicate_holds(const struct predicate *predicate,
                     const struct config *config, bool *failed)
{
    bool holds[MAX_TERMS] = {false};

    for (size_t i = 0; i < predicate->n_terms; i++) {
        const struct term *term = &predicate->terms[i];

        switch (term->kind) {
        case TERM_COMPARE:
            holds[i] = compare(predicate, term, config, failed);
            break;
        case TERM_NOT:
            holds[i] = !holds[term->left];
            break;
        case TERM_AND:
            holds[i] = holds[term->left] && holds[term->right];
            break;
        case TERM_OR:
            holds[i] = holds[term->left] || holds[term->right];
            break;
        }
    }
    return holds[predicate->n_terms - 1];
}
