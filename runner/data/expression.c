/* Parsing and printing feature and target expressions. */
#include "data/expression.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/expression_tree.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/suggest.h"

enum { MAX_DEPTH = 8, MAX_LISTED = 50 };

struct parser {
    const char *text; /* the whole expression */
    const char *at;
    const struct expression_scope *scope;
    struct m2_error *err;
};

static int parse(struct parser *parser, int depth, struct expression **out);

/* ---- messages ------------------------------------------------------------ */

__attribute__((format(printf, 2, 3))) static int fail(struct parser *parser,
                                                      const char *format, ...)
{
    struct text message = {0};
    va_list arguments;

    text_addf(&message, "%s: '%s': ", parser->scope->key, parser->text);
    va_start(arguments, format);
    text_addv(&message, format, arguments);
    va_end(arguments);
    m2_fail(parser->err, M2_E_CONFIG, "%s", text_string(&message));
    text_free(&message);
    return M2_E_CONFIG;
}

static void add_suggestion(struct text *message, const char *name,
                           const struct expression_scope *scope, bool call)
{
    struct suggestion suggestion = suggest_start(name);

    for (size_t c = 0; !call && c < scope->n_columns; c++)
        suggest_try(&suggestion, scope->columns[c]);
    for (const struct function *f = function_table; f->name != NULL; f++)
        if (call || f->n_columns == 0)
            suggest_try(&suggestion, f->name);
    if (suggestion.best != NULL)
        text_addf(message, "; did you mean %s?", suggestion.best);
    else
        text_add(message, ".");
}

static int fail_unknown_function(struct parser *parser, const char *name)
{
    struct text more = {0};

    add_suggestion(&more, name, parser->scope, true);
    text_add(&more, " Functions:");
    for (const struct function *f = function_table; f->name != NULL; f++)
        text_addf(&more, "%s %s", f == function_table ? "" : ",", f->name);
    int rc =
        fail(parser, "there is no function %s%s", name, text_string(&more));
    text_free(&more);
    return rc;
}

static int fail_unknown_column(struct parser *parser, const char *name)
{
    const struct expression_scope *scope = parser->scope;
    struct text more = {0};

    add_suggestion(&more, name, scope, false);
    text_add(&more, " Columns:");
    for (size_t c = 0; c < scope->n_columns && c < MAX_LISTED; c++)
        text_addf(&more, "%s %s", c == 0 ? "" : ",", scope->columns[c]);
    if (scope->n_columns > MAX_LISTED)
        text_addf(&more, " and %zu more", scope->n_columns - MAX_LISTED);
    int rc =
        fail(parser, "the data has no column %s%s", name, text_string(&more));
    text_free(&more);
    return rc;
}

/* ---- parser ------------------------------------------------------------ */

static const struct function *find_function(const char *name)
{
    const struct function *f = function_table;

    while (f->name != NULL && strcmp(f->name, name) != 0)
        f++;
    return f->name == NULL ? NULL : f;
}

/* The name at the parser's place, without the blanks around it. */
static char *take_name(struct parser *parser)
{
    const char *start = parser->at + strspn(parser->at, " \t\n");
    size_t length = strcspn(start, "(),");

    parser->at = start + length;
    while (length > 0 && strchr(" \t\n", start[length - 1]) != NULL)
        length--;
    char *name = malloc(length + 1);
    if (name == NULL) {
        m2_fail(parser->err, M2_E_MEMORY, "out of memory");
        return NULL;
    }
    memcpy(name, start, length);
    name[length] = '\0';
    return name;
}

static void skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " \t\n");
}

/* Takes this byte if it is the next one; never goes past the end. */
static bool take(struct parser *parser, char byte)
{
    if (*parser->at != byte)
        return false;
    parser->at++;
    return true;
}

static int parse_length(struct parser *parser, struct expression *e)
{
    const struct function *f = e->function;
    char *text = take_name(parser);

    if (text == NULL)
        return M2_E_MEMORY;
    int rc = M2_OK;
    if (!number_parse_int(text, &e->n) || e->n < f->n_low ||
        e->n > FUNCTION_MAX_LENGTH)
        rc = fail(parser,
                  "the last argument of %s is a number of rows from %" PRId64
                  " to %d, not '%s'",
                  f->name, f->n_low, (int)FUNCTION_MAX_LENGTH, text);
    free(text);
    return rc;
}

/* What follows the opening bracket of a function. */
static int parse_arguments(struct parser *parser, int depth,
                           struct expression *e)
{
    const struct function *f = e->function;
    int rc = M2_OK;

    e->n = f->n_default;
    for (int i = 0; i < f->n_columns && rc == M2_OK; i++) {
        if (i > 0 && !take(parser, ','))
            return fail(parser, "expected %s", f->help);
        rc = parse(parser, depth + 1, &e->arguments[i]);
        skip_blanks(parser);
    }
    if (rc == M2_OK && f->n_low > 0 && take(parser, ','))
        rc = parse_length(parser, e);
    if (rc != M2_OK)
        return rc;
    skip_blanks(parser);
    if (!take(parser, ')') || (f->n_low > 0 && e->n == 0))
        return fail(parser, "expected %s", f->help);
    return M2_OK;
}

