/* The functions behind the slots, as plugin.c (C) and the other files (C++)
 * both see them.  args are those of m2_backend.h. */
#ifndef M2_CUDA_SLOTS_H
#define M2_CUDA_SLOTS_H

#include "backends/m2_backend.h"

#ifndef M2_CUDA_NAME
#define M2_CUDA_NAME "cuda"
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern const char cuda_build[]; /* facts.cu: compilers and versions */

int cuda_devices(void *handle, void *args, struct m2_error *err);
int cuda_open(void *handle, void *args, struct m2_error *err);
int cuda_close(void *handle, void *args, struct m2_error *err);
int cuda_alloc(void *handle, void *args, struct m2_error *err);
int cuda_free(void *handle, void *args, struct m2_error *err);
int cuda_upload(void *handle, void *args, struct m2_error *err);
int cuda_download(void *handle, void *args, struct m2_error *err);
int cuda_sync(void *handle, void *args, struct m2_error *err);
int cuda_supports(void *handle, void *args, struct m2_error *err);
int cuda_workspace(void *handle, void *args, struct m2_error *err);
int cuda_reserve(void *handle, void *args, struct m2_error *err);
int cuda_step_begin(void *handle, void *args, struct m2_error *err);
int cuda_step_end(void *handle, void *args, struct m2_error *err);
/* Runs an op, or records it within a step. */
int cuda_op(void *handle, int op, const void *args, struct m2_error *err);

#ifdef __cplusplus
}
#endif

#endif
