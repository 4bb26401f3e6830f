/* How foreign files name things, and what sizes their tensors imply. */
#include <string.h>

#include "model/import.h"

static const char embedding[] = "backbone.embedding.weight";
static const char embeddings[] = "backbone.embeddings.weight";

/* Text after a prefix, or NULL. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool import_is_named(const char *foreign, const char *prefix,
                     const char *wanted)
{
    const char *name = after(foreign, prefix);
    const char *inner = name != NULL ? after(name, "model.") : NULL;

    if (inner != NULL)
        name = inner;
    if (name == NULL)
        return false;
    return strcmp(name, wanted) == 0 ||
           (strcmp(name, embeddings) == 0 && strcmp(wanted, embedding) == 0);
}

void import_add_shape(struct text *out, const int64_t *shape, int n_dims)
{
    text_add_char(out, '[');
    for (int i = 0; i < n_dims; i++)
        text_addf(out, i == 0 ? "%lld" : ", %lld", (long long)shape[i]);
    text_add_char(out, ']');
}

int64_t import_extent(const struct st_file *file, const char *prefix,
                      const char *name, int dim)
{
    for (size_t i = 0; i < file->n_tensors; i++) {
        const struct st_tensor *tensor = &file->tensors[i];

        if (import_is_named(tensor->name, prefix, name))
            return dim < tensor->n_dims ? tensor->shape[dim] : 0;
    }
    return 0;
}

/* Layers 0 .. n-1 have a norm. */
static int64_t count_layers(const struct st_file *file, const char *prefix)
{
    for (int64_t n = 0;; n++) {
        char name[64];

        snprintf(name, sizeof name, "backbone.layers.%lld.norm.weight",
                 (long long)n);
        if (import_extent(file, prefix, name, 0) == 0)
            return n;
    }
}

static void add(struct text *out, const char *key, int64_t value)
{
    if (value > 0)
        text_addf(out, " %s %lld,", key, (long long)value);
}

static void add_sizes(struct text *out, const struct model_sizes *s)
{
    add(out, "d_model", s->D);
    add(out, "n_layer", s->n_layer);
    add(out, "expand", s->D > 0 ? s->I / s->D : 0);
    add(out, "headdim", s->P);
    add(out, "ngroups * d_state", s->G * s->N);
    add(out, "d_conv", s->K);
    add(out, "vocab_size", s->V);
    add(out, "features", s->F);
    add(out, "outputs", s->Y);
    if (out->length > 0 && out->bytes[out->length - 1] == ',')
        out->bytes[--out->length] = '\0';
}

void import_explain(struct text *out, const struct st_file *file,
                    const char *prefix, const struct model_sizes *sizes)
{
    static const char mixer[] = "backbone.layers.0.mixer.";
    char name[64];
    struct model_sizes found = {
        .D = import_extent(file, prefix, "backbone.norm_f.weight", 0),
        .V = import_extent(file, prefix, embedding, 0),
        .F = import_extent(file, prefix, "input_proj.weight", 1),
        .Y = import_extent(file, prefix, "head.weight", 0),
        .n_layer = count_layers(file, prefix),
        .G = 1,
    };
    int64_t channels;

    snprintf(name, sizeof name, "%snorm.weight", mixer);
    found.I = import_extent(file, prefix, name, 0);
    snprintf(name, sizeof name, "%sA_log", mixer);
    found.H = import_extent(file, prefix, name, 0);
    found.P = found.H > 0 ? found.I / found.H : 0;
    snprintf(name, sizeof name, "%sconv1d.weight", mixer);
    found.K = import_extent(file, prefix, name, 2);
    channels = import_extent(file, prefix, name, 0);
    found.N = channels > found.I ? (channels - found.I) / 2 : 0;
    text_add(out, "\n  the file has:");
    add_sizes(out, &found);
    text_add(out, "\n  the model has:");
    add_sizes(out, sizes);
}
