/* Random draws of a sweep. */
#include "sweep/draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/random.h"

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* To 8 significant digits. */
static double round_digits(double value)
{
    char text[NUMBER_TEXT_SIZE];
    double rounded = value;

    snprintf(text, sizeof text, "%.7e", value);
    number_parse_double(text, &rounded);
    return rounded;
}

static double draw_whole(const struct draw *draw, struct random_stream stream,
                         uint64_t trial)
{
    double low = draw->low, high = draw->high;

    if (draw->kind == DRAW_LOGUNIFORM)
        return clamp(floor(exp(log(low) + random_uniform(stream, trial) *
                                              (log(high + 1) - log(low)))),
                     low, high);
    if (draw->kind == DRAW_NORMAL)
        return round(low + high * random_normal(stream, trial));
    return low +
           (double)random_bounded(stream, trial, (uint64_t)(high - low) + 1);
}

static double draw_real(const struct draw *draw, struct random_stream stream,
                        uint64_t trial)
{
    double low = draw->low, high = draw->high, value;

    if (draw->kind == DRAW_NORMAL)
        return round_digits(low + high * random_normal(stream, trial));
    value = random_uniform(stream, trial);
    if (draw->kind == DRAW_LOGUNIFORM)
        value = exp(log(low) + value * (log(high) - log(low)));
    else
        value = low + value * (high - low);
    return clamp(round_digits(value), low, high);
}

/* The last value may be there only by rounding: 0.3 of 0 to 0.3 by 0.1. */
static double draw_step(const struct draw *draw, struct random_stream stream,
                        uint64_t trial)
{
    double count = floor((draw->high - draw->low) / draw->step + 1e-9);
    double k = (double)random_bounded(stream, trial, (uint64_t)count + 1);
    char text[NUMBER_TEXT_SIZE];
    double value = draw->low + draw->step * k;

    /* 12 digits: 0.1 + 2 * 0.1 is 0.3 */
    snprintf(text, sizeof text, "%.12g", value);
    number_parse_double(text, &value);
    return clamp(value, draw->low, draw->high);
}

double draw_number(const struct draw *draw, uint64_t seed, const char *key,
                   uint64_t trial)
{
    struct random_stream stream = random_stream(seed, key);

    if (draw->kind == DRAW_CHOICE)
        return (double)random_bounded(stream, trial, draw->n_choices);
    if (draw->kind == DRAW_QUNIFORM)
        return draw_step(draw, stream, trial);
    return draw->whole ? draw_whole(draw, stream, trial)
                       : draw_real(draw, stream, trial);
}
