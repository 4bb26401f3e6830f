/* libFuzzer: any text as a feature, evaluated over rows of hard values.
 *
 * What is accepted must have a canonical text that is accepted again and
 * written the same, and values that no later row changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { ROWS = 48, BEFORE = 32, COLUMNS = 3 };

static const char *const columns[COLUMNS] = {"close", "a b", "hour"};
static const struct expression_scope scope = {.key = "fuzz",
                                              .columns = columns,
                                              .n_columns = COLUMNS};

static double hard_value(size_t i)
{
    static const double values[] = {1.5, 0.0,    -1.0, -0.0,   NAN, 1e308,
                                    2.5, 1e-308, 1.25, -1e308, 3};

    return values[i % (sizeof values / sizeof values[0])];
}

static void check_text(const struct expression *expression)
{
    struct text text = {0}, again = {0};
    struct expression *second;
    struct m2_error err;

    expression_print(expression, &text);
    if (expression_parse(text_string(&text), &scope, &second, &err) != 0)
        abort();
    expression_print(second, &again);
    if (strcmp(text_string(&text), text_string(&again)) != 0)
        abort();
    expression_free(second);
    text_free(&text);
    text_free(&again);
}

static void check_values(const struct expression *expression)
{
    double values[COLUMNS][ROWS], all[ROWS], first[BEFORE];
    const double *table[COLUMNS] = {values[0], values[1], values[2]};
    int64_t times[ROWS];
    uint8_t starts[ROWS] = {1};
    struct expression_rows rows = {ROWS, times, starts, table};
    struct expression_refused refused = {0};
    struct m2_error err;

    for (size_t i = 0; i < ROWS; i++) {
        times[i] = (int64_t)i * 3600 * 1000000000;
        for (size_t c = 0; c < COLUMNS; c++)
            values[c][i] =
                c == 0 && i < 20 ? 1.0 + (double)i : hard_value(i * c + i);
    }
    starts[25] = 1;
    if (expression_evaluate(expression, &rows, all, &refused, &err) != 0)
        return;
    rows.n = BEFORE;
    refused = (struct expression_refused){0};
    if (expression_evaluate(expression, &rows, first, &refused, &err) != 0 ||
        memcmp(all, first, sizeof first) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct expression *expression;
    struct m2_error err;
    size_t column;
    char *text = malloc(size + 1);

    memcpy(text, bytes, size);
    text[size] = '\0';
    if (expression_parse(text, &scope, &expression, &err) == 0) {
        bool wanted[COLUMNS] = {false};

        expression_columns(expression, wanted);
        expression_transform(expression, &column);
        expression_history(expression);
        expression_is_return(expression);
        check_text(expression);
        check_values(expression);
        expression_free(expression);
    }
    free(text);
    return 0;
}
