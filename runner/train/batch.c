/* Series on the device, windows by their first rows. */
#include "train/batch.h"

#include <stdlib.h>
#include <string.h>

#include "data/target.h"
#include "util/memory.h"

struct batcher {
    struct m2_device *device;
    const struct config *config;
    int64_t S, F, O, B, L, width;
    bool every_row; /* readout ALL */
    struct m2_buffer *series, *starts, *norms;
    int32_t *host_starts; /* (B), or (B*L) for readout ALL */
    double *host_norms;   /* (B, 2*O) */
    double *host_output;  /* (B, width), or (B*L, width) */
};

static int64_t n_starts(const struct batcher *batcher, int64_t b)
{
    return batcher->every_row ? b * batcher->L : b;
}

static struct m2_view features_view(const struct batcher *batcher)
{
    return view_matrix(batcher->series, 0, batcher->S, batcher->F, batcher->F,
                       device_real(batcher->device));
}

static struct m2_view targets_view(const struct batcher *batcher)
{
    return view_matrix(batcher->series, batcher->S * batcher->F, batcher->S,
                       batcher->O, batcher->O, device_real(batcher->device));
}

uint64_t batcher_bytes(const struct dataset *dataset,
                       const struct config *config, int64_t B)
{
    uint64_t rows = config->model.readout == READOUT_ALL
                        ? (uint64_t)(B * config->data.window)
                        : (uint64_t)B;
    uint64_t series = (uint64_t)(dataset->S * (dataset->F + dataset->O));

    return series * m2_dtype_size(config->dtype) + rows * sizeof(int32_t) +
           (uint64_t)(B * 2 * dataset->O) * sizeof(double);
}

static int allocate(struct batcher *batcher, struct m2_error *err)
{
    size_t real = m2_dtype_size(device_real(batcher->device));
    size_t rows = (size_t)n_starts(batcher, batcher->B);
    size_t norms = (size_t)(batcher->B * 2 * batcher->O);
    int code =
        buffer_alloc(batcher->device,
                     (size_t)(batcher->S * (batcher->F + batcher->O)) * real,
                     &batcher->series, err);

    if (code == 0)
        code = buffer_alloc(batcher->device, rows * sizeof(int32_t),
                            &batcher->starts, err);
    if (code == 0)
        code = buffer_alloc(batcher->device, norms * sizeof(double),
                            &batcher->norms, err);
    if (code != 0)
        return code;
    batcher->host_starts = memory_zeroed(rows, sizeof(int32_t), err);
    batcher->host_norms = memory_zeroed(norms, sizeof(double), err);
    batcher->host_output =
        memory_zeroed(rows * (size_t)batcher->width, sizeof(double), err);
    if (batcher->host_starts == NULL || batcher->host_norms == NULL ||
        batcher->host_output == NULL)
        return M2_E_MEMORY;
    return 0;
}

int batcher_create(struct m2_device *device, const struct dataset *dataset,
                   const struct config *config, int64_t B, struct batcher **out,
                   struct m2_error *err)
{
    struct batcher *batcher = memory_zeroed(1, sizeof *batcher, err);
    struct m2_view features, targets;
    int code;

    if (batcher == NULL)
        return M2_E_MEMORY;
    *batcher = (struct batcher){
        .device = device,
        .config = config,
        .S = dataset->S,
        .F = dataset->F,
        .O = dataset->O,
        .B = B,
        .L = config->data.window,
        .width = target_width(dataset, &config->data),
        .every_row = config->model.readout == READOUT_ALL,
    };
    code = allocate(batcher, err);
    if (code == 0) {
        features = features_view(batcher);
        targets = targets_view(batcher);
        code = view_upload(device, &features, dataset->features, err);
    }
    if (code == 0)
        code = view_upload(device, &targets, dataset->targets, err);
    if (code != 0) {
        batcher_free(batcher);
        return code;
    }
    *out = batcher;
    return 0;
}

