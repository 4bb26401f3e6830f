/* The report of compare-backends. */
#include "cli/compare_backends.h"

#include <inttypes.h>
#include <string.h>

#include "util/number.h"
#include "util/terminal.h"

static const char *dtype_word(const struct config *config)
{
    return config->dtype == M2_F64 ? "f64" : "f32";
}

static void add_devices(const struct equality_device devices[2],
                        struct text *out)
{
    for (int i = 0; i < 2; i++)
        text_addf(out, "%s: %s\n", devices[i].label, devices[i].name);
}

/* ---- op by op, in words ------------------------------------------------- */

/* "dw (gradient of layers.0.mixer.out_proj.weight)" */
static void print_tensor(const struct mirror_place *place, char *out,
                         size_t size)
{
    if (place->name.text[0] != '\0')
        snprintf(out, size, "%s (%s)", place->argument, place->name.text);
    else
        snprintf(out, size, "%s", place->argument);
}

static int add_op(struct table *table, const struct mirror_op *op,
                  struct m2_error *err)
{
    const struct mirror_place *worst = &op->worst;
    char calls[NUMBER_TEXT_SIZE], error[NUMBER_TEXT_SIZE];
    char limit[NUMBER_TEXT_SIZE], step[NUMBER_TEXT_SIZE];
    char layer[NUMBER_TEXT_SIZE], tensor[256];
    bool differs = worst->error > 0;
    const char *cells[] = {op_name(worst->op),
                           calls,
                           error,
                           limit,
                           op->calls_over > 0 ? "over" : "",
                           differs ? step : NULL,
                           differs && worst->name.layer >= 0 ? layer : NULL,
                           differs ? tensor : NULL};

    snprintf(calls, sizeof calls, "%" PRId64, op->calls);
    snprintf(error, sizeof error, "%.2g", worst->error);
    snprintf(limit, sizeof limit, "%.2g", op->limit);
    snprintf(step, sizeof step, "%" PRId64, worst->step);
    snprintf(layer, sizeof layer, "%" PRId64, worst->name.layer);
    print_tensor(worst, tensor, sizeof tensor);
    return table_add_row(table, cells, err);
}

static int add_ops(const struct mirror_report *report, struct text *out,
                   struct m2_error *err)
{
    static const struct table_column columns[] = {
        {"op", NULL, TABLE_LEFT, false},
        {"calls", NULL, TABLE_RIGHT, true},
        {"worst", "worst error", TABLE_RIGHT, true},
        {"limit", NULL, TABLE_RIGHT, true},
        {"over", "", TABLE_LEFT, false},
        {"step", NULL, TABLE_RIGHT, true},
        {"layer", NULL, TABLE_RIGHT, true},
        {"tensor", NULL, TABLE_LEFT, false},
    };
    struct table table;
    int code =
        table_init(&table, columns, sizeof columns / sizeof *columns, err);

    for (int op = 0; code == 0 && op < M2_N_OPS; op++)
        if (report->ops[op].calls > 0)
            code = add_op(&table, &report->ops[op], err);
    if (code == 0)
        table_print(&table, out);
    table_free(&table);
    return code;
}

static void add_first(const struct op_by_op *found, struct text *out)
{
    const struct mirror_place *first = &found->report.first;
    char tensor[256];

    print_tensor(first, tensor, sizeof tensor);
    text_addf(out,
              "first over its limit: call %" PRId64 ", step %" PRId64
              ": %s, %s, row %" PRId64 ", column %" PRId64
              ": %.17g on %s, %.17g on %s; error %.3g, limit %.3g\n",
              first->call, first->step, op_name(first->op), tensor, first->row,
              first->column, first->device, found->devices[0].label,
              first->twin, found->devices[1].label, first->error,
              found->report.ops[first->op].limit);
}

int op_by_op_write(const struct config *config, const struct op_by_op *found,
                   struct text *out, struct m2_error *err)
{
    const struct mirror_report *report = &found->report;
    int code;