/* Index of the column of that name, or n_columns. */
static size_t find_column(const struct expression_scope *scope,
                          const char *name)
{
    size_t c = 0;

    while (c < scope->n_columns && strcmp(scope->columns[c], name) != 0)
        c++;
    return c;
}

static int resolve_column(struct parser *parser, struct expression *e)
{
    const struct expression_scope *scope = parser->scope;

    if (e->name[0] == '\0')
        return fail(parser, "a name is missing before '%s'",
                    *parser->at == '\0' ? "the end" : parser->at);
    e->column = find_column(scope, e->name);
    if (e->column < scope->n_columns)
        return M2_OK;
    const struct function *f = find_function(e->name);
    if (f != NULL && f->n_columns == 0) {
        e->function = f;
        return M2_OK;
    }
    if (f != NULL)
        return fail(parser, "%s is a function: %s", e->name, f->help);
    return scope->n_columns == 0 ? M2_OK : fail_unknown_column(parser, e->name);
}

static int parse(struct parser *parser, int depth, struct expression **out)
{
    struct expression *e = memory_zeroed(1, sizeof *e, parser->err);

    if (e == NULL)
        return M2_E_MEMORY;
    /* Owned by the caller from here on, whatever happens. */
    *out = e;
    size_t whole = find_column(parser->scope, parser->text);
    if (whole < parser->scope->n_columns) {
        e->column = whole;
        e->name = memory_string(parser->text, parser->err);
        parser->at += strlen(parser->at);
        return e->name == NULL ? M2_E_MEMORY : M2_OK;
    }
    if (depth > MAX_DEPTH)
        return fail(parser, "functions nest more than %d deep", (int)MAX_DEPTH);
    e->name = take_name(parser);
    if (e->name == NULL)
        return M2_E_MEMORY;
    if (!take(parser, '('))
        return resolve_column(parser, e);
    e->function = find_function(e->name);
    if (e->function == NULL)
        return fail_unknown_function(parser, e->name);
    return parse_arguments(parser, depth, e);
}

int expression_parse(const char *text, const struct expression_scope *scope,
                     struct expression **out, struct m2_error *err)
{
    struct parser parser = {
        .text = text, .at = text, .scope = scope, .err = err};
    struct expression *e = NULL;

    int rc = parse(&parser, 1, &e);
    skip_blanks(&parser);
    if (rc == M2_OK && *parser.at != '\0')
        rc = fail(&parser, "nothing may follow before '%s'", parser.at);
    if (rc != M2_OK) {
        expression_free(e);
        return rc;
    }
    *out = e;
    return M2_OK;
}

void expression_free(struct expression *e)
{
    if (e == NULL)
        return;
    expression_free(e->arguments[0]);
    expression_free(e->arguments[1]);
    free(e->name);
    free(e);
}

/* ---- properties -------------------------------------------------------- */

void expression_columns(const struct expression *e, bool *wanted)
{
    if (e->function == NULL)
        wanted[e->column] = true;
    for (int i = 0; i < 2; i++)
        if (e->arguments[i] != NULL)
            expression_columns(e->arguments[i], wanted);
}

void expression_print(const struct expression *e, struct text *out)
{
    if (e->function == NULL || e->function->n_columns == 0) {
        text_add(out, e->name);
        return;
    }
    text_addf(out, "%s(", e->function->name);
    for (int i = 0; i < e->function->n_columns; i++) {
        if (i > 0)
            text_add(out, ",");
        expression_print(e->arguments[i], out);
    }
    if (e->n != e->function->n_default)
        text_addf(out, ",%" PRId64, e->n);
    text_add(out, ")");
}

enum target_transform expression_transform(const struct expression *e,
                                           size_t *column)
{
    *column = SIZE_MAX;
    if (e->function == NULL) {
        *column = e->column;
        return TARGET_VALUE;
    }
    if (e->function->transform == TARGET_OTHER || e->n != 1 ||
        e->arguments[0]->function != NULL)
        return TARGET_OTHER;
    *column = e->arguments[0]->column;
    return e->function->transform;
}

bool expression_is_return(const struct expression *e)
{
    return e->function != NULL && e->function->is_return;
}

int64_t expression_history(const struct expression *e)
{
    int64_t deepest = 0;

    for (int i = 0; i < 2; i++) {
        if (e->arguments[i] == NULL)
            continue;
        int64_t rows = expression_history(e->arguments[i]);
        if (rows < 0)
            return -1;
        deepest = rows > deepest ? rows : deepest;
    }
    if (e->function == NULL)
        return 0;
    if (e->function->history < 0)
        return -1;
    return deepest + e->function->history * e->n - e->function->less;
}

const char *expression_function_name(size_t index)
{
    return function_table[index].name;
}

const char *expression_function_help(size_t index)
{
    return function_table[index].help;
}
