/* Options of the synthetic source: the table, and from values to settings. */
#include "synthetic.h"

#include <inttypes.h>
#include <string.h>

static const char *const kinds[] = {"bars", "mackey_glass", "sine_mix", NULL};

const struct m2_option synthetic_options[] = {
    {"kind", M2_OPTION_CHOICE, "bars", 0, 0, kinds,
     "What is generated: bars (open, high, low, close, volume with a known "
     "attainable information coefficient), mackey_glass or sine_mix (value)."},
    {"rows", M2_OPTION_INT, "4000", 1, 1e8, NULL, "Rows per instrument."},
    {"instruments", M2_OPTION_INT, "1", 1, 10000, NULL,
     "Number of independent series, named S1, S2 and so on."},
    {"step", M2_OPTION_STRING, "1m", 0, 0, NULL,
     "Distance of rows: a whole number and ns, us, ms, s, m, h or d."},
    {"start", M2_OPTION_STRING, "2024-01-01", 0, 0, NULL,
     "Time of the first row, UTC: 2024-01-01 or 2024-01-01T09:30:00."},
    {"ic", M2_OPTION_FLOAT, "0.1", 0, 1, NULL,
     "bars: correlation of the best possible one-step forecast of "
     "log_return(close), which is ic times the return lag bars ago, with the "
     "return that follows."},
    {"lag", M2_OPTION_INT, "1", 1, 100000, NULL,
     "bars: how many bars ago the return lies that foretells the next one."},
    {"volatility", M2_OPTION_FLOAT, "5e-4", 1e-9, 1, NULL,
     "bars: standard deviation of log_return(close)."},
    {"price", M2_OPTION_FLOAT, "100", 1e-6, 1e9, NULL,
     "bars: open of the first bar."},
    {"tau", M2_OPTION_INT, "17", 1, 1000, NULL,
     "mackey_glass: the delay, in rows; 17 and more is chaotic."},
    {"waves", M2_OPTION_INT, "3", 1, 64, NULL, "sine_mix: number of sines."},
    {"noise", M2_OPTION_FLOAT, "0", 0, 1e6, NULL,
     "mackey_glass, sine_mix: standard deviation of the noise added; its "
     "square bounds the mean squared error of any forecast from below."},
    {0},
};

static const struct m2_value *find(const struct m2_data_open *open,
                                   const char *name)
{
    for (size_t i = 0; i < open->n_options; i++)
        if (strcmp(open->options[i].name, name) == 0)
            return &open->options[i];
    return NULL;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1; /* years begin in March */
    int64_t m = month > 2 ? month - 3 : month + 9;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 -
           719468;
}

static int parse_start(const char *text, int64_t *out, struct m2_error *err)
{
    int year, month, day, hour = 0, minute = 0, second = 0;
    int date_end = 0, end = 0;

    int n = sscanf(text, "%4d-%2d-%2d%nT%2d:%2d:%2d%n", &year, &month, &day,
                   &date_end, &hour, &minute, &second, &end);
    if (n == 3)
        end = date_end;
    if (n == 6 && text[end] == 'Z')
        end++;
    if ((n != 3 && n != 6) || text[end] != '\0' || year < 1900 || year > 2200 ||
        month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options.start: '%s' is no time; expected "
                       "2024-01-01 or 2024-01-01T09:30:00 (UTC, years 1900 "
                       "to 2200)",
                       text);
    int64_t seconds =
        days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *out = seconds * INT64_C(1000000000);
    return M2_OK;
}

static int parse_step(const char *text, int64_t *out, struct m2_error *err)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},
                 {"us", 1000},
                 {"ms", 1000000},
                 {"s", 1000000000},
                 {"m", INT64_C(60000000000)},
                 {"h", INT64_C(3600000000000)},
                 {"d", INT64_C(86400000000000)}};
    int64_t count = 0;
    int end = 0;

    if (strlen(text) < 16 && text[0] >= '1' && text[0] <= '9' &&
        sscanf(text, "%" SCNd64 "%n", &count, &end) == 1)
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
            if (strcmp(text + end, units[i].name) == 0 &&
                !__builtin_mul_overflow(count, units[i].ns, out))
                return M2_OK;
    return m2_fail(err, M2_E_CONFIG,
                   "data.options.step: '%s' is no distance; expected a whole "
                   "number and a unit (ns, us, ms, s, m, h, d), as 1m",
                   text);
}

/* More than any machine holds is a mistake that would take hours to fail. */
static int check_rows(const struct settings *s, struct m2_error *err)
{
    const int64_t most = 1000000000;

    if (s->rows > most / s->instruments)
        return m2_fail(err, M2_E_CONFIG,
                       "data.options: %" PRId64 " instruments of %" PRId64
                       " rows are more than %" PRId64 " rows",
                       s->instruments, s->rows, most);
    return M2_OK;
}

/* The last row's time, and the moment it is known, must be a time, too. */
static int check_span(const struct settings *s, struct m2_error *err)
{
    int64_t span, end;

    if (__builtin_mul_overflow(s->rows, s->step_ns, &span) ||
        __builtin_add_overflow(s->start_ns, span, &end))
        return m2_fail(err, M2_E_CONFIG,
                       "data.options: %" PRId64 " rows of this step end after "
                       "the year 2262",
                       s->rows);
    return M2_OK;
}

static int read_texts(const struct m2_data_open *open, struct settings *s,
                      struct m2_error *err)
{
    const char *kind = find(open, "kind")->texts[0];

    s->kind = KIND_BARS;
    while (strcmp(kinds[s->kind], kind) != 0)
        s->kind++;
    int rc = parse_start(find(open, "start")->texts[0], &s->start_ns, err);
    if (rc == M2_OK)
        rc = parse_step(find(open, "step")->texts[0], &s->step_ns, err);
    if (rc == M2_OK)
        rc = check_span(s, err);
    if (rc == M2_OK)
        rc = check_rows(s, err);
    return rc;
}

int settings_read(const struct m2_data_open *open, struct settings *out,
                  struct m2_error *err)
{
    struct settings s = {.seed = open->seed};

    /* The runner hands over every option of the table, checked. */
    for (size_t i = 0; synthetic_options[i].name != NULL; i++) {
        const struct m2_value *value = find(open, synthetic_options[i].name);
        if (value == NULL || value->n_texts == 0)
            return m2_fail(err, M2_E_CONFIG, "synthetic: option %s is missing",
                           synthetic_options[i].name);
    }
    s.rows = find(open, "rows")->integer;
    s.instruments = find(open, "instruments")->integer;
    s.ic = find(open, "ic")->number;
    s.lag = find(open, "lag")->integer;
    s.volatility = find(open, "volatility")->number;
    s.price = find(open, "price")->number;
    s.tau = find(open, "tau")->integer;
    s.waves = find(open, "waves")->integer;
    s.noise = find(open, "noise")->number;
    int rc = read_texts(open, &s, err);
    if (rc == M2_OK)
        *out = s;
    return rc;
}
