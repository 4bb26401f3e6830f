/* Everything a config needs to compute: backend, device, dataset, batches,
 * model; opened in this order, closed in the other. */
#ifndef M2_TRAIN_SESSION_H
#define M2_TRAIN_SESSION_H

#include "data/dataset.h"
#include "model/model.h"
#include "train/batch.h"

/* Bytes on the device, by the code that allocates them. */
struct device_needs {
    uint64_t tree;   /* arenas of the tree of microbatches */
    uint64_t series; /* the dataset */
    uint64_t all;    /* with the model's */
};

struct session {
    const struct config *config; /* borrowed */
    const struct plugin *backend;
    struct m2_device *device;
    struct m2_device_facts facts;
    int index; /* of the device */
    struct device_needs needs;
    uint64_t free_bytes; /* of an accelerator, before the model was made; 0:
                            not known */
    struct dataset dataset;
    struct model *model;
    struct batcher *batcher;
    char numerics[256]; /* what may change bits: backend, number, CPU type */
};

struct session_request {
    const struct config *config;
    int threads;      /* at least 1 */
    int device_slot;  /* 0: the device that the config names; k: device k-1 of
                         its backend */
    bool training;    /* gradients and all activations */
    bool all_windows; /* dataset_request.all_windows */
    const struct dataset_scaling_table *scaling; /* NULL: fit */
};

int session_open(const struct session_request *request, struct session *out,
                 struct m2_error *err);
void session_close(struct session *session);

/* Only backend, facts, device and numerics of a session that is zero but for
 * these, for what needs no dataset; session_close closes it, too. */
int session_open_device(const struct config *config, int threads,
                        struct session *session, struct m2_error *err);

/* Whether the device computes in host memory with the host's cores, as `cpu`
 * and `ref` do: its bytes are then the process's. */
bool session_device_is_host(const struct session *session);

/* What a config takes on its device. */
void session_needs(const struct config *config, const struct dataset *dataset,
                   const struct model_spec *spec, const struct model_plan *plan,
                   struct device_needs *out);

/* Out of memory on an accelerator: the plan's number and what was free come
 * before the cause in err.  Other codes are left alone; returns the code. */
int session_explain(const struct session *session, int code,
                    struct m2_error *err);

/* First parameters: from model.init_from, else fresh from the seed. */
int session_initialise(struct session *session, struct m2_error *err);

/* The scaling the dataset was made with, as text for a checkpoint. */
int session_scaling_text(const struct session *session, struct text *out,
                         struct m2_error *err);

/* The shapes of the model that this config and dataset need. */
void session_model_spec(const struct config *config,
                        const struct dataset *dataset, bool training,
                        struct model_spec *out);

#endif