void batcher_free(struct batcher *batcher)
{
    if (batcher == NULL)
        return;
    if (batcher->series != NULL)
        buffer_free(batcher->device, batcher->series);
    if (batcher->starts != NULL)
        buffer_free(batcher->device, batcher->starts);
    if (batcher->norms != NULL)
        buffer_free(batcher->device, batcher->norms);
    free(batcher->host_starts);
    free(batcher->host_norms);
    free(batcher->host_output);
    free(batcher);
}

static void fill_starts(struct batcher *batcher, const int32_t *starts,
                        int64_t b)
{
    if (!batcher->every_row) {
        memcpy(batcher->host_starts, starts, (size_t)b * sizeof *starts);
        return;
    }
    for (int64_t i = 0; i < b; i++)
        for (int64_t t = 0; t < batcher->L; t++)
            batcher->host_starts[i * batcher->L + t] = starts[i] + (int32_t)t;
}

int batcher_gather(struct batcher *batcher, struct model *model,
                   const int32_t *starts, int64_t b, bool with_target,
                   struct m2_error *err)
{
    const struct config_data *data = &batcher->config->data;
    int64_t rows = n_starts(batcher, b);
    struct m2_gather_windows gather = {
        .B = rows,
        .L = batcher->every_row ? 1 : batcher->L,
        .horizon = data->horizon,
        .horizon_mode = (int)data->horizon_mode,
        .window_norm = (int)data->window_norm,
        .eps = BATCH_NORM_EPS,
        .features = features_view(batcher),
        .targets = targets_view(batcher),
        .starts = view_matrix(batcher->starts, 0, 1, rows, rows, M2_I32),
        .x = model_input(model, b),
    };
    int code;

    if (with_target)
        gather.y = model_target(model, b);
    if (data->window_norm != M2_NORM_NONE)
        gather.norms = view_matrix(batcher->norms, 0, rows, 2 * batcher->O,
                                   2 * batcher->O, M2_F64);
    fill_starts(batcher, starts, b);
    code = view_upload_i32(batcher->device, &gather.starts,
                           batcher->host_starts, err);
    return code != 0
               ? code
               : op_call(batcher->device, M2_OP_gather_windows, &gather, err);
}

int batcher_undo_norm(struct batcher *batcher, double *predictions, int64_t b,
                      struct m2_error *err)
{
    int64_t O = batcher->O;
    int code;

    if (batcher->config->data.window_norm == M2_NORM_NONE)
        return 0;
    code =
        buffer_download(batcher->device, batcher->norms, 0, batcher->host_norms,
                        (size_t)(b * 2 * O) * sizeof(double), err);
    for (int64_t i = 0; code == 0 && i < b; i++) {
        const double *shift = batcher->host_norms + i * 2 * O;
        double *row = predictions + i * batcher->width;

        for (int64_t j = 0; j < batcher->width; j++)
            row[j] = row[j] * shift[O + j % O] + shift[j % O];
    }
    return code;
}

/* Output of the last batch, the row that counts of each window. */
static int take_output(struct batcher *batcher, struct model *model, int64_t b,
                       double *out, struct m2_error *err)
{
    struct m2_view output = model_output(model, b);
    int64_t stride = batcher->every_row ? batcher->L : 1;
    size_t width = (size_t)batcher->width;
    int code =
        view_download(batcher->device, &output, batcher->host_output, err);

    for (int64_t i = 0; code == 0 && i < b; i++)
        memcpy(out + i * batcher->width,
               batcher->host_output + ((i + 1) * stride - 1) * batcher->width,
               width * sizeof *out);
    return code != 0 ? code : batcher_undo_norm(batcher, out, b, err);
}

int predict_windows(struct batcher *batcher, struct model *model,
                    const int32_t *starts, int64_t n, double *out,
                    struct m2_error *err)
{
    int code = 0;

    for (int64_t i = 0; code == 0 && i < n; i += batcher->B) {
        int64_t b = n - i < batcher->B ? n - i : batcher->B;

        code = model_prepare(model, b, err);
        if (code == 0)
            code = batcher_gather(batcher, model, starts + i, b, false, err);
        if (code == 0)
            code = model_forward(model, b, err);
        if (code == 0)
            code =
                take_output(batcher, model, b, out + i * batcher->width, err);
    }
    return code;
}
