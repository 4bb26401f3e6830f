/* Every op over the tables of shapes: against the reference, against itself,
 * and its gradients against finite differences. */
#include <string.h>

#include "backends/conformance/case.h"
#include "backends/conformance/gradient.h"
#include "backends/conformance/pairs.h"
#include "backends/conformance/suite.h"

static const struct trial_layout packed = {0, 0, false, 0};
static const struct trial_layout shifted = {0, 3, false, 0};
static const struct trial_layout padded = {5, 1, false, 0};
static const struct trial_layout poisoned = {0, 0, true, 0};
static const struct trial_layout stepped = {0, 0, false, 3};

/* Finite differences: the largest error measured is 8e-10. */
static const double gradient_limit = 1e-8;

/* One case on its way to a verdict. */
struct verdict {
    struct suite *suite;
    struct trial *trial;
    const char *label;
    struct results want, first;
    double limit;
    struct difference worst; /* over all outputs that were compared */
    const char *worst_output;
};

/* Compares the last run with the reference.  False, and reported, when an
 * output is off the limit. */
static bool agrees(struct verdict *v, const char *where)
{
    struct trial *trial = v->trial;
    for (size_t i = 0; i < trial->n; i++) {
        const struct trial_view *view = &trial->views[i];
        if (!trial_writes(trial, i))
            continue;
        struct difference d =
            compare(view->result, v->want.of[i], view->rows * view->cols);
        if (v->worst_output == NULL || d.error > v->worst.error) {
            v->worst = d;
            v->worst_output = trial->arguments[i].name;
        }
    }
    if (v->worst_output == NULL || v->worst.error <= v->limit)
        return true;
    suite_report(v->suite, CONFORMANCE_FAILED,
                 "%s %s %s: %s[%lld] is %.17g, expected %.17g: error %.3g, "
                 "limit %.3g (%s, seed %llu)",
                 op_name(trial->op), suite_real(v->suite), v->label,
                 v->worst_output, (long long)v->worst.index, v->worst.got,
                 v->worst.want, v->worst.error, v->limit, where,
                 (unsigned long long)trial->seed);
    return false;
}

/* The same for the bits of results, which must be those of the first run. */
static bool same_bits(struct verdict *v, const struct results *results,
                      const char *how)
{
    struct trial *trial = v->trial;
    for (size_t i = 0; i < trial->n; i++) {
        int64_t n = trial->views[i].rows * trial->views[i].cols, j = 0;
        const double *now = results->of[i], *before = v->first.of[i];
        if (!trial_writes(trial, i))
            continue;
        while (j < n && memcmp(&now[j], &before[j], sizeof *now) == 0)
            j++;
        if (j == n)
            continue;
        suite_report(v->suite, CONFORMANCE_FAILED,
                     "%s %s %s: other bits %s: %s[%lld] is %.17g, before "
                     "%.17g (seed %llu)",
                     op_name(trial->op), suite_real(v->suite), v->label, how,
                     trial->arguments[i].name, (long long)j, now[j], before[j],
                     (unsigned long long)trial->seed);
        return false;
    }
    return true;
}

static bool repeats(struct verdict *v, const char *how)
{
    struct results now = {{NULL}};
    results_take(&now, v->trial);
    bool same = same_bits(v, &now, how);
    results_give(&now, v->trial);
    return same;
}

/* Runs the trial; false, and reported, when the call fails. */
static bool runs(struct verdict *v, struct bench *bench,
                 const struct trial_layout *layout)
{
    struct m2_error err = {0};
    int code = trial_run(bench, v->trial, layout, &err);
    if (code)
        suite_report(v->suite, suite_outcome(code), "%s %s %s: %s",
                     op_name(v->trial->op), suite_real(v->suite), v->label,
                     err.text);
    return code == M2_OK;
}

/* Independent handles may be used from different threads. */
static bool repeats_together(struct verdict *v)
{
    struct suite *suite = v->suite;
    struct bench *const benches[2] = {&suite->benches[1], &suite->benches[2]};
    struct results results[2] = {{{NULL}}, {{NULL}}};
    struct m2_error err = {0};
    const char *how = "while another handle is at work";
    int code = trial_run_together(benches, v->trial, &packed, results, &err);
    bool same = false;
    if (code)
        suite_report(suite, CONFORMANCE_FAILED, "%s %s %s: %s: %s",
                     op_name(v->trial->op), suite_real(suite), v->label, how,
                     err.text);
    else
        same = same_bits(v, &results[0], how) && same_bits(v, &results[1], how);
    results_free(&results[0]);
    results_free(&results[1]);
    return same;
}

/* A backend that captures steps: recorded, captured, replayed. */
static bool repeats_in_steps(struct verdict *v)
{
    struct bench *bench = &v->suite->benches[0];
    return !device_has_steps(bench->device) ||
           (runs(v, bench, &stepped) &&
            repeats(v, "in the third of equal training steps"));
}

static bool repeats_everywhere(struct verdict *v)
{
    struct suite *suite = v->suite;
    struct bench *main_bench = &suite->benches[0];
    return runs(v, main_bench, &poisoned) && runs(v, main_bench, &shifted) &&
           repeats(v, "at another address, with NaN in the scratch") &&
           runs(v, &suite->benches[1], &packed) &&
           repeats(v, "with 1 thread") &&
           runs(v, &suite->benches[2], &packed) &&
           repeats(v, "with 3 threads") && repeats_in_steps(v) &&
           repeats_together(v);
}

