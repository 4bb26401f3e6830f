/* sweep: random: - trials, and what is drawn in each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "config/value.h"
#include "sweep/axis.h"
#include "sweep/draw.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/suggest.h"

/* Integers beyond are not exact in a double. */
#define MAX_WHOLE 9007199254740992.0

/* The distributions by name, and what people also write. */
static const struct distribution {
    const char *name;
    enum draw_kind kind;
    size_t n_arguments; /* 0: any number */
    const char *habits;
    const char *example;
} distributions[] = {
    {"uniform", DRAW_UNIFORM, 2, "float suggest_float range between",
     "{uniform: [0, 0.1]}"},
    {"loguniform", DRAW_LOGUNIFORM, 2,
     "log_uniform log_uniform_values log reciprocal",
     "{loguniform: [1e-5, 1e-2]}"},
    {"quniform", DRAW_QUNIFORM, 3, "q_uniform discrete_uniform",
     "{quniform: [16, 128, 16]}: low, high, step"},
    {"int", DRAW_INT, 2,
     "randint integer int_uniform suggest_int uniformint quantized",
     "{int: [2, 12]}"},
    {"normal", DRAW_NORMAL, 2, "gaussian gauss randn",
     "{normal: [0.5, 0.1]}: mean, standard deviation"},
    {"choice", DRAW_CHOICE, 0, "values categorical choices options",
     "{choice: [16, 64]}"},
};

enum { N_DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

struct parameter {
    size_t row;
    const struct node *key, *node; /* node: {uniform: [0, 1]} */
    const struct distribution *distribution;
    struct draw draw;
};

struct trials {
    struct reading *reading;
    uint64_t seed;
    size_t n;
    struct parameter *parameters;
    size_t n_parameters;
    bool is_wrong;
};

/* ---- one distribution ---------------------------------------------------- */

enum number_kind { NUMBER_NONE, NUMBER_WHOLE, NUMBER_REAL };

static enum number_kind number_kind(const struct key *key)
{
    if (key->type == KEY_INT)
        return NUMBER_WHOLE;
    if (key->type == KEY_FLOAT)
        return NUMBER_REAL;
    if (key->type != KEY_OPTION)
        return NUMBER_NONE;
    return key->option->type == M2_OPTION_INT     ? NUMBER_WHOLE
           : key->option->type == M2_OPTION_FLOAT ? NUMBER_REAL
                                                  : NUMBER_NONE;
}

static const struct schema_row *row_of(const struct trials *trials,
                                       const struct parameter *parameter)
{
    return &trials->reading->experiment->schema.rows[parameter->row];
}

/* The one key of {uniform: [0, 1]}. */
static bool find_distribution(struct trials *trials,
                              struct parameter *parameter)
{
    struct messages *messages = trials->reading->messages;
    const struct node *node = parameter->node, *name;
    struct suggestion near;
    struct text list = {0};

