/* Where a part of the data ends: a fraction, a number of rows or a date. */
#include "config/value_parts.h"

#include <math.h>

#include "config/scalar.h"
#include "util/timefmt.h"

static bool read_count(const struct node *node, struct split_bound *out)
{
    double number;
    int64_t rows;

    if (!scalar_is_number(node, &number))
        return false;
    if (number >= 0 && number <= 1) {
        *out = (struct split_bound){.kind = BOUND_FRACTION,
                                    .fraction = number + 0.0};
        return true;
    }
    if (!scalar_is_int(node, &rows) || rows <= 1)
        return false;
    *out = (struct split_bound){.kind = BOUND_ROWS, .rows = rows};
    return true;
}

bool value_read_bound(const struct schema_row *row, const struct node *node,
                      struct split_bound *out, struct messages *messages)
{
    struct text hint = {0};
    int64_t time_ns;

    if (read_count(node, out))
        return true;
    if (node->kind == NODE_SCALAR && time_parse(node->text, &time_ns)) {
        *out = (struct split_bound){.kind = BOUND_DATE, .time_ns = time_ns};
        return true;
    }
    if (node->kind != NODE_SCALAR) {
        value_type_error(row, node, "a fraction, a number of rows or a date",
                         messages);
        return false;
    }
    scalar_hint_number(node, false, &hint);
    message_error(messages, node->place,
                  "'%s' must be a fraction from 0 to 1, a number of rows, or a "
                  "date as 2024-01-31, not '%s'%s",
                  row->path, node->text, text_string(&hint));
    text_free(&hint);
    return false;
}

void value_write_bound(const struct split_bound *bound, struct text *out)
{
    char printed[TIME_TEXT_SIZE];

    if (bound->kind == BOUND_FRACTION)
        scalar_write_number(out, bound->fraction);
    else if (bound->kind == BOUND_ROWS)
        text_addf(out, "%lld", (long long)bound->rows);
    else
        text_addf(out, "\"%s\"", time_print(bound->time_ns, printed));
}
