/* Single cells of metrics.csv. */
#include <math.h>
#include <string.h>

#include "reproduce/difference_private.h"
#include "util/number.h"

const char *cell_shown(const char *cell, char out[CELL_SHOWN_SIZE])
{
    size_t n = 0;

    if (*cell == '\0')
        return "(empty)";
    for (; n < CELL_SHOWN_SIZE - 1 && cell[n] != '\0'; n++)
        out[n] = cell[n] >= ' ' && cell[n] <= '~' ? cell[n] : '?';
    out[n] = '\0';
    return out;
}

double cell_value(const char *cell)
{
    double value;

    if (number_parse_double(cell, &value))
        return value;
    return strcmp(cell, "inf") == 0    ? INFINITY
           : strcmp(cell, "-inf") == 0 ? -INFINITY
                                       : NAN;
}

bool column_is_score(const char *column)
{
    return strncmp(column, "val/", 4) == 0;
}

bool column_is_number(const char *column)
{
    return column_is_score(column) || strncmp(column, "train/", 6) == 0 ||
           strcmp(column, "lr") == 0;
}
