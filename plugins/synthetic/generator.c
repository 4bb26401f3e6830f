/* The three generators; synthetic.h has their formulas. */
#include "synthetic.h"

#include <math.h>
#include <stdlib.h>

enum {
    STEPS_PER_UNIT = 10, /* Mackey-Glass: Runge-Kutta steps per row */
    WARM_UP_UNITS = 1000,
    MAX_WAVES = 64,
};

struct generator {
    const struct settings *settings;
    int64_t instrument;
    int64_t row; /* the next one */
    /* bars: the last `lag` values of x; mackey_glass: the last tau units in
     * steps; a ring, `at` is the oldest. */
    double *ring;
    int64_t ring_size, at;
    double log_price; /* bars */
    double x;         /* mackey_glass */
    double period[MAX_WAVES], phase[MAX_WAVES];
};

const char *const *generator_columns(enum kind kind, size_t *n)
{
    static const char *const bars[] = {"open", "high", "low", "close",
                                       "volume"};
    static const char *const value[] = {"value"};

    *n = kind == KIND_BARS ? 5 : 1;
    return kind == KIND_BARS ? bars : value;
}

static void noise_of(const struct generator *g, enum stream stream,
                     double out[2])
{
    noise_normal(g->settings->seed, g->instrument, stream, g->row, out);
}

static int bars_row(struct generator *g, double *values, struct m2_error *err)
{
    const struct settings *s = g->settings;
    double fresh[2], reach[2], activity[2];

    noise_of(g, STREAM_RETURN, fresh);
    noise_of(g, STREAM_RANGE, reach);
    noise_of(g, STREAM_VOLUME, activity);
    double x = fresh[0];
    if (g->row >= s->lag)
        x = s->ic * g->ring[g->at] + sqrt(1.0 - s->ic * s->ic) * fresh[0];
    g->ring[g->at] = x;
    g->at = (g->at + 1) % g->ring_size;

    double open = exp(g->log_price);
    g->log_price += s->volatility * x;
    double close = exp(g->log_price);
    if (!(close > 1e-300 && close < 1e300))
        return m2_fail(err, M2_E_DATA,
                       "synthetic: the price of instrument %lld leaves the "
                       "range of numbers at row %lld: lower volatility or "
                       "rows",
                       (long long)g->instrument + 1, (long long)g->row);
    values[0] = open;
    values[1] = fmax(open, close) * exp(0.5 * s->volatility * fabs(reach[0]));
    values[2] = fmin(open, close) * exp(-0.5 * s->volatility * fabs(reach[1]));
    values[3] = close;
    values[4] = floor(1.0 + 1000.0 * exp(0.5 * activity[0]));
    return M2_OK;
}

static double mackey_glass_slope(double x, double delayed)
{
    return 0.2 * delayed / (1.0 + pow(delayed, 10.0)) - 0.1 * x;
}

/* One Runge-Kutta step; the delayed value half a step on is the mean of its
 * neighbours. */
static void mackey_glass_step(struct generator *g)
{
    const double h = 1.0 / STEPS_PER_UNIT;
    double delayed = g->ring[g->at];
    int64_t after = (g->at + 1) % g->ring_size;
    double delayed_next = g->ring[after];
    double delayed_mid = 0.5 * (delayed + delayed_next);

    double k1 = mackey_glass_slope(g->x, delayed);
    double k2 = mackey_glass_slope(g->x + 0.5 * h * k1, delayed_mid);
    double k3 = mackey_glass_slope(g->x + 0.5 * h * k2, delayed_mid);
    double k4 = mackey_glass_slope(g->x + h * k3, delayed_next);
    /* The ring holds x(t - tau) .. x(t - h); x(t) joins as t moves on. */
    g->ring[g->at] = g->x;
    g->at = after;
    g->x += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
}

static void mackey_glass_unit(struct generator *g)
{
    for (int i = 0; i < STEPS_PER_UNIT; i++)
        mackey_glass_step(g);
}

static double sine_mix(const struct generator *g)
{
    const struct settings *s = g->settings;
    double sum = 0.0;

    for (int64_t k = 0; k < s->waves; k++)
        sum += sin(2.0 * M_PI * ((double)g->row / g->period[k] + g->phase[k]));
    return sum * sqrt(2.0 / (double)s->waves);
}

static void start_waves(struct generator *g)
{
    double u[2];

    for (int64_t k = 0; k < g->settings->waves; k++) {
        noise_uniform(g->settings->seed, g->instrument, STREAM_PERIOD, k, u);
        g->period[k] = 8.0 * pow(200.0 / 8.0, u[0]);
        noise_uniform(g->settings->seed, g->instrument, STREAM_PHASE, k, u);
        g->phase[k] = u[0];
    }
}

static void start_mackey_glass(struct generator *g)
{
    double u[2];

    noise_uniform(g->settings->seed, g->instrument, STREAM_START, 0, u);
    g->x = 0.7 + u[0];
    for (int64_t i = 0; i < g->ring_size; i++)
        g->ring[i] = g->x;
    for (int unit = 0; unit < WARM_UP_UNITS; unit++)
        mackey_glass_unit(g);
}

int generator_new(const struct settings *settings, int64_t instrument,
                  struct generator **out, struct m2_error *err)
{
    struct generator *g = calloc(1, sizeof *g);

    if (g == NULL)
        return m2_fail(err, M2_E_MEMORY, "synthetic: out of memory");
    g->settings = settings;
    g->instrument = instrument;
    g->ring_size = settings->kind == KIND_BARS ? settings->lag
                                               : settings->tau * STEPS_PER_UNIT;
    g->ring = calloc((size_t)g->ring_size, sizeof *g->ring);
    if (g->ring == NULL) {
        free(g);
        return m2_fail(err, M2_E_MEMORY, "synthetic: out of memory");
    }
    g->log_price = log(settings->price);
    if (settings->kind == KIND_MACKEY_GLASS)
        start_mackey_glass(g);
    if (settings->kind == KIND_SINE_MIX)
        start_waves(g);
    *out = g;
    return M2_OK;
}

int generator_next(struct generator *g, int64_t n, double *values,
                   struct m2_error *err)
{
    double noise[2];

    for (int64_t i = 0; i < n; i++, g->row++) {
        if (g->settings->kind == KIND_BARS) {
            int rc = bars_row(g, values + 5 * i, err);
            if (rc != M2_OK)
                return rc;
            continue;
        }
        noise_of(g, STREAM_NOISE, noise);
        if (g->settings->kind == KIND_MACKEY_GLASS) {
            values[i] = g->x;
            mackey_glass_unit(g);
        } else {
            values[i] = sine_mix(g);
        }
        values[i] += g->settings->noise * noise[0];
    }
    return M2_OK;
}

void generator_free(struct generator *g)
{
    if (g == NULL)
        return;
    free(g->ring);
    free(g);
}
