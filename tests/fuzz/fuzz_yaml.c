/* libFuzzer: any bytes as an experiment file with overrides and a sweep.
 *
 * First lines "# override: X" are overrides, as in tests/cli/broken, whose
 * files are seeds, too.  What is accepted must have a canonical text that is
 * accepted again and written the same. */
#include <stdlib.h>
#include <string.h>

#include "../unit/option_tables.h"
#include "config/identity.h"
#include "sweep/sweep.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_OVERRIDES = 8 };

struct loaded {
    struct experiment experiment;
    struct sweep sweep;
    struct messages messages;
};

static int load(struct loaded *l, const struct experiment_request *request)
{
    struct m2_error err;
    struct text said = {0};
    int code;

    l->messages = (struct messages){0};
    code = sweep_load(request, &l->experiment, &l->sweep, &l->messages, &err);
    messages_print(&l->messages, &said);
    if ((code == 0) != (l->messages.n_errors == 0))
        abort();
    text_free(&said);
    return code;
}

static void unload(struct loaded *l)
{
    sweep_free(&l->sweep);
    experiment_free(&l->experiment);
    messages_free(&l->messages);
}

static void check_canonical(const struct loaded *first,
                            const struct config *config)
{
    const struct schema *schema = &first->experiment.schema;
    struct text text = {0}, again = {0};
    struct loaded second;

    config_write(schema, config, &text);
    if (load(&second, &(struct experiment_request){
                          .path = "canonical",
                          .text = text_string(&text),
                          .size = text.length,
                          .lookup = &test_lookup,
                      }) != 0)
        abort();
    config_write(&second.experiment.schema, &second.sweep.runs[0].config,
                 &again);
    if (strcmp(text_string(&text), text_string(&again)) != 0)
        abort();
    unload(&second);
    text_free(&text);
    text_free(&again);
}

/* Cuts the overrides off; the text is what follows them. */
static size_t read_overrides(char *text, const char **overrides)
{
    static const char mark[] = "# override: ";
    size_t n = 0;

    while (strncmp(text, mark, strlen(mark)) == 0 && n < MAX_OVERRIDES) {
        char *end = strchr(text, '\n');

        if (end == NULL)
            break;
        *end = '\0';
        overrides[n++] = text + strlen(mark);
        text = end + 1;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *overrides[MAX_OVERRIDES];
    struct experiment_request request = {
        .path = "fuzz.yaml", .overrides = overrides, .lookup = &test_lookup};
    char *text = malloc(size + 1), *lines = malloc(size + 1);
    struct loaded l;

    memcpy(text, bytes, size);
    text[size] = '\0';
    memcpy(lines, text, size + 1);
    request.n_overrides = read_overrides(lines, overrides);
    request.text = text;
    request.size = size;
    if (load(&l, &request) == 0) {
        check_canonical(&l, &l.sweep.runs[0].config);
        check_canonical(&l, &l.sweep.runs[l.sweep.n_runs - 1].config);
    }
    unload(&l);
    free(text);
    free(lines);
    return 0;
}
