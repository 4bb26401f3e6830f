/* The instruments of a run, as its run.json records them. */
#include <stdlib.h>
#include <string.h>

#include "predict/stream.h"
#include "results/listing.h"
#include "util/memory.h"

static int take(const json_t *list, const char *run,
                struct stream_instruments *out, struct m2_error *err)
{
    size_t n = json_array_size(list);

    out->items = memory_zeroed(n, sizeof *out->items, err);
    if (out->items == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        const char *stamp = json_string_value(json_object_get(entry, "stamp"));
        const json_t *step = json_object_get(entry, "step_ns");

        if (name == NULL || stamp == NULL || !json_is_integer(step))
            return m2_fail(err, M2_E_RESULTS,
                           "%s/run.json: data.instruments[%zu] is damaged", run,
                           i);
        out->items[i].name = memory_string(name, err);
        if (out->items[i].name == NULL)
            return M2_E_MEMORY;
        out->items[i].step_ns = json_integer_value(step);
        out->items[i].stamp =
            strcmp(stamp, "close") == 0 ? M2_STAMP_CLOSE : M2_STAMP_OPEN;
        out->n++;
    }
    return 0;
}

int stream_instruments_read(const char *run, struct stream_instruments *out,
                            struct m2_error *err)
{
    struct stream_instruments instruments = {0};
    struct run_entry entry;
    const json_t *list;
    int code = run_entry_load(run, &entry, err);

    if (code != 0)
        return code;
    list = run_value(&entry, "data", "instruments");
    if (json_array_size(list) == 0)
        code = m2_fail(err, M2_E_RESULTS,
                       "%s/run.json: no data.instruments, which say how far "
                       "apart rows are",
                       run);
    if (code == 0)
        code = take(list, run, &instruments, err);
    run_entry_free(&entry);
    if (code != 0) {
        stream_instruments_free(&instruments);
        return code;
    }
    *out = instruments;
    return 0;
}

void stream_instruments_free(struct stream_instruments *instruments)
{
    for (size_t i = 0; instruments->items != NULL && i < instruments->n; i++)
        free(instruments->items[i].name);
    free(instruments->items);
    *instruments = (struct stream_instruments){0};
}
