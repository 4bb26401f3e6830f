/* Random draws of a sweep: each is a pure function of (sweep seed, key name,
 * trial), by Philox (util/random.h).  So trial 23 is the same on any machine
 * and in any order; more trials keep the earlier ones; another parameter
 * changes no draw.
 *
 *     uniform      low + u (high - low)
 *     loguniform   exp(log low + u (log high - log low))
 *     quniform     low + step k, every k from 0 to (high - low) / step alike
 *     normal       mean + deviation z, nowhere cut
 *     int          a whole number from low to high, both included
 *     choice       one of n, all alike
 *
 * For a key that holds integers, uniform is int, normal is rounded, and
 * loguniform is floor(exp(log low + u (log(high + 1) - log low))): k comes with
 * a probability in proportion to log((k + 1) / k).
 *
 * Numbers with a fraction are rounded to 8 significant digits: what exp, log
 * and cos of two C libraries differ by is then lost, and names stay short. */
#ifndef M2_SWEEP_DRAW_H
#define M2_SWEEP_DRAW_H

#include <stdbool.h>
#include <stdint.h>

enum draw_kind {
    DRAW_UNIFORM,
    DRAW_LOGUNIFORM,
    DRAW_QUNIFORM,
    DRAW_NORMAL,
    DRAW_INT,
    DRAW_CHOICE,
};

struct draw {
    enum draw_kind kind;
    bool whole;         /* integers, each exact in a double: below 2^53 */
    double low, high;   /* normal: mean, deviation */
    double step;        /* quniform */
    uint64_t n_choices; /* choice */
};

/* A number; for a choice its index. */
double draw_number(const struct draw *draw, uint64_t seed, const char *key,
                   uint64_t trial);

#endif