    text_addf(out,
              "%s: %s, %" PRId64 " step%s of %" PRId64 " windows on %s; every "
              "op again on %s%s\n",
              config->name, dtype_word(config), found->steps,
              found->steps == 1 ? "" : "s", found->batch,
              found->devices[0].label, found->devices[1].label,
              found->exact ? ", which is the same: no difference is allowed"
                           : "");
    add_devices(found->devices, out);
    code = add_ops(report, out, err);
    if (code != 0)
        return code;
    if (report->calls_over == 0)
        text_addf(out, "all %" PRId64 " calls are within their limits\n",
                  report->calls);
    else
        text_addf(out,
                  "%" PRId64 " of %" PRId64 " calls are over their limits\n",
                  report->calls_over, report->calls);
    if (report->calls_over > 0)
        add_first(found, out);
    return text_check(out, err);
}

/* ---- op by op, as JSON -------------------------------------------------- */

static json_t *devices_json(const struct equality_device devices[2])
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (int i = 0; ok && i < 2; i++) {
        struct json_builder builder = json_build();

        json_add_text(&builder, "device", devices[i].label);
        json_add_text(&builder, "name", devices[i].name);
        ok = json_append(list, json_built(&builder));
    }
    return ok ? list : json_drop(list);
}

/* Infinite errors are null: JSON has no such number. */
static json_t *place_json(const struct mirror_place *place)
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "op", op_name(place->op));
    json_add_integer(&builder, "call", place->call);
    json_add_integer(&builder, "step", place->step);
    json_add(&builder, "layer",
             place->name.layer >= 0 ? json_integer(place->name.layer)
                                    : json_null());
    json_add_text(&builder, "argument", place->argument);
    json_add_text(&builder, "tensor",
                  place->name.text[0] != '\0' ? place->name.text : NULL);
    json_add_integer(&builder, "row", place->row);
    json_add_integer(&builder, "column", place->column);
    json_add(&builder, "first_value", json_number_or_null(place->device));
    json_add(&builder, "second_value", json_number_or_null(place->twin));
    json_add(&builder, "error", json_number_or_null(place->error));
    return json_built(&builder);
}

static json_t *op_json(const struct mirror_op *op)
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "op", op_name(op->worst.op));
    json_add_integer(&builder, "calls", op->calls);
    json_add_integer(&builder, "calls_over", op->calls_over);
    json_add(&builder, "limit", json_real(op->limit));
    json_add(&builder, "worst", place_json(&op->worst));
    return json_built(&builder);
}

static json_t *ops_json(const struct mirror_report *report)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (int op = 0; ok && op < M2_N_OPS; op++)
        if (report->ops[op].calls > 0)
            ok = json_append(list, op_json(&report->ops[op]));
    return ok ? list : json_drop(list);
}

static struct json_builder begin_json(const struct config *config,
                                      const struct equality_device devices[2],
                                      bool agree)
{
    struct json_builder builder = json_build();

    json_add_text(&builder, "name", config->name);
    json_add_text(&builder, "dtype", dtype_word(config));
    json_add(&builder, "devices", devices_json(devices));
    json_add(&builder, "agree", json_boolean(agree));
    return builder;
}

json_t *op_by_op_json(const struct config *config, const struct op_by_op *found)
{
    const struct mirror_report *report = &found->report;
    struct json_builder builder =
        begin_json(config, found->devices, report->calls_over == 0);

    json_add_integer(&builder, "steps", found->steps);
    json_add_integer(&builder, "batch", found->batch);
    json_add_integer(&builder, "calls", report->calls);
    json_add_integer(&builder, "calls_over", report->calls_over);
    json_add(&builder, "first_over",
             report->calls_over > 0 ? place_json(&report->first) : json_null());
    json_add(&builder, "ops", ops_json(report));
    return json_built(&builder);
}

/* ---- free runs ---------------------------------------------------------- */

static int add_steps(const struct free_run *found, struct text *out,
                     struct m2_error *err)
{
    struct table_column columns[] = {
        {"step", NULL, TABLE_RIGHT, true},
        {"loss_a", found->devices[0].label, TABLE_RIGHT, true},
        {"loss_b", found->devices[1].label, TABLE_RIGHT, true},
        {"gap", NULL, TABLE_RIGHT, true},
    };
    struct table table;
    int code =
        table_init(&table, columns, sizeof columns / sizeof *columns, err);