/* One case.  Afterwards the trial holds the results of the reference. */
static bool verify(struct suite *suite, struct trial *trial, const char *label)
{
    struct verdict v = {
        .suite = suite,
        .trial = trial,
        .label = label,
        .limit = compare_limit(trial->op, suite->real),
    };
    bool passed = false;
    trial_round(trial, suite->real);
    if (!runs(&v, &suite->oracle, &packed))
        return false;
    results_take(&v.want, trial);
    if (runs(&v, &suite->benches[0], &packed) && agrees(&v, "packed")) {
        results_take(&v.first, trial);
        passed = repeats_everywhere(&v) &&
                 runs(&v, &suite->benches[0], &padded) &&
                 agrees(&v, "ld > cols");
    }
    if (passed)
        suite_report(suite, CONFORMANCE_PASSED,
                     "%s %s %s: error %.2g of %s, limit %.2g",
                     op_name(trial->op), suite_real(suite), label,
                     v.worst.error, v.worst_output, v.limit);
    results_free(&v.first);
    results_give(&v.want, trial);
    return passed;
}

/* The case again, added to what is there. */
static void verify_accumulate(struct suite *suite, struct trial *trial,
                              const char *label)
{
    const char *output;
    char text[256];
    int *flag = trial_accumulate(trial, &output);
    const struct trial_view *view = flag ? trial_view(trial, output) : NULL;
    if (view == NULL)
        return;
    *flag = 1;
    trial_random(trial, output, view->rows, view->cols, span_of(-1.0, 1.0));
    snprintf(text, sizeof text, "%s accumulate", label);
    verify(suite, trial, text);
    *flag = 0;
    trial_output(trial, output, view->rows, view->cols);
}

static bool is_loss(enum m2_op op)
{
    return op == M2_OP_mse || op == M2_OP_mae || op == M2_OP_huber ||
           op == M2_OP_xent;
}

static void verify_gradients(struct suite *suite, struct trial *forward,
                             struct trial *backward, const char *label)
{
    struct gradient_error found;
    struct m2_error err = {0};
    const char *op = op_name(backward ? backward->op : forward->op);
    int code =
        gradient_measure(&suite->benches[0], forward, backward, &found, &err);
    if (code)
        suite_report(suite, suite_outcome(code), "%s f64 %s: %s", op, label,
                     err.text);
    else if (found.tensor && !(found.worst.error <= gradient_limit))
        suite_report(suite, CONFORMANCE_FAILED,
                     "%s f64 %s: %s[%lld] is %.17g, finite differences give "
                     "%.17g: error %.3g, limit %.3g (seed %llu)",
                     op, label, found.tensor, (long long)found.worst.index,
                     found.worst.got, found.worst.want, found.worst.error,
                     gradient_limit, (unsigned long long)forward->seed);
    else if (found.tensor)
        suite_report(suite, CONFORMANCE_PASSED,
                     "%s f64 %s: finite differences: error %.2g, limit %.2g",
                     op, label, found.worst.error, gradient_limit);
}

/* Finite differences call the op some hundred times: small shapes only. */
static bool suits_differences(const struct suite *suite,
                              const struct case_row *row,
                              const struct trial *trial)
{
    int64_t elements = 0;
    for (size_t i = 0; i < trial->n; i++)
        elements += trial->views[i].rows * trial->views[i].cols;
    return suite->real == M2_F64 && !row->rough && elements <= 6000;
}

static void run_row(struct suite *suite, const struct case_family *family,
                    const struct case_row *row)
{
    struct trial forward, backward = {0};
    char label[200];
    case_label(family, row, label, sizeof label);
    case_build(family, row, &forward);
    bool passed = verify(suite, &forward, label);
    bool differences = suits_differences(suite, row, &forward);
    if (passed && pair_backward(family->op) >= 0 && !row->forward_only) {
        case_build_backward(row, &forward, &backward);
        passed = verify(suite, &backward, label);
        if (passed && differences)
            verify_gradients(suite, &forward, &backward, label);
        if (passed)
            verify_accumulate(suite, &backward, label);
        trial_free(&backward);
    } else if (passed) {
        if (differences && is_loss(family->op))
            verify_gradients(suite, &forward, NULL, label);
        verify_accumulate(suite, &forward, label);
    }
    trial_free(&forward);
}

static bool wants_family(const struct suite *suite, enum m2_op op)
{
    int backward = pair_backward(op);
    return suite_wants(suite, op_name(op)) ||
           (backward >= 0 && suite_wants(suite, op_name((enum m2_op)backward)));
}

void suite_grid(struct suite *suite)
{
    const struct case_list lists[] = {cases_data(), cases_layers(),
                                      cases_scan(), cases_training()};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t j = 0; j < lists[i].n; j++) {
            const struct case_family *family = &lists[i].families[j];
            if (!wants_family(suite, family->op))
                continue;
            for (size_t k = 0; k < family->n_rows; k++)
                run_row(suite, family, &family->rows[k]);
        }
}