    if (node->kind != NODE_MAP || node->n_children != 1) {
        message_error(messages, node->place,
                      node->kind == NODE_LIST
                          ? "'%s' is drawn at random: values to choose from "
                            "are {choice: [1, 2]}"
                          : "'%s' needs one distribution, as {uniform: [0, 1]}",
                      parameter->key->text);
        return false;
    }
    name = node->first->key;
    near = suggest_start(name->text);
    for (size_t i = 0; i < N_DISTRIBUTIONS; i++) {
        const struct distribution *d = &distributions[i];

        text_addf(&list, "%s%s", i == 0 ? "" : ", ", d->name);
        suggest_try(&near, d->name);
        if (suggest_is_listed(d->habits, name->text))
            near.best = d->name;
        if (strcmp(d->name, name->text) == 0)
            parameter->distribution = d;
    }
    if (parameter->distribution == NULL && near.best != NULL)
        message_error(messages, name->place,
                      "unknown distribution '%s'; did you mean '%s'?",
                      name->text, near.best);
    else if (parameter->distribution == NULL)
        message_error(messages, name->place,
                      "unknown distribution '%s'; it is one of %s", name->text,
                      text_string(&list));
    text_free(&list);
    return parameter->distribution != NULL;
}

/* Whether the distribution suits the key. */
static bool check_kind(struct trials *trials, struct parameter *parameter)
{
    const struct schema_row *row = row_of(trials, parameter);
    enum number_kind kind = number_kind(row->key);
    const char *name = parameter->distribution->name;
    struct place place = parameter->node->first->key->place;

    parameter->draw.kind = parameter->distribution->kind;
    parameter->draw.whole = kind == NUMBER_WHOLE;
    if (parameter->draw.kind == DRAW_CHOICE)
        return true;
    if (kind == NUMBER_NONE)
        message_error(trials->reading->messages, place,
                      "'%s' is no number, so '%s' does not suit it; "
                      "{choice: [...]} does",
                      row->path, name);
    else if (kind == NUMBER_REAL && parameter->draw.kind == DRAW_INT)
        message_error(trials->reading->messages, place,
                      "'%s' is no integer; uniform draws it, or {quniform: "
                      "[low, high, 1]} for whole numbers",
                      row->path);
    else
        return true;
    return false;
}

/* A number that the key could hold: a bound. */
static bool read_bound(struct trials *trials, const struct parameter *parameter,
                       const struct node *node, double *out)
{
    struct reading *reading = trials->reading;
    const struct schema_row *row = row_of(trials, parameter);

    if (parameter->draw.kind == DRAW_LOGUNIFORM &&
        scalar_is_number(node, out) && *out <= 0) {
        message_error(reading->messages, node->place,
                      "loguniform takes the bounds themselves, not their "
                      "exponents: both must be greater than 0, as [1e-5, "
                      "1e-2]");
        return false;
    }
    if (!value_read(row, node, &reading->scratch, reading->messages))
        return false;
    if (scalar_is_number(node, out) && !isinf(*out) &&
        (!parameter->draw.whole || fabs(*out) < MAX_WHOLE))
        return true;
    message_error(reading->messages, node->place,
                  "a bound must be a finite number%s",
                  parameter->draw.whole ? " of at most 15 digits" : "");
    return false;
}

/* A number that is no value of the key: step, mean, deviation. */
static bool read_free(struct trials *trials, const struct node *node,
                      const char *what, double *out)
{
    if (node->kind == NODE_SCALAR && scalar_is_number(node, out) &&
        !isinf(*out))
        return true;
    message_error(trials->reading->messages, node->place,
                  "the %s must be a number", what);
    return false;
}

static bool read_bounds(struct trials *trials, struct parameter *parameter,
                        const struct node *list)
{
    struct draw *draw = &parameter->draw;
    const struct node *high = list->first->next;
    bool ok = read_bound(trials, parameter, list->first, &draw->low);

    ok = read_bound(trials, parameter, high, &draw->high) && ok;
    if (ok && draw->low >= draw->high) {
        message_error(trials->reading->messages, list->place,
                      "the lower bound %s is not below the upper one, %s",
                      list->first->text, high->text);
        return false;
    }
    return ok;
}

static bool read_step(struct trials *trials, struct parameter *parameter,
                      const struct node *node)
{
    struct draw *draw = &parameter->draw;
    const char *wrong = NULL;

    if (!read_free(trials, node, "step", &draw->step))
        return false;
    if (!(draw->step > 0))
        wrong = "the step must be greater than 0";
    else if (draw->whole && draw->step != floor(draw->step))
        wrong = "the step of an integer must be an integer";
    else if (draw->step > draw->high - draw->low)
        wrong = "the step is larger than the distance of the bounds";
    else if ((draw->high - draw->low) / draw->step > MAX_WHOLE)
        wrong = "the step is too small";
    if (wrong != NULL)
        message_error(trials->reading->messages, node->place, "%s", wrong);
    return wrong == NULL;
}

static bool read_normal(struct trials *trials, struct parameter *parameter,
                        const struct node *list)
{
    struct draw *draw = &parameter->draw;

    if (!read_free(trials, list->first, "mean", &draw->low) ||
        !read_free(trials, list->last, "standard deviation", &draw->high))
        return false;
    if (draw->high > 0)
        return true;
    message_error(trials->reading->messages, list->last->place,
                  "the standard deviation must be greater than 0");
    return false;
}

static bool read_choices(struct trials *trials, struct parameter *parameter,
                         const struct node *list)
{
    struct reading *reading = trials->reading;
    bool ok = true;

    parameter->draw.n_choices = list->n_children;
    for (const struct node *v = list->first; v != NULL; v = v->next)
        ok = value_read(row_of(trials, parameter), v, &reading->scratch,
                        reading->messages) &&
             ok;
    return ok;
}

static bool read_parameter(struct trials *trials, struct parameter *parameter)
{
    const struct distribution *d;
    const struct node *list;

    if (!find_distribution(trials, parameter) || !check_kind(trials, parameter))
        return false;
    d = parameter->distribution;
    list = parameter->node->first;
    if (list->kind != NODE_LIST || list->first == NULL ||
        (d->n_arguments > 0 && list->n_children != d->n_arguments)) {
        message_error(trials->reading->messages, list->place,
                      "'%s' is written as %s", d->name, d->example);
        return false;
    }
    if (d->kind == DRAW_CHOICE)
        return read_choices(trials, parameter, list);
    if (d->kind == DRAW_NORMAL)
        return read_normal(trials, parameter, list);
    return read_bounds(trials, parameter, list) &&
           (d->kind != DRAW_QUNIFORM ||
            read_step(trials, parameter, list->last));
}

/* ---- drawing ------------------------------------------------------------ */

/* A drawn number as a value of the file, at the distribution's place. */
static const struct node *draw_node(struct trials *trials,
                                    const struct parameter *parameter,
                                    size_t trial)
{
    const struct node *node = parameter->node->first->first;
    double number = draw_number(&parameter->draw, trials->seed,
                                row_of(trials, parameter)->path, trial);
    char text[NUMBER_TEXT_SIZE];

    if (parameter->draw.kind == DRAW_CHOICE) {
        for (size_t i = (size_t)number; i > 0; i--)
            node = node->next;
        return node;
    }
    if (parameter->draw.whole)
        snprintf(text, sizeof text, "%.0f", number);
    else
        number_print_double(number, text);
    return node_new_scalar(&trials->reading->sweep->tree,
                           parameter->node->first->key->place, text);
}

/* Only normal may leave the key's range: the bounds of the others are in it. */
static void report_outside(struct trials *trials,
                           const struct parameter *parameter,
                           const struct node *node, size_t trial, size_t n)
{
    const struct schema_row *row = row_of(trials, parameter);
    struct text range = {0};

    schema_describe_range(row->key, &range);
    message_error(trials->reading->messages, node->place,
                  "trial %zu draws %s for '%s', which must be %s (%zu of %zu "
                  "trials draw such a value); a smaller deviation, or uniform "
                  "or loguniform, keeps to it",
                  trial, node->text, row->path, text_string(&range), n,
                  trials->n);
    text_free(&range);
}

static int draw_axis(struct trials *trials, const struct parameter *parameter)
{
    struct reading *reading = trials->reading;
    const struct axis_key at = {"sweep.random", parameter->key};
    struct sweep_axis *axis = axis_new(reading, parameter->row, &at, trials->n);
    struct messages quiet = {0}, *loud = reading->messages;
    const struct node *outside = NULL;
    size_t first = 0, n_outside = 0;

    if (axis == NULL)
        return M2_E_MEMORY;
    reading->messages = &quiet;
    for (size_t i = 0; i < trials->n && !quiet.failed; i++) {
        const struct node *node = draw_node(trials, parameter, i);

        quiet.failed = quiet.failed || node == NULL;
        if (node == NULL || axis_set(reading, axis, i, node) || n_outside++ > 0)
            continue;
        first = i;
        outside = node;
    }
    reading->messages = loud;
    loud->failed = loud->failed || quiet.failed;
    messages_free(&quiet);
    if (outside != NULL) {
        report_outside(trials, parameter, outside, first, n_outside);
        trials->is_wrong = true;
    }
    return 0;
}

static int draw_all(struct trials *trials, struct place place)
{
    struct reading *reading = trials->reading;
    size_t first = reading->sweep->n_axes, n = trials->n;
    struct sweep_group *group;
    int code = 0;

    for (size_t i = 0; code == 0 && i < trials->n_parameters; i++)
        code = draw_axis(trials, &trials->parameters[i]);
    if (code != 0 || (trials->n_parameters == 0 && !trials->is_wrong))
        return code;
    group = group_new(reading, first, trials->is_wrong ? 0 : n, place);
    if (group == NULL)
        return M2_E_MEMORY;
    code = group_fold(reading, group, NULL);
    if (code == 0 && group->count < n && group->count > 0)
        message_warning(reading->messages, place,
                        "%zu random trials are %zu different point%s: what "
                        "repeats an earlier one is left out",
                        n, group->count, group->count == 1 ? "" : "s");
    return code;
}

/* ---- the blocks --------------------------------------------------------- */

/* The order of the schema, whatever that of the file. */
static int compare_rows(const void *left, const void *right)
{
    const struct parameter *a = left, *b = right;

    return a->row < b->row ? -1 : a->row > b->row;
}

/* The same key by two names. */
static bool is_repeated(struct trials *trials,
                        const struct parameter *parameter)
{
    for (size_t i = 0; i < trials->n_parameters; i++) {
        if (trials->parameters[i].row != parameter->row)
            continue;
        message_error(trials->reading->messages, parameter->key->place,
                      "'%s' is drawn twice", row_of(trials, parameter)->path);
        return true;
    }
    return false;
}

static void read_parameters(struct trials *trials, const struct node *params)
{
    struct reading *reading = trials->reading;

    for (const struct node *v = params->first; v != NULL; v = v->next) {
        const struct axis_key at = {"sweep.params", v->key};
        struct parameter parameter = {.key = v->key, .node = v};
        enum axis_use use =
            axis_find(reading, &at, reading->sweep->n_axes, &parameter.row);

        if (use == AXIS_OVERRIDDEN)
            continue;
        if (use == AXIS_USED && !is_repeated(trials, &parameter) &&
            read_parameter(trials, &parameter))
            trials->parameters[trials->n_parameters++] = parameter;
        else
            trials->is_wrong = true;
    }
    if (trials->n_parameters > 1)
        qsort(trials->parameters, trials->n_parameters,
              sizeof *trials->parameters, compare_rows);
}

/* params stands beside random, or in it. */
static const struct node *find_params(struct reading *reading,
                                      const struct node *sweep,
                                      const struct node *random)
{
    const struct node *beside = node_get(sweep, "params");
    const struct node *inside = node_get(random, "params");

    if (beside != NULL && inside != NULL)
        message_error(reading->messages, beside->key->place,
                      "'params' stands in 'random' already, %s:%d",
                      inside->place.source->name, inside->key->place.line);
    return inside != NULL ? inside : beside;
}

static int read_random(struct reading *reading, const struct node *random,
                       const struct node *params)
{
    static const struct block_integer n = {"n", "sweep.random.n", 1,
                                           SWEEP_MOST_RUNS, 0};
    const struct node *seed = node_get(random, "seed");
    struct trials trials = {.reading = reading};
    int code;

    trials.n = (size_t)block_read_integer(random, &n, reading->messages);
    if (node_get(random, "n") == NULL)
        message_error(reading->messages, random->place,
                      "'sweep.random' needs the number of trials, as {n: 50, "
                      "seed: 7}");
    trials.is_wrong = trials.n == 0;
    if (seed != NULL && !block_read_seed(seed, "sweep.random.seed",
                                         &trials.seed, reading->messages))
        trials.is_wrong = true;
    trials.parameters = memory_zeroed(params->n_children,
                                      sizeof *trials.parameters, reading->err);
    if (trials.parameters == NULL)
        return M2_E_MEMORY;
    read_parameters(&trials, params);
    code = draw_all(&trials,
                    random->key != NULL ? random->key->place : random->place);
    free(trials.parameters);
    return code;
}

int random_read(struct reading *reading, const struct node *sweep)
{
    static const char *const known[] = {"n", "seed", "params", NULL};
    const struct node *random = node_get(sweep, "random");
    const struct node *params;

    if (random == NULL || scalar_is_null(random)) {
        params = node_get(sweep, "params");
        if (params != NULL && !scalar_is_null(params))
            message_error(reading->messages, params->key->place,
                          "'sweep.params' are drawn at random: how often? "
                          "'random: {n: 50, seed: 7}' says it");
        return 0;
    }
    if (random->kind != NODE_MAP) {
        message_error(reading->messages, random->place,
                      "'sweep.random' must be a mapping, as {n: 50, seed: 7}, "
                      "not %s",
                      node_kind_name(random));
        return 0;
    }
    block_check_keys(random, "sweep.random", known, reading->messages);
    params = find_params(reading, sweep, random);
    if (params != NULL && params->kind == NODE_MAP && params->first != NULL)
        return read_random(reading, random, params);
    message_error(reading->messages,
                  params != NULL ? params->place : random->place,
                  "'sweep.params' must say what is drawn, as {lr: {loguniform: "
                  "[1e-5, 1e-2]}}");
    return 0;
}
