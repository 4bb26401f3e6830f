/* Which bars of the files are read: one length, or an error that says what the
 * files hold. */
#include "dbn/dbn.h"

#include <inttypes.h>
#include <string.h>

static int fail_schema(const struct dbn_file *file, struct m2_error *err)
{
    const char *name = metadata_schema_name(file->metadata.schema);
    char number[32];

    if (name == NULL) {
        snprintf(number, sizeof number, "schema %u", file->metadata.schema);
        name = number;
    }
    return m2_fail(err, M2_E_DATA,
                   "%s: holds %s, need bars: ohlcv-1s, ohlcv-1m, ohlcv-1h, "
                   "ohlcv-1d or ohlcv-eod",
                   file->source.path, name);
}

/* The interval that the metadata of all files names; *out is NULL when none
 * names any. */
static int from_metadata(const struct dbn_source *source,
                         const struct interval **out, struct m2_error *err)
{
    const struct dbn_file *first = NULL;

    *out = NULL;
    for (size_t i = 0; i < source->n_files; i++) {
        const struct dbn_file *file = &source->files[i];
        if (file->metadata.schema == SCHEMA_NONE)
            continue;
        const struct interval *interval =
            interval_of_schema(file->metadata.schema);
        if (interval == NULL)
            return fail_schema(file, err);
        if (*out != NULL && interval != *out && source->settings.schema == NULL)
            return m2_fail(err, M2_E_DATA,
                           "%s holds %s, but %s holds %s: choose one with "
                           "`schema`",
                           first->source.path, (*out)->name, file->source.path,
                           interval->name);
        if (*out == NULL)
            first = file;
        *out = *out == NULL ? interval : *out;
    }
    return M2_OK;
}

/* "60 ohlcv-1m, 3 ohlcv-1s, 1 system" */
static void list_types(const uint64_t records[N_RTYPES], char *out, size_t size)
{
    size_t used = 0;
    char name[RTYPE_TEXT];

    out[0] = '\0';
    for (unsigned i = 0; i < N_RTYPES && used < size; i++)
        if (records[i] > 0)
            used += (size_t)snprintf(out + used, size - used,
                                     "%s%" PRIu64 " %s", used > 0 ? ", " : "",
                                     records[i], rtype_text((uint8_t)i, name));
}

static int fail_no_bars(const struct dbn_source *source,
                        const uint64_t records[N_RTYPES], struct m2_error *err)
{
    char types[512];
    const char *path = source->files[0].source.path;

    list_types(records, types, sizeof types);
    if (types[0] == '\0')
        return m2_fail(err, M2_E_DATA,
                       "%s%s: no bars: the files end after the metadata", path,
                       source->n_files > 1 ? " and others" : "");
    return m2_fail(err, M2_E_DATA,
                   "%s%s: no bars: holds %s, need ohlcv-1s, ohlcv-1m, "
                   "ohlcv-1h, ohlcv-1d or ohlcv-eod",
                   path, source->n_files > 1 ? " and others" : "", types);
}

/* Bars of the old type, in files that do not say their length: the longest
 * interval that is no longer than any step. */
static const struct interval *from_step(int64_t smallest_step)
{
    const struct interval *best = &intervals[0];

    for (size_t i = 0; i < N_INTERVALS; i++)
        if (intervals[i].step_ns <= smallest_step &&
            intervals[i].step_ns > best->step_ns)
            best = &intervals[i];
    return best;
}

/* The only kind of bar that the files hold. */
static int from_records(struct dbn_source *source, const struct interval **out,
                        struct m2_error *err)
{
    uint64_t records[N_RTYPES] = {0};
    int64_t smallest_step;
    char types[512];
    int n = 0;
    int status = scan_types(source, records, &smallest_step, err);

    if (status != M2_OK)
        return status;
    for (unsigned i = 0; i < N_RTYPES; i++) {
        const struct interval *interval = interval_of_rtype((uint8_t)i);
        if (i == RTYPE_OHLCV_OLD)
            interval = from_step(smallest_step);
        if (records[i] == 0 || interval == NULL)
            continue;
        *out = interval;
        n++;
    }
    if (n == 0)
        return fail_no_bars(source, records, err);
    if (n == 1)
        return M2_OK;
    list_types(records, types, sizeof types);
    return m2_fail(err, M2_E_DATA,
                   "%s%s: bars of several lengths, and metadata that names "
                   "none (records: %s): choose one with `schema`",
                   source->files[0].source.path,
                   source->n_files > 1 ? " and others" : "", types);
}

int interval_choose(struct dbn_source *source, struct m2_error *err)
{
    const char *schema = source->settings.schema;
    const struct interval *interval = NULL;
    int status = from_metadata(source, &interval, err);

    if (status != M2_OK)
        return status;
    if (schema != NULL) {
        size_t i = 0;
        while (strcmp(intervals[i].name, schema) != 0)
            i++;
        interval = &intervals[i];
    } else if (interval == NULL) {
        status = from_records(source, &interval, err);
    }
    source->interval = interval;
    return status;
}
