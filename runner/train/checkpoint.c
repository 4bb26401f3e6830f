/* Writing and reading checkpoints. */
#include "train/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/sha256.h"

#define SHA_KEY "m2run.sha256"
#define FORMAT  "1"

/* Parameters, first and second moments: in this order in the file. */
enum { N_ARENAS = 3 };
static const char *const arena_prefix[N_ARENAS] = {"", "adam_m.", "adam_v."};

struct checkpoint_writer {
    struct m2_device *device;
    struct model *model;
    struct m2_view arenas[N_ARENAS];
    unsigned char *host[N_ARENAS]; /* (n) of the real type */
    size_t arena_bytes;
};

int checkpoint_writer_create(struct m2_device *device, struct model *model,
                             struct optimiser *optimiser,
                             struct checkpoint_writer **out,
                             struct m2_error *err)
{
    struct checkpoint_writer *writer = memory_zeroed(1, sizeof *writer, err);

    if (writer == NULL)
        return M2_E_MEMORY;
    writer->device = device;
    writer->model = model;
    writer->arenas[0] = model_values(model);
    writer->arenas[1] = optimiser_first_moment(optimiser);
    writer->arenas[2] = optimiser_second_moment(optimiser);
    writer->arena_bytes = (size_t)model_arena_size(model, NULL) *
                          m2_dtype_size(device_real(device));
    for (int i = 0; i < N_ARENAS; i++) {
        writer->host[i] = memory_zeroed(writer->arena_bytes, 1, err);
        if (writer->host[i] == NULL) {
            checkpoint_writer_free(writer);
            return M2_E_MEMORY;
        }
    }
    *out = writer;
    return 0;
}

void checkpoint_writer_free(struct checkpoint_writer *writer)
{
    if (writer == NULL)
        return;
    for (int i = 0; i < N_ARENAS; i++)
        free(writer->host[i]);
    free(writer);
}

static int download_arenas(struct checkpoint_writer *writer,
                           struct m2_error *err)
{
    size_t real = m2_dtype_size(device_real(writer->device));
    int code = 0;

    for (int i = 0; code == 0 && i < N_ARENAS; i++)
        code = buffer_download(writer->device, writer->arenas[i].buffer,
                               (size_t)writer->arenas[i].offset * real,
                               writer->host[i], writer->arena_bytes, err);
    return code;
}

static int add_arenas(struct checkpoint_writer *writer, struct st_writer *st,
                      struct m2_error *err)
{
    int code = 0;

    for (int arena = 0; code == 0 && arena < N_ARENAS; arena++)
        code = model_save_tensors(writer->model, arena_prefix[arena],
                                  writer->host[arena], st, err);
    return code;
}

static int add_integer(struct st_writer *st, const char *key, int64_t value,
                       struct m2_error *err)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    return st_add_metadata(st, key, text, err);
}

static int add_double(struct st_writer *st, const char *key, double value,
                      struct m2_error *err)
{
    char text[NUMBER_TEXT_SIZE];

    return st_add_metadata(st, key, number_print_double(value, text), err);
}

static int add_state(struct st_writer *st, const struct train_state *state,
                     struct m2_error *err)
{
    char trace[TRACE_TEXT];
    int code;

    trace_print(state->trace, trace);
    code = st_add_metadata(st, "m2run.trace", trace, err);
    if (code == 0)
        code = add_integer(st, "m2run.step", state->step, err);
    if (code == 0)
        code = add_integer(st, "m2run.epoch", state->epoch, err);
    if (code == 0)
        code = add_integer(st, "m2run.cursor", state->cursor, err);
    if (code == 0)
        code = add_double(st, "m2run.row_loss", state->row_loss, err);
    if (code == 0)
        code = add_double(st, "m2run.row_norm", state->row_norm, err);
    if (code == 0)
        code = add_integer(st, "m2run.row_steps", state->row_steps, err);
    if (code == 0)
        code = add_double(st, "m2run.best_value", state->best_value, err);
    if (code == 0)
        code = add_integer(st, "m2run.best_step", state->best_step, err);
    if (code == 0)
        code = add_integer(st, "m2run.bad_evaluations", state->bad_evaluations,
                           err);
    if (code == 0)
        code =
            add_integer(st, "m2run.metrics_bytes", state->metrics_bytes, err);
    return code;
}

static int add_identity(struct st_writer *st,
                        const struct checkpoint_identity *identity,
                        struct m2_error *err)
{
    int code = st_add_metadata(st, "format", "pt", err);

    if (code == 0)
        code = st_add_metadata(st, "m2run.format", FORMAT, err);
    if (code == 0)
        code = st_add_metadata(st, "m2run.identity", identity->identity, err);
    if (code == 0)
        code = st_add_metadata(st, "m2run.backend", identity->backend, err);
    if (code == 0)
        code = st_add_metadata(st, "m2run.numerics", identity->numerics, err);
    if (code == 0)
        code = st_add_metadata(st, "m2run.scaling", identity->scaling, err);
    return code;
}

