/* A first look at the files: metadata, names, order. */
#include "dbn/dbn.h"

#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"

struct names {
    struct symbols *symbols;
    uint64_t n; /* intervals that name an id */
};

static int intern_mapping(void *context, const struct mapping *mapping,
                          struct m2_error *err)
{
    struct names *names = context;
    uint32_t index;

    names->n++;
    return symbols_intern(names->symbols, mapping->symbol, &index, err);
}

/* The time of the first record: what comes before it in the stream does not
 * say when it starts (a live stream, a fragment). */
static int first_time(struct stream *stream, size_t first_record,
                      uint64_t *time, struct m2_error *err)
{
    stream_skip(stream, first_record);
    int status = stream_fill(stream, 16, err);
    *time = 0;
    if (status == M2_OK && stream_available(stream) >= 16)
        *time = bytes_u64(stream->bytes + stream->begin + 8);
    return status;
}

static int look_at(struct dbn_source *source, struct dbn_file *file,
                   struct m2_error *err)
{
    struct stream stream;
    struct names names = {.symbols = &source->symbols};
    uint64_t left_out = 0, start = 0;
    int status = stream_open(&stream, &file->source,
                             source->settings.allow_truncated, err);

    file->zstd = stream.zstd;
    if (status == M2_OK)
        status = metadata_read(&stream, source->settings.fragment,
                               &file->metadata, err);
    if (status == M2_OK)
        status = metadata_mappings(&file->metadata, intern_mapping, &names,
                                   &left_out, err);
    start = file->metadata.start;
    if (status == M2_OK && (start == 0 || start > INT64_MAX))
        status = first_time(&stream, file->metadata.size, &start, err);
    file->metadata.mappings = NULL; /* they lay in the stream */
    file->start = start > INT64_MAX ? INT64_MAX : (int64_t)start;
    source->all_mapped = source->all_mapped && names.n > 0;
    stream_close(&stream);
    return status;
}

/* By start, then by name: files of one start come as they were given. */
static int compare_files(const void *a, const void *b)
{
    const struct dbn_file *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return strcmp(x->source.path, y->source.path);
}

int survey_files(struct dbn_source *source, struct m2_error *err)
{
    int status = M2_OK;

    source->all_mapped = true;
    for (size_t i = 0; i < source->n_files && status == M2_OK; i++)
        status = look_at(source, &source->files[i], err);
    source->n_mapped = source->symbols.n;
    if (status == M2_OK)
        qsort(source->files, source->n_files, sizeof *source->files,
              compare_files);
    return status;
}
