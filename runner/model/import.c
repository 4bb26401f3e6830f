/* Tensors in and out under the state-spaces names.
 *
 * Loading looks at everything first: whoever brings a file of another model
 * is told all that does not fit, and which sizes the file has, at once. */
#include "model/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/graph.h"
#include "util/memory.h"

/* Elements converted at a time; problems told before the rest is counted. */
enum { BLOCK = 1 << 16, MAX_TOLD = 8 };

struct import {
    const struct model *model;
    const struct tensor_source *from;
    const struct st_tensor **of_parameter; /* in the order of the parameters */
    bool *used;                            /* of the file's tensors */
    struct text problems;
    size_t n_problems;
    bool explain; /* sizes differ: say which */
};

static const struct st_tensor *find(struct import *import, const char *name)
{
    const struct st_file *file = import->from->file;

    for (size_t i = 0; i < file->n_tensors; i++) {
        if (!import->used[i] && import_is_named(file->tensors[i].name,
                                                import->from->prefix, name)) {
            import->used[i] = true;
            return &file->tensors[i];
        }
    }
    return NULL;
}

/* Begins a line about tensor `name`; false when enough has been told. */
static bool tell(struct import *import, const char *name)
{
    if (import->n_problems++ >= MAX_TOLD)
        return false;
    text_addf(&import->problems, "\n  %s%s: ", import->from->prefix, name);
    return true;
}

static bool is_real(enum st_dtype dtype)
{
    return dtype == ST_F64 || dtype == ST_F32 || dtype == ST_F16 ||
           dtype == ST_BF16;
}

static bool same_shape(const struct st_tensor *tensor,
                       const struct parameter *item)
{
    return tensor->n_dims == item->n_dims &&
           memcmp(tensor->shape, item->shape,
                  (size_t)item->n_dims * sizeof *item->shape) == 0;
}

/* Do the first layer's inner width and heads fit? */
static bool mixer_fits(const struct import *import)
{
    const struct model_sizes *s = &import->model->sizes;
    const struct st_file *file = import->from->file;
    const char *prefix = import->from->prefix;

    return import_extent(file, prefix, "backbone.layers.0.mixer.norm.weight",
                         0) == s->I &&
           import_extent(file, prefix, "backbone.layers.0.mixer.A_log", 0) ==
               s->H;
}

/* What a shape of another variant of the architecture means. */
static const char *variant(const struct import *import,
                           const struct st_tensor *tensor,
                           const struct parameter *item)
{
    const struct model_sizes *s = &import->model->sizes;
    const char *dot = strrchr(item->name, '.');

    if (strcmp(dot, ".D") == 0 && tensor->n_dims == 1 &&
        tensor->shape[0] == s->I)
        return "; one value per channel (D_has_hdim) is not supported";
    if (strstr(item->name, "in_proj.weight") != NULL && tensor->n_dims == 2 &&
        tensor->shape[1] == s->D && tensor->shape[0] > s->J &&
        mixer_fits(import))
        return "; a gated MLP inside the mixer (d_ssm < d_inner) is not "
               "supported";
    return "";
}

static void check_tensor(struct import *import, const struct st_tensor *tensor,
                         const struct parameter *item)
{
    if (!is_real(tensor->dtype)) {
        if (tell(import, item->name))
            text_addf(&import->problems, "type %s, expected a real type",
                      st_dtype_name(tensor->dtype));
        return;
    }
    if (same_shape(tensor, item))
        return;
    import->explain = true;
    if (!tell(import, item->name))
        return;
    text_add(&import->problems, "shape ");
    import_add_shape(&import->problems, tensor->shape, tensor->n_dims);
    text_add(&import->problems, ", the model needs ");
    import_add_shape(&import->problems, item->shape, item->n_dims);
    text_add(&import->problems, variant(import, tensor, item));
}

static void check_missing(struct import *import, const struct parameter *item)
{
    import->explain = true;
    if (!tell(import, item->name))
        return;
    text_add(&import->problems, "missing, the model needs ");
    import_add_shape(&import->problems, item->shape, item->n_dims);
    if (strcmp(item->name, "lm_head.weight") == 0)
        text_add(&import->problems,
                 "; for a file with tied weights set tie_embedding: true");
}

static bool same_values(const struct st_tensor *a, const struct st_tensor *b)
{
    if (a->n != b->n)
        return false;
    for (int64_t i = 0; i < a->n; i++) {
        double x = st_get(a, i), y = st_get(b, i);

        if (x != y && !(isnan(x) && isnan(y)))
            return false;
    }
    return true;
}

/* A tied model has no lm_head; a file may hold it once more. */
static void check_tied_head(struct import *import)
{
    const int *of_model = import->model->parameters.of_model;
    const struct st_tensor *embedding, *head;

    if (!import->model->sizes.lm || of_model[MODEL_HEAD] >= 0)
        return;
    embedding = import->of_parameter[of_model[MODEL_INPUT]];
    head = find(import, "lm_head.weight");
    if (embedding == NULL || head == NULL || same_values(embedding, head))
        return;
    if (tell(import, "lm_head.weight"))
        text_add(&import->problems,
                 "differs from the embedding; for a file with untied weights "
                 "set tie_embedding: false");
}

