/* The passes of a proof, and their comparison with the first. */
#include "prove/proof.h"

#include <stdlib.h>
#include <string.h>

#include "prove/agreement.h"
#include "results/listing.h"
#include "util/path.h"

/* How often the kills are drawn anew when none has found work left. */
#define MAX_KILL_TRIES 4

static const char *const pass_names[PROOF_N_PASSES] = {"straight", "killed",
                                                       "together", "threads"};

struct proving {
    const struct proof_request *request;
    struct proof *out;
    struct pass_result first; /* of the straight pass */
};

void proof_free(struct proof *proof)
{
    text_free(&proof->differences);
    *proof = (struct proof){0};
}

/* ---- passes -------------------------------------------------------------- */

static struct proof_pass pass_of(const struct proof_request *request,
                                 enum proof_pass_kind kind)
{
    int n =
        request->n_runs < PASS_MAX_JOBS ? (int)request->n_runs : PASS_MAX_JOBS;
    struct proof_pass pass = {
        .name = pass_names[kind], .jobs = 1, .threads = request->cores};

    if (kind == PROOF_TOGETHER) {
        pass.jobs = n;
        pass.threads = 1;
    } else if (kind == PROOF_THREADS) {
        pass.jobs = n < 2 ? n : 2;
        pass.threads = 3;
    }
    return pass;
}

static int work_in(const struct proof_request *request, const char *folder,
                   const struct proof_pass *pass, uint64_t seed,
                   struct pass_result *out, struct m2_error *err)
{
    char *root = path_join(request->scratch, folder, err);
    const struct pass_request what = {
        .record = request->record,
        .root = root,
        .name = request->name,
        .runs = request->runs,
        .n_runs = request->n_runs,
        .jobs = pass->jobs,
        .threads = pass->threads,
        .kills = strcmp(pass->name, pass_names[PROOF_KILLED]) == 0
                     ? request->kills
                     : 0,
        .seed = seed,
    };
    int code = root == NULL ? M2_E_MEMORY : pass_work(&what, out, err);

    free(root);
    return code;
}

/* The killed pass is worked until a kill has hit what could go on; the others
 * once. */
static int work_pass(const struct proof_request *request,
                     enum proof_pass_kind kind, struct proof_pass *pass,
                     struct pass_result *out, struct m2_error *err)
{
    int tries = kind == PROOF_KILLED ? MAX_KILL_TRIES : 1, code = 0;
    char folder[32];

    for (int i = 0; code == 0 && i < tries; i++) {
        pass_result_free(out);
        snprintf(folder, sizeof folder, i == 0 ? "%s" : "%s-%d", pass->name,
                 i + 1);
        code = work_in(request, folder, pass, request->seed + (uint64_t)i, out,
                       err);
        if (out->midway > 0 && out->resumed > 0)
            break;
    }
    pass->kills = out->kills;
    pass->midway = out->midway;
    pass->resumed = out->resumed;
    pass->seconds = out->seconds;
    if (code == 0 && kind == PROOF_KILLED &&
        (out->midway == 0 || out->resumed == 0))
        code = m2_fail(err, M2_E_FAILED,
                       "no worker could be killed between its first "
                       "checkpoint and its last row, so nothing is proven of "
                       "interruptions; more --steps or --kills give kills "
                       "more to hit");
    return code;
}

/* ---- the first pass ------------------------------------------------------ */

static int64_t steps_of(const char *dir)
{
    struct run_entry entry;
    int64_t steps;

    if (run_entry_load(dir, &entry, NULL) != 0)
        return 0;
    steps = json_integer_value(run_value(&entry, NULL, "step"));
    run_entry_free(&entry);
    return steps;
}

