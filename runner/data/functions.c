/* Kernels of the functions of expressions.  A kernel gives NaN where there is
 * no value, and infinity where the function is not defined for the values
 * there are, which the caller reports. */
#include "data/functions.h"

#include <math.h>

#include "util/timefmt.h"

/* Not defined, unless an input has no value in the first place. */
static double refuse(double x, double y)
{
    return isnan(x) || isnan(y) ? NAN : INFINITY;
}

static double before(const struct function_point *p)
{
    return p->age < p->n ? NAN : p->a[-p->n];
}

static double log_return(const struct function_point *p)
{
    double now = p->a[0], then = before(p);

    return now > 0.0 && then > 0.0 ? log(now / then) : refuse(now, then);
}

static double simple_return(const struct function_point *p)
{
    double now = p->a[0], then = before(p);

    return then > 0.0 ? now / then - 1.0 : refuse(now, then);
}

static double diff(const struct function_point *p)
{
    return p->a[0] - before(p);
}

static double lag(const struct function_point *p)
{
    return before(p);
}

static double logarithm(const struct function_point *p)
{
    return p->a[0] > 0.0 ? log(p->a[0]) : refuse(p->a[0], 0.0);
}

static double logarithm1p(const struct function_point *p)
{
    return p->a[0] > -1.0 ? log1p(p->a[0]) : refuse(p->a[0], 0.0);
}

static double absolute(const struct function_point *p)
{
    return fabs(p->a[0]);
}

static double sign(const struct function_point *p)
{
    double x = p->a[0];

    return isnan(x) ? NAN : (double)((x > 0.0) - (x < 0.0));
}

static double log_ratio(const struct function_point *p)
{
    double a = p->a[0], b = p->b[0];

    return a > 0.0 && b > 0.0 ? log(a / b) : refuse(a, b);
}

static double ratio(const struct function_point *p)
{
    double a = p->a[0], b = p->b[0];

    return b != 0.0 ? a / b : refuse(a, b);
}

static double spread(const struct function_point *p)
{
    return p->a[0] - p->b[0];
}

/* Oldest first; NaN when one of the n values is missing. */
static double mean(const struct function_point *p)
{
    double sum = 0.0;

    if (p->age < p->n - 1)
        return NAN;
    for (int64_t i = 1 - p->n; i <= 0; i++)
        sum += p->a[i];
    return sum / (double)p->n;
}

/* Exactly 0 for equal values, whatever their mean rounds to. */
static double deviation(const struct function_point *p, double centre)
{
    double sum = 0.0;
    bool equal = true;

    for (int64_t i = 1 - p->n; i <= 0; i++) {
        double d = p->a[i] - centre;
        sum += d * d;
        equal = equal && p->a[i] == p->a[0];
    }
    return equal ? 0.0 : sqrt(sum / (double)p->n);
}

static double standard_deviation(const struct function_point *p)
{
    double centre = mean(p);

    return isnan(centre) ? NAN : deviation(p, centre);
}

static double zscore(const struct function_point *p)
{
    double centre = mean(p);

    if (isnan(centre))
        return NAN;
    double s = deviation(p, centre);
    return s == 0.0 ? 0.0 : (p->a[0] - centre) / s;
}

static double ema(const struct function_point *p)
{
    double earlier = p->age == 0 ? NAN : p->out[-1];

    if (isnan(earlier))
        return p->a[0];
    return earlier + 2.0 / (double)(p->n + 1) * (p->a[0] - earlier);
}

static double time_of_day(const struct function_point *p)
{
    int64_t ns = p->time % M2_NS_PER_DAY;

    return (double)(ns < 0 ? ns + M2_NS_PER_DAY : ns) / (double)M2_NS_PER_DAY;
}

static double hour(const struct function_point *p)
{
    return floor(24.0 * time_of_day(p));
}

static double time_of_day_sin(const struct function_point *p)
{
    return sin(2.0 * M_PI * time_of_day(p));
}