static bool is_moment(const struct st_file *file, const char *name)
{
    return st_metadata(file, "m2run.format") != NULL &&
           (strncmp(name, "adam_m.", 7) == 0 ||
            strncmp(name, "adam_v.", 7) == 0);
}

static void check_unexpected(struct import *import)
{
    const struct st_file *file = import->from->file;

    for (size_t i = 0; i < file->n_tensors; i++) {
        const struct st_tensor *tensor = &file->tensors[i];

        if (import->used[i] || is_moment(file, tensor->name))
            continue;
        import->explain = true;
        if (tell(import, tensor->name)) {
            text_add(&import->problems, "unexpected, shape ");
            import_add_shape(&import->problems, tensor->shape, tensor->n_dims);
        }
    }
}

/* All problems in one message. */
static int report(struct import *import, struct m2_error *err)
{
    const struct tensor_source *from = import->from;

    if (import->n_problems == 0)
        return 0;
    if (import->n_problems > MAX_TOLD)
        text_addf(&import->problems, "\n  and %zu more",
                  import->n_problems - MAX_TOLD);
    if (import->explain)
        import_explain(&import->problems, from->file, from->prefix,
                       &import->model->sizes);
    if (text_check(&import->problems, err) != 0)
        return M2_E_MEMORY;
    return m2_fail(err, from->code, "%s: its tensors do not fit the model:%s",
                   from->file->path, text_string(&import->problems));
}

static int check(struct import *import, struct m2_error *err)
{
    const struct parameter_set *set = &import->model->parameters;

    for (size_t i = 0; i < set->count; i++) {
        import->of_parameter[i] = find(import, set->items[i].name);
        if (import->of_parameter[i] == NULL)
            check_missing(import, &set->items[i]);
        else
            check_tensor(import, import->of_parameter[i], &set->items[i]);
    }
    check_tied_head(import);
    if (import->from->prefix[0] == '\0')
        check_unexpected(import);
    return report(import, err);
}

static int upload(const struct model *model, const struct st_tensor *tensor,
                  struct m2_view place, struct m2_error *err)
{
    enum st_dtype own = model->real == M2_F32 ? ST_F32 : ST_F64;
    size_t size = m2_dtype_size(model->real);
    double *block;
    int result = 0;

    if (tensor->dtype == own)
        return buffer_upload(model->device, place.buffer,
                             (size_t)place.offset * size, tensor->data,
                             tensor->bytes, err);
    block = memory_zeroed(BLOCK, sizeof *block, err);
    if (block == NULL)
        return M2_E_MEMORY;
    for (int64_t first = 0; first < tensor->n && result == 0; first += BLOCK) {
        int64_t left = tensor->n - first;
        struct m2_view part =
            view_columns(place, first, left < BLOCK ? left : BLOCK);

        for (int64_t i = 0; i < part.cols; i++)
            block[i] = st_get(tensor, first + i);
        result = view_upload(model->device, &part, block, err);
    }
    free(block);
    return result;
}

int model_load_tensors(struct model *model, const struct tensor_source *from,
                       const struct m2_view *arena, struct m2_error *err)
{
    const struct parameter_set *set = &model->parameters;
    struct import import = {.model = model, .from = from};
    int result = M2_E_MEMORY;

    import.of_parameter =
        memory_zeroed(set->count, sizeof *import.of_parameter, err);
    import.used =
        memory_zeroed(from->file->n_tensors + 1, sizeof *import.used, err);
    if (import.of_parameter != NULL && import.used != NULL)
        result = check(&import, err);
    for (size_t i = 0; i < set->count && result == 0; i++)
        result = upload(
            model, import.of_parameter[i],
            view_columns(*arena, set->items[i].offset, set->items[i].n), err);
    text_free(&import.problems);
    free(import.of_parameter);
    free(import.used);
    return result;
}

int model_init_from(struct model *model, const char *path, struct m2_error *err)
{
    struct m2_view values = model_values(model);
    struct tensor_source from = {.prefix = "", .code = M2_E_CONFIG};
    struct st_file file;
    int result = st_read(path, &file, err);

    if (result != 0)
        return result;
    from.file = &file;
    result = model_load_tensors(model, &from, &values, err);
    st_free(&file);
    return result;
}

int model_save_tensors(const struct model *model, const char *prefix,
                       const void *values, struct st_writer *writer,
                       struct m2_error *err)
{
    size_t size = m2_dtype_size(model->real);
    enum st_dtype dtype = model->real == M2_F32 ? ST_F32 : ST_F64;
    int result = 0;

    for (size_t i = 0; i < model->parameters.count && result == 0; i++) {
        const struct parameter *item = &model->parameters.items[i];
        const char *data = (const char *)values + (size_t)item->offset * size;
        char name[128];

        snprintf(name, sizeof name, "%s%s", prefix, item->name);
        result =
            st_add(writer, name, dtype, item->shape, item->n_dims, data, err);
    }
    return result;
}
