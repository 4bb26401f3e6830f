/* The sizes of a model, derived and checked. */
#include "model/sizes.h"

/* Above any real model; products of a few stay far below 2^63. */
static const int64_t MAX_SIZE = (int64_t)1 << 40;

/* Sets *out = a * b; false when that is no sensible size. */
static bool product(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out) && *out <= MAX_SIZE;
}

static int check_positive(const struct model_spec *spec, struct m2_error *err)
{
    const struct config_model *c = spec->config;
    const struct {
        const char *name;
        int64_t value;
    } needed[] = {
        {"d_model", c->d_model},
        {"n_layer", c->n_layer},
        {"d_state", c->d_state},
        {"expand", c->expand},
        {"headdim", c->headdim},
        {"d_conv", c->d_conv},
        {"ngroups", c->ngroups},
        {"norm_groups", c->norm_groups},
        {"chunk", c->chunk},
        {"batch size", spec->B},
        {"window", spec->L},
        {"features", c->head == HEAD_LM ? 1 : spec->n_features},
        {"targets", c->head == HEAD_LM ? 1 : spec->n_outputs},
        {"vocab_size", c->head == HEAD_LM ? spec->n_vocab : 1},
    };

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (needed[i].value < 1 || needed[i].value > MAX_SIZE)
            return m2_fail(err, M2_E_CONFIG,
                           "model: %s is %lld, expected at least 1",
                           needed[i].name, (long long)needed[i].value);
    }
    return 0;
}

static int check_divides(const char *part, int64_t divisor, const char *whole,
                         int64_t value, struct m2_error *err)
{
    if (divisor > 0 && value % divisor == 0)
        return 0;
    return m2_fail(err, M2_E_CONFIG, "model.%s: %lld does not divide %s = %lld",
                   part, (long long)divisor, whole, (long long)value);
}

/* CD and J, and the largest tensors there are: none may overflow. */
static int derive(const struct model_spec *spec, struct model_sizes *s,
                  struct m2_error *err)
{
    int64_t rows, states, ignored, weights, filter;

    if (product(s->G, s->N, &states) && product(2, states, &states)) {
        s->CD = s->I + states;
        s->J = s->CD + s->I + s->H;
        s->n_chunks = (s->L - 1) / s->Q + 1;
        if (product(s->B, s->L, &rows) && product(rows, s->J, &ignored) &&
            product(rows, s->V + s->F + s->Y, &ignored) &&
            product(s->J, s->D, &weights) && product(s->CD, s->K, &filter) &&
            product(weights + filter, s->n_layer, &ignored) &&
            product(s->V + s->F + s->Y, s->D, &ignored) &&
            product(s->I, s->N, &ignored) &&
            product(ignored, s->n_chunks, &ignored) &&
            product(ignored, s->B, &ignored))
            return 0;
    }
    return m2_fail(err, M2_E_CONFIG,
                   "model: too large for any machine (d_model %lld, window "
                   "%lld, batch %lld)",
                   (long long)s->D, (long long)spec->L, (long long)spec->B);
}

int model_sizes_of(const struct model_spec *spec, struct model_sizes *out,
                   struct m2_error *err)
{
    const struct config_model *c = spec->config;
    bool lm = c->head == HEAD_LM;
    struct model_sizes s = {
        .B = spec->B,
        .L = spec->L,
        .D = c->d_model,
        .P = c->headdim,
        .G = c->ngroups,
        .N = c->d_state,
        .K = c->d_conv,
        .Q = c->chunk,
        .Gn = c->norm_groups,
        .F = lm ? 0 : spec->n_features,
        .Y = lm ? 0 : spec->n_outputs,
        .V = lm ? spec->n_vocab : 0,
        .n_layer = c->n_layer,
        .last_only = !lm && c->readout == READOUT_LAST,
        .lm = lm,
    };

    if (check_positive(spec, err) != 0)
        return M2_E_CONFIG;
    if (!product(c->expand, c->d_model, &s.I))
        return m2_fail(err, M2_E_CONFIG, "model: expand * d_model overflows");
    if (check_divides("headdim", s.P, "expand * d_model", s.I, err) != 0)
        return M2_E_CONFIG;
    s.H = s.I / s.P;
    if (check_divides("ngroups", s.G, "the number of heads", s.H, err) != 0 ||
        check_divides("norm_groups", s.Gn, "expand * d_model", s.I, err) != 0 ||
        derive(spec, &s, err) != 0)
        return M2_E_CONFIG;
    *out = s;
    return 0;
}