static double time_of_day_cos(const struct function_point *p)
{
    return cos(2.0 * M_PI * time_of_day(p));
}

static double day_of_week(const struct function_point *p)
{
    /* Day 0, 1970-01-01, was a Thursday. */
    int64_t day = (days_from_time(p->time) + 3) % 7;

    return (double)(day < 0 ? day + 7 : day);
}

/* clang-format off */
const struct function function_table[] = {
    {"log_return", 1, 1, 1, 1, 0, TARGET_LOG_RETURN, true, log_return,
     "log_return(c, n=1): ln(c[t] / c[t-n]); both must be above 0"},
    {"return", 1, 1, 1, 1, 0, TARGET_RETURN, true, simple_return,
     "return(c, n=1): c[t] / c[t-n] - 1; c[t-n] must be above 0"},
    {"diff", 1, 1, 1, 1, 0, TARGET_DIFF, true, diff,
     "diff(c, n=1): c[t] - c[t-n]"},
    {"lag", 1, 1, 0, 1, 0, TARGET_OTHER, false, lag,
     "lag(c, n): c[t-n]"},
    {"log", 1, 0, 0, 0, 0, TARGET_OTHER, false, logarithm,
     "log(c): ln(c); c must be above 0"},
    {"log1p", 1, 0, 0, 0, 0, TARGET_OTHER, false, logarithm1p,
     "log1p(c): ln(1 + c); c must be above -1"},
    {"abs", 1, 0, 0, 0, 0, TARGET_OTHER, false, absolute,
     "abs(c): the absolute value"},
    {"sign", 1, 0, 0, 0, 0, TARGET_OTHER, false, sign,
     "sign(c): -1, 0 or 1"},
    {"log_ratio", 2, 0, 0, 0, 0, TARGET_OTHER, true, log_ratio,
     "log_ratio(a, b): ln(a / b); both must be above 0"},
    {"ratio", 2, 0, 0, 0, 0, TARGET_OTHER, false, ratio,
     "ratio(a, b): a / b; b must not be 0"},
    {"spread", 2, 0, 0, 0, 0, TARGET_OTHER, false, spread,
     "spread(a, b): a - b"},
    {"sma", 1, 1, 0, 1, 1, TARGET_OTHER, false, mean,
     "sma(c, n): mean of the last n values"},
    {"std", 1, 2, 0, 1, 1, TARGET_OTHER, false, standard_deviation,
     "std(c, n): population standard deviation of the last n values"},
    {"zscore", 1, 2, 0, 1, 1, TARGET_OTHER, false, zscore,
     "zscore(c, n): (c[t] - sma) / std over the last n values; 0 where std "
     "is 0"},
    {"ema", 1, 1, 0, -1, 0, TARGET_OTHER, false, ema,
     "ema(c, n): exponential mean, weight 2/(n+1) on the newest value, "
     "started with the first value after a gap"},
    {"hour", 0, 0, 0, 0, 0, TARGET_OTHER, false, hour,
     "hour: 0 .. 23, UTC"},
    {"time_of_day", 0, 0, 0, 0, 0, TARGET_OTHER, false, time_of_day,
     "time_of_day: share of the UTC day that has passed, [0, 1)"},
    {"time_of_day_sin", 0, 0, 0, 0, 0, TARGET_OTHER, false, time_of_day_sin,
     "time_of_day_sin: sine of the angle 2 pi time_of_day"},
    {"time_of_day_cos", 0, 0, 0, 0, 0, TARGET_OTHER, false, time_of_day_cos,
     "time_of_day_cos: cosine of the angle 2 pi time_of_day"},
    {"day_of_week", 0, 0, 0, 0, 0, TARGET_OTHER, false, day_of_week,
     "day_of_week: Monday 0 .. Sunday 6, UTC"},
    {0},
};
/* clang-format on */
