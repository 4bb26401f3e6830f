/* Mean, deviation and interval of the values of several seeds. */
#ifndef M2_RESULTS_STATISTIC_H
#define M2_RESULTS_STATISTIC_H

#include <stddef.h>

/* `struct statistic s = {0}` has no value yet. */
struct statistic {
    size_t n;
    double mean, squares; /* squares: of the distances from the mean */
};

/* Takes a value; one that is not finite is no value and is left out. */
void statistic_add(struct statistic *statistic, double value);

double statistic_mean(const struct statistic *statistic); /* NaN: none */

/* Sample standard deviation, with n - 1; NaN for n < 2. */
double statistic_std(const struct statistic *statistic);

/* Half the width of the 95 % interval of the mean: t s / sqrt(n), with the
 * 97.5 % point t of Student's distribution of n - 1 degrees of freedom; NaN for
 * n < 2.  It takes the values of seeds for independent and normal. */
double statistic_interval(const struct statistic *statistic);

/* The t > 0 that |T| exceeds with probability 1 - confidence (0 to 1, both
 * excluded), T of Student's distribution.  From the finite series of
 * Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
 * 26.7.4, solved for t. */
double student_quantile(size_t degrees, double confidence);

#endif
