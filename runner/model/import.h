/* Names, shapes and sizes of files of tensors; private to this room. */
#ifndef M2_MODEL_IMPORT_H
#define M2_MODEL_IMPORT_H

#include "model/parameters.h"
#include "model/safetensors.h"
#include "util/text.h"

/* A name as a foreign file spells it, against PREFIX + an own name. */
bool import_is_named(const char *foreign, const char *prefix,
                     const char *wanted);

/* "[768, 4]" */
void import_add_shape(struct text *out, const int64_t *shape, int n_dims);

/* Extent `dim` of a tensor; 0 when there is none. */
int64_t import_extent(const struct st_file *file, const char *prefix,
                      const char *name, int dim);

/* Adds one line with the sizes that a file's tensors imply, as far as they
 * are there, and one with those of the model: which key to change. */
void import_explain(struct text *out, const struct st_file *file,
                    const char *prefix, const struct model_sizes *sizes);

#endif
