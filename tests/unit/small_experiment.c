/* An experiment for tests: 300 bars, a model of one layer, ref in f64. */
#include "tests/unit/small_experiment.h"

#include "tests/unit/unit.h"
#include "util/text.h"

static const char experiment_text[] =
    "name: small\n"
    "device: ref\n"
    "dtype: f64\n"
    "data:\n"
    "  source: synthetic\n"
    "  options: {kind: bars, rows: 300, ic: 0.3}\n"
    "  features: [log_return(close)]\n"
    "  target: [log_return(close)]\n"
    "  window: 8\n"
    "  split: {train: 0.6, val: 0.2, test: 0.2}\n"
    "model: {d_model: 4, n_layer: 1, d_state: 4, headdim: 4, chunk: 8}\n"
    "train: {epochs: 2, batch_size: 16}\n";

void small_experiment(struct experiment *out, const char *overrides)
{
    struct experiment_request request = {
        .path = "small.yaml",
        .text = experiment_text,
        .size = sizeof experiment_text - 1,
        .lookup = &source_lookup_plugins,
    };
    struct string_list words = {0};
    struct messages messages = {0};
    struct m2_error err;
    char copy[1000], *rest = copy, *word;
    int code;

    snprintf(copy, sizeof copy, "%s", overrides);
    while ((word = strsep(&rest, " ")) != NULL)
        if (*word != '\0')
            assert_ok(string_list_add(&words, word, &err), &err);
    request.overrides = (const char *const *)words.items;
    request.n_overrides = words.count;
    code = experiment_load(&request, out, &messages, &err);
    if (code != 0)
        fail_msg("%s", messages.count > 0 ? messages.items[0].text : err.text);
    messages_free(&messages);
    string_list_free(&words);
}