    for (int64_t i = 0; code == 0 && i < found->n; i++) {
        const struct free_run_step *step = &found->steps[i];
        char number[NUMBER_TEXT_SIZE], gap[NUMBER_TEXT_SIZE];
        char losses[2][NUMBER_TEXT_SIZE];
        const char *cells[] = {number, losses[0], losses[1], gap};

        snprintf(number, sizeof number, "%" PRId64, i + 1);
        snprintf(gap, sizeof gap, "%.2g", step->gap);
        for (int k = 0; k < 2; k++)
            snprintf(losses[k], sizeof losses[k], "%.12g",
                     step->updates[k].loss);
        code = table_add_row(&table, cells, err);
    }
    if (code == 0)
        table_print(&table, out);
    table_free(&table);
    return code;
}

static void add_apart(const struct free_run *found, struct text *out)
{
    const struct free_run_step *step;

    if (found->first_apart == 0) {
        text_addf(out,
                  "every bit of %" PRId64 " losses and gradient norms is "
                  "the same\n",
                  found->n);
        return;
    }
    step = &found->steps[found->first_apart - 1];
    text_addf(out, "the bits part at step %" PRId64 ":", found->first_apart);
    for (int i = 0; i < 2; i++) {
        char loss[NUMBER_TEXT_SIZE], norm[NUMBER_TEXT_SIZE], trace[TRACE_TEXT];

        number_print_double(step->updates[i].loss, loss);
        number_print_double(step->updates[i].grad_norm, norm);
        trace_print(step->traces[i], trace);
        text_addf(out, "%s loss %s, gradient norm %s, trace %s",
                  i == 0 ? "" : ";", loss, norm, trace);
        text_addf(out, " on %s", found->devices[i].label);
    }
    text_add_char(out, '\n');
}

int free_run_write(const struct config *config, const struct free_run *found,
                   struct text *out, struct m2_error *err)
{
    int code;

    text_addf(out, "%s: %s, %" PRId64 " steps on %s and %s, each by itself\n",
              config->name, dtype_word(config), found->n,
              found->devices[0].label, found->devices[1].label);
    add_devices(found->devices, out);
    code = add_steps(found, out, err);
    if (code != 0)
        return code;
    add_apart(found, out);
    text_addf(out, "largest gap %.2g", found->steps[found->worst - 1].gap);
    if (found->steps[found->worst - 1].gap > 0)
        text_addf(out, ", at step %" PRId64, found->worst);
    text_addf(out, "; limit %.2g%s\n", found->limit,
              found->limit == 0 ? ": the device is the same" : "");
    if (found->first_over > 0)
        text_addf(out, "over the limit from step %" PRId64 "\n",
                  found->first_over);
    return text_check(out, err);
}

static json_t *step_json(const struct free_run *found, int64_t i)
{
    const struct free_run_step *step = &found->steps[i];
    struct json_builder builder = json_build();
    static const char *const keys[2][3] = {
        {"first_loss", "first_grad_norm", "first_trace"},
        {"second_loss", "second_grad_norm", "second_trace"},
    };

    json_add_integer(&builder, "step", i + 1);
    for (int k = 0; k < 2; k++) {
        char trace[TRACE_TEXT];

        trace_print(step->traces[k], trace);
        json_add(&builder, keys[k][0],
                 json_number_or_null(step->updates[k].loss));
        json_add(&builder, keys[k][1],
                 json_number_or_null(step->updates[k].grad_norm));
        json_add_text(&builder, keys[k][2], trace);
    }
    json_add(&builder, "gap", json_number_or_null(step->gap));
    return json_built(&builder);
}

/* Steps count from 1: 0 is none. */
static json_t *step_or_null(int64_t step)
{
    return step > 0 ? json_integer(step) : json_null();
}

json_t *free_run_json(const struct config *config, const struct free_run *found)
{
    struct json_builder builder =
        begin_json(config, found->devices, found->first_over == 0);
    json_t *list = json_array();
    bool ok = list != NULL;

    for (int64_t i = 0; ok && i < found->n; i++)
        ok = json_append(list, step_json(found, i));
    json_add(&builder, "limit", json_real(found->limit));
    json_add(&builder, "largest_gap",
             json_number_or_null(found->steps[found->worst - 1].gap));
    json_add_integer(&builder, "largest_gap_step", found->worst);
    json_add(&builder, "first_over", step_or_null(found->first_over));
    json_add(&builder, "first_apart", step_or_null(found->first_apart));
    json_add(&builder, "steps", ok ? list : json_drop(list));
    return json_built(&builder);
}
