/* What a proof tells. */
#include "cli/prove.h"

#include <inttypes.h>
#include <string.h>

#include "cli/json_output.h"
#include "util/log.h"
#include "util/number.h"
#include "util/timefmt.h"

void prove_tell_pass(void *context, const struct proof_pass *pass)
{
    const struct prove_report *report = context;
    char seconds[NUMBER_TEXT_SIZE];
    struct text text = {0};

    text_addf(&text, "%-9s %zu run%s, %d at a time on %d thread%s each, %s",
              pass->name, report->n_runs, report->n_runs == 1 ? "" : "s",
              pass->jobs, pass->threads, pass->threads == 1 ? "" : "s",
              number_print_duration(pass->seconds, seconds));
    if (pass->kills > 0)
        text_addf(&text,
                  "; %zu kill%s with work left, %zu of them midway; %zu "
                  "worker%s went on from a checkpoint",
                  pass->kills, pass->kills == 1 ? "" : "s", pass->midway,
                  pass->resumed, pass->resumed == 1 ? "" : "s");
    if (pass->compared)
        text_add(&text, pass->differs ? ": different" : ": the same bytes");
    if (report->json)
        log_info("%s", text_string(&text));
    else
        printf("%s\n", text_string(&text));
    fflush(stdout);
    text_free(&text);
}

static void print_proof(const struct prove_report *report,
                        const struct proof *proof)
{
    const struct proof_pass *last = &proof->passes[proof->n_passes - 1];
    char seconds[NUMBER_TEXT_SIZE], bytes[NUMBER_TEXT_SIZE];

    if (proof->label != NULL) {
        printf("different: %s of %s, %s against straight\n%s",
               proof->file != NULL ? proof->file : "the end", proof->label,
               last->name, text_string(&proof->differences));
        return;
    }
    printf("all bytes agree: metrics.csv, checkpoints and scores of %zu "
           "run%s of %" PRId64 " steps, %zu times; %zu "
           "files, %s, %zu kills, %s\n",
           report->n_runs, report->n_runs == 1 ? "" : "s", proof->steps,
           proof->n_passes, proof->n_files,
           number_print_bytes((uint64_t)proof->bytes, bytes),
           proof->passes[PROOF_KILLED].kills,
           number_print_duration(time_monotonic() - report->began_s, seconds));
}

static json_t *pass_json(const struct proof_pass *pass)
{
    struct json_builder object = json_build();

    json_add_text(&object, "pass", pass->name);
    json_add_integer(&object, "jobs", pass->jobs);
    json_add_integer(&object, "threads", pass->threads);
    json_add_integer(&object, "kills", (int64_t)pass->kills);
    json_add_integer(&object, "midway", (int64_t)pass->midway);
    json_add_integer(&object, "resumed", (int64_t)pass->resumed);
    json_add(&object, "seconds", json_number_or_null(pass->seconds));
    json_add(&object, "agrees",
             pass->compared ? json_boolean(!pass->differs) : json_null());
    return json_built(&object);
}

static json_t *passes_json(const struct proof *proof)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < proof->n_passes; i++)
        ok = json_append(list, pass_json(&proof->passes[i]));
    return ok ? list : json_drop(list);
}

static json_t *runs_json(const struct prove_report *report)
{
    json_t *list = json_array();
    bool ok = list != NULL;

    for (size_t i = 0; ok && i < report->n_runs; i++)
        ok = json_append(list, json_any_text(report->runs[i].label));
    return ok ? list : json_drop(list);
}

static json_t *difference_json(const struct proof *proof)
{
    struct json_builder object = json_build();

    json_add_text(&object, "pass", proof->passes[proof->n_passes - 1].name);
    json_add_text(&object, "run", proof->label);
    json_add_text(&object, "file", proof->file);
    json_add_text(&object, "what", text_string(&proof->differences));
    return json_built(&object);
}

static int print_proof_json(const struct prove_report *report,
                            const struct proof *proof, struct m2_error *err)
{
    struct json_builder object = json_build();

    json_add_text(&object, "name", report->name);
    json_add(&object, "agrees", json_boolean(proof->label == NULL));
    json_add(&object, "runs", runs_json(report));
    json_add_integer(&object, "of_runs", (int64_t)report->of_runs);
    json_add_integer(&object, "steps", proof->steps);
    json_add_integer(&object, "seed", report->seed);
    json_add(&object, "passes", passes_json(proof));
    json_add_integer(&object, "files", (int64_t)proof->n_files);
    json_add_integer(&object, "bytes", proof->bytes);
    json_add_integer(&object, "rows", (int64_t)proof->n_rows);
    json_add_integer(&object, "tensors", (int64_t)proof->n_tensors);
    json_add(&object, "seconds",
             json_number_or_null(time_monotonic() - report->began_s));
    json_add(&object, "difference",
             proof->label != NULL ? difference_json(proof) : json_null());
    if (report->folder != NULL)
        json_add_text(&object, "folder", report->folder);
    return print_json(json_built(&object), err);
}

int prove_print(const struct prove_report *report, const struct proof *proof,
                struct m2_error *err)
{
    if (report->json)
        return print_proof_json(report, proof, err);
    print_proof(report, proof);
    return 0;
}