/* What the other passes are aimed by and compared with. */
static int take_first(struct proving *proving, struct m2_error *err)
{
    for (size_t i = 0; i < proving->request->n_runs; i++) {
        const struct pass_outcome *outcome = &proving->first.runs[i];
        struct pass_run *run = &proving->request->runs[i];
        int64_t steps;

        if (strcmp(outcome->state, "done") != 0)
            return m2_fail(err, M2_E_FAILED,
                           "%s ended as %s%s%s: there is nothing to compare",
                           run->label, outcome->state,
                           *outcome->reason != '\0' ? ": " : "",
                           outcome->reason);
        steps = steps_of(outcome->path);
        run->final_bytes = outcome->bytes;
        run->step_s = steps > 0 ? outcome->seconds / (double)steps : 0;
        if (steps > proving->out->steps)
            proving->out->steps = steps;
    }
    return 0;
}

/* ---- comparing ----------------------------------------------------------- */

static void count(struct proof *proof, const struct agreement *agreement,
                  bool first_time)
{
    proof->n_files += agreement->n_files;
    proof->bytes += agreement->bytes;
    if (first_time) {
        proof->n_rows += agreement->n_rows;
        proof->n_tensors += agreement->n_tensors;
    }
}

static int compare_run(struct proving *proving, size_t i,
                       const struct pass_outcome *outcome,
                       struct proof_pass *pass, struct m2_error *err)
{
    const struct pass_run *run = &proving->request->runs[i];
    const struct agreement_request what = {proving->first.runs[i].path,
                                           outcome->path, run->identity};
    struct agreement agreement;
    int code;

    if (strcmp(outcome->state, "done") != 0) {
        pass->differs = true;
        proving->out->label = run->label;
        text_addf(&proving->out->differences, "it ended as %s%s%s\n",
                  outcome->state, *outcome->reason != '\0' ? ": " : "",
                  outcome->reason);
        return 0;
    }
    code = agreement_find(&what, &agreement, err);
    if (code == 0) {
        count(proving->out, &agreement,
              pass == &proving->out->passes[PROOF_KILLED]);
        if (agreement.differs) {
            pass->differs = true;
            proving->out->label = run->label;
            proving->out->file = agreement.file;
            text_add(&proving->out->differences,
                     text_string(&agreement.differences));
        }
    }
    agreement_free(&agreement);
    return code;
}

static int compare_pass(struct proving *proving,
                        const struct pass_result *result,
                        struct proof_pass *pass, struct m2_error *err)
{
    int code = 0;

    for (size_t i = 0; code == 0 && !pass->differs && i < result->n_runs; i++)
        code = compare_run(proving, i, &result->runs[i], pass, err);
    pass->compared = code == 0;
    return code;
}

/* ---- the proof ----------------------------------------------------------- */

static int prove_pass(struct proving *proving, enum proof_pass_kind kind,
                      struct m2_error *err)
{
    const struct proof_request *request = proving->request;
    struct proof_pass *pass = &proving->out->passes[kind];
    struct pass_result result = {0};
    struct pass_result *to = kind == PROOF_STRAIGHT ? &proving->first : &result;
    int code;

    *pass = pass_of(request, kind);
    code = work_pass(request, kind, pass, to, err);
    if (code == 0)
        code = kind == PROOF_STRAIGHT
                   ? take_first(proving, err)
                   : compare_pass(proving, &result, pass, err);
    pass_result_free(&result);
    if (code != 0)
        return code;
    proving->out->n_passes++;
    if (request->tell != NULL)
        request->tell(request->context, pass);
    return 0;
}

int proof_work(const struct proof_request *request, struct proof *out,
               struct m2_error *err)
{
    struct proving proving = {.request = request, .out = out};
    int code = 0;

    *out = (struct proof){0};
    for (int kind = 0; code == 0 && out->label == NULL && kind < PROOF_N_PASSES;
         kind++)
        code = prove_pass(&proving, (enum proof_pass_kind)kind, err);
    pass_result_free(&proving.first);
    return code == 0 ? text_check(&out->differences, err) : code;
}
