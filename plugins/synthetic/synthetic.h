/* Seeded generators with known answers: what the synthetic plugin is made of.
 *
 * bars          open, high, low, close, volume.  The log return of close is
 *                   r_t = volatility * x_t,
 *                   x_t = ic * x_{t-lag} + sqrt(1 - ic^2) * e_t,
 *               e_t and the first lag values of x independent standard
 *               normals.  x is stationary with variance 1, so the best
 *               forecast of r_t given the past is ic * r_{t-lag}, a linear
 *               function of one past return, and its correlation with r_t is
 *               exactly ic; its sign is right with probability
 *               1/2 + asin(ic)/pi.  The sum over H <= lag bars has the same
 *               coefficient.  open is the close before; high and low lie a
 *               random distance beyond open and close; these and volume tell
 *               nothing about the future.
 * mackey_glass  value: x' = 0.2 x(t-tau) / (1 + x(t-tau)^10) - 0.1 x(t)
 *               (Mackey and Glass, Science 197, 1977), Runge-Kutta of order 4
 *               with step 0.1, one row per unit of time, the first 1000 units
 *               left out; chaotic for tau >= 17.
 * sine_mix      value: `waves` sines of equal amplitude sqrt(2/waves), so of
 *               variance 1, with seeded periods (8 to 200 rows) and phases; a
 *               linear function of the last 2*waves values continues it.
 * To the last two, noise * N(0, 1) is added: no forecast has a mean squared
 * error below noise^2.
 *
 * Every number is a pure function of (seed, instrument, stream, row) by
 * Philox4x32-10 (Salmon et al., SC 2011): more rows or instruments change
 * none of those there were. */
#ifndef M2_SYNTHETIC_H
#define M2_SYNTHETIC_H

#include "m2_data.h"

enum kind { KIND_BARS, KIND_MACKEY_GLASS, KIND_SINE_MIX };

struct settings {
    enum kind kind;
    uint64_t seed;
    int64_t rows, instruments;
    int64_t start_ns, step_ns;
    double ic, volatility, price; /* bars */
    int64_t lag;
    int64_t tau;   /* mackey_glass */
    int64_t waves; /* sine_mix */
    double noise;
};

/* The options table and the settings it results in. */
extern const struct m2_option synthetic_options[];
int settings_read(const struct m2_data_open *open, struct settings *out,
                  struct m2_error *err);

/* Independent streams of random numbers. */
enum stream {
    STREAM_RETURN,
    STREAM_RANGE, /* distance of high and of low: two normals */
    STREAM_VOLUME,
    STREAM_NOISE,
    STREAM_START,
    STREAM_PERIOD,
    STREAM_PHASE,
};

/* Two uniform numbers in (0, 1), two standard normals (Box-Muller). */
void noise_uniform(uint64_t seed, int64_t instrument, enum stream stream,
                   int64_t row, double out[2]);
void noise_normal(uint64_t seed, int64_t instrument, enum stream stream,
                  int64_t row, double out[2]);

/* One instrument, generated from its first row on.  generator_next writes n
 * rows of generator_columns(kind) values. */
struct generator;
int generator_new(const struct settings *settings, int64_t instrument,
                  struct generator **out, struct m2_error *err);
int generator_next(struct generator *generator, int64_t n, double *values,
                   struct m2_error *err);
void generator_free(struct generator *generator); /* NULL is allowed */
const char *const *generator_columns(enum kind kind, size_t *n);

#endif
