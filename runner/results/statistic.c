/* Statistics over seeds. */
#include "results/statistic.h"

#include <math.h>

/* Beyond so many degrees of freedom Student's distribution is a normal one to
 * six digits, and the series is only long. */
enum { MANY_DEGREES = 1000000, HALVINGS = 60 };

#define NORMAL_95 1.959963984540054

/* Welford's update: no cancellation when the mean is large. */
void statistic_add(struct statistic *statistic, double value)
{
    double distance = value - statistic->mean;

    if (!isfinite(value))
        return;
    statistic->n++;
    statistic->mean += distance / (double)statistic->n;
    statistic->squares += distance * (value - statistic->mean);
}

double statistic_mean(const struct statistic *statistic)
{
    return statistic->n > 0 ? statistic->mean : NAN;
}

double statistic_std(const struct statistic *statistic)
{
    return statistic->n < 2
               ? NAN
               : sqrt(statistic->squares / (double)(statistic->n - 1));
}

/* A(t|degrees), the probability of |T| <= t, with tan(angle) = t /
 * sqrt(degrees).  26.7.3, odd: 2/pi (angle + sin(cos + 2/3 cos^3 + ... +
 * 2 4 ... (degrees-3) / (1 3 ... (degrees-2)) cos^(degrees-2))); 26.7.4, even:
 * sin(1 + 1/2 cos^2 + ... + 1 3 ... (degrees-3) / (2 4 ... (degrees-2))
 * cos^(degrees-2)). */
static double probability(double angle, size_t degrees)
{
    double c = cos(angle), term = 1, sum = 0;
    size_t k = 2;

    if (degrees % 2 == 1) {
        term = c;
        k = 3;
    }
    for (; k <= degrees; k += 2) {
        sum += term;
        term *= c * c * (double)(k - 1) / (double)k;
    }
    sum *= sin(angle);
    return degrees % 2 == 1 ? (angle + sum) * 2 / acos(-1) : sum;
}

double student_quantile(size_t degrees, double confidence)
{
    double low = 0, high = acos(-1) / 2;

    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (probability(middle, degrees) < confidence)
            low = middle;
        else
            high = middle;
    }
    return tan((low + high) / 2) * sqrt((double)degrees);
}

double statistic_interval(const struct statistic *statistic)
{
    double error = statistic_std(statistic) / sqrt((double)statistic->n);

    if (statistic->n < 2)
        return NAN;
    if (statistic->n > MANY_DEGREES)
        return NORMAL_95 * error;
    return student_quantile(statistic->n - 1, 0.95) * error;
}