int checkpoint_write(struct checkpoint_writer *writer,
                     const struct file_at *file,
                     const struct checkpoint_identity *identity,
                     const struct train_state *state, struct m2_error *err)
{
    struct st_writer *st = st_writer_new();
    int saved, code = st == NULL ? m2_fail(err, M2_E_MEMORY,
                                           "%s: out of memory", file->name)
                                 : download_arenas(writer, err);

    if (code == 0)
        code = add_identity(st, identity, err);
    if (code == 0)
        code = add_state(st, state, err);
    if (code == 0)
        code = add_arenas(writer, st, err);
    if (code == 0)
        code = st_seal(st, SHA_KEY, err);
    if (code == 0)
        code = st_write_at(st, file, err);
    saved = errno;
    st_writer_free(st);
    errno = saved;
    return code;
}

/* ---- reading ------------------------------------------------------------ */

const char *checkpoint_scaling(const struct st_file *file)
{
    return st_metadata(file, "m2run.scaling");
}

static int damaged(const struct st_file *file, const char *key,
                   struct m2_error *err)
{
    return m2_fail(err, M2_E_RESULTS,
                   "%s: not a checkpoint of m2run: metadata %s is missing or "
                   "unreadable",
                   file->path, key);
}

/* Counts of what was done: none is negative. */
static int get_integer(const struct st_file *file, const char *key,
                       int64_t *out, struct m2_error *err)
{
    const char *text = st_metadata(file, key);

    if (text == NULL || !number_parse_int(text, out) || *out < 0)
        return damaged(file, key, err);
    return 0;
}

/* What number_print_double writes: a best value is nan before the first
 * evaluation, and may overflow later. */
static bool parse_value(const char *text, double *out)
{
    bool negative = *text == '-';
    bool special = true;

    if (strcmp(text + negative, "nan") == 0)
        *out = NAN;
    else if (strcmp(text + negative, "inf") == 0)
        *out = negative ? -INFINITY : INFINITY;
    else
        special = false;
    return special || number_parse_double(text, out);
}

static int get_double(const struct st_file *file, const char *key, double *out,
                      struct m2_error *err)
{
    const char *text = st_metadata(file, key);

    if (text == NULL || !parse_value(text, out))
        return damaged(file, key, err);
    return 0;
}

static int get_state(const struct st_file *file, struct train_state *state,
                     struct m2_error *err)
{
    const char *trace = st_metadata(file, "m2run.trace");
    int code = 0;

    if (trace == NULL || trace_parse(trace, state->trace) != 0)
        code = damaged(file, "m2run.trace", err);
    if (code == 0)
        code = get_integer(file, "m2run.step", &state->step, err);
    if (code == 0)
        code = get_integer(file, "m2run.epoch", &state->epoch, err);
    if (code == 0)
        code = get_integer(file, "m2run.cursor", &state->cursor, err);
    if (code == 0)
        code = get_double(file, "m2run.row_loss", &state->row_loss, err);
    if (code == 0)
        code = get_double(file, "m2run.row_norm", &state->row_norm, err);
    if (code == 0)
        code = get_integer(file, "m2run.row_steps", &state->row_steps, err);
    if (code == 0)
        code = get_double(file, "m2run.best_value", &state->best_value, err);
    if (code == 0)
        code = get_integer(file, "m2run.best_step", &state->best_step, err);
    if (code == 0)
        code = get_integer(file, "m2run.bad_evaluations",
                           &state->bad_evaluations, err);
    if (code == 0)
        code = get_integer(file, "m2run.metrics_bytes", &state->metrics_bytes,
                           err);
    return code;
}

static int check_identity(const struct st_file *file, const char *identity,
                          struct m2_error *err)
{
    const char *found = st_metadata(file, "m2run.identity");
    const char *format = st_metadata(file, "m2run.format");

    if (found == NULL)
        return damaged(file, "m2run.identity", err);
    if (format == NULL || strcmp(format, FORMAT) != 0)
        return m2_fail(err, M2_E_RESULTS,
                       "%s: format %s of a checkpoint is not known, expected "
                       "%s: was it written by a newer m2run?",
                       file->path, format != NULL ? format : "(none)", FORMAT);
    if (identity != NULL && strcmp(found, identity) != 0)
        return m2_fail(err, M2_E_RESULTS,
                       "%s: belongs to another run: identity %s, expected %s",
                       file->path, found, identity);
    return 0;
}

int checkpoint_read(const char *path, const char *identity,
                    struct st_file *file, struct train_state *state,
                    struct m2_error *err)
{
    int code = st_read(path, file, err);

    if (code != 0) /* here it is not the user's data that is bad */
        return code == M2_E_DATA ? M2_E_RESULTS : code;
    code = st_verify_seal(file, SHA_KEY, err);
    if (code == 0)
        code = check_identity(file, identity, err);
    if (code == 0)
        code = get_state(file, state, err);
    if (code != 0)
        st_free(file);
    return code;
}

int checkpoint_restore(const struct st_file *file, struct model *model,
                       struct optimiser *optimiser, struct m2_error *err)
{
    struct m2_view arenas[N_ARENAS] = {model_values(model)};
    int n = 1, code = 0;

    if (optimiser != NULL) {
        arenas[n++] = optimiser_first_moment(optimiser);
        arenas[n++] = optimiser_second_moment(optimiser);
    }
    for (int i = 0; code == 0 && i < n; i++) {
        struct tensor_source from = {
            .file = file, .prefix = arena_prefix[i], .code = M2_E_RESULTS};

        code = model_load_tensors(model, &from, &arenas[i], err);
    }
    return code;
}
