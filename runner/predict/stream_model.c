/* The device side of a stream. */
#include "predict/stream_model.h"

#include <stdlib.h>
#include <string.h>

#include "data/target.h"
#include "util/memory.h"

static int allocate_host(struct stream_model *m, struct m2_error *err)
{
    size_t rows = (size_t)(m->C * m->L);

    m->rows = memory_zeroed(rows, (size_t)(m->F + m->O) * m->real, err);
    m->output = memory_zeroed((size_t)(m->C * m->Y), m->real, err);
    m->host_norms =
        memory_zeroed((size_t)(m->C * 2 * m->O), sizeof(double), err);
    return m->rows == NULL || m->output == NULL || m->host_norms == NULL
               ? M2_E_MEMORY
               : 0;
}

static int allocate_device(struct stream_model *m, struct m2_error *err)
{
    struct m2_device *device = m->session.device;
    size_t rows = (size_t)(m->C * m->L);
    int code = buffer_alloc(device, rows * (size_t)(m->F + m->O) * m->real,
                            &m->series, err);

    if (code == 0)
        code = buffer_alloc(device, (size_t)m->C * sizeof(int32_t), &m->starts,
                            err);
    if (code == 0)
        code = buffer_alloc(device, (size_t)(m->C * 2 * m->O) * sizeof(double),
                            &m->norms, err);
    return code;
}

/* The op that cuts batches, on a stack of C series of L rows: window c starts
 * at row c*L. */
static int prepare_gather(struct stream_model *m, const struct config *config,
                          struct m2_error *err)
{
    struct m2_device *device = m->session.device;
    enum m2_dtype real = device_real(device);
    int64_t rows = m->C * m->L;
    int code = allocate_device(m, err);

    if (code != 0)
        return code;
    m->gather = (struct m2_gather_windows){
        .B = m->C,
        .L = m->L,
        .horizon = config->data.horizon,
        .horizon_mode = (int)config->data.horizon_mode,
        .window_norm = (int)m->norm,
        .eps = BATCH_NORM_EPS,
        .features = view_matrix(m->series, 0, rows, m->F, m->F, real),
        .targets = view_matrix(m->series, rows * m->F, rows, m->O, m->O, real),
        .starts = view_matrix(m->starts, 0, 1, m->C, m->C, M2_I32),
        .x = m->input,
        .norms = view_matrix(m->norms, 0, m->C, 2 * m->O, 2 * m->O, M2_F64),
    };
    for (int32_t c = 0; code == 0 && c < m->C; c++) {
        int32_t start = c * (int32_t)m->L;

        code = buffer_upload(device, m->starts, (size_t)c * sizeof start,
                             &start, sizeof start, err);
    }
    if (code == 0)
        code = op_prepare(device, M2_OP_gather_windows, &m->gather, err);
    return code == 0 ? device_reserve(device, err) : code;
}

static int open_model(const struct stream_model_request *request,
                      struct stream_model *m, struct m2_error *err)
{
    struct model_spec spec;
    int code = session_open_device(request->config, request->threads,
                                   &m->session, err);

    if (code != 0)
        return code;
    session_model_spec(request->config, request->shape, false, &spec);
    spec.B = m->C;
    m->real = m2_dtype_size(device_real(m->session.device));
    code = model_create(m->session.device, &spec, &m->model, err);
    if (code == 0)
        code =
            checkpoint_restore(&request->checkpoint->file, m->model, NULL, err);
    return code;
}

int stream_model_open(const struct stream_model_request *request,
                      struct stream_model *out, struct m2_error *err)
{
    const struct config *config = request->config;
    int code;

    *out = (struct stream_model){
        .C = request->channels,
        .L = config->data.window,
        .F = request->shape->F,
        .O = request->shape->O,
        .Y = target_width(request->shape, &config->data),
        .every_row = config->model.readout == READOUT_ALL,
        .norm = config->data.window_norm,
    };
    code = open_model(request, out, err);
    if (code == 0) {
        out->input = model_input(out->model, out->C);
        code = allocate_host(out, err);
    }
    if (code == 0 && out->norm != M2_NORM_NONE)
        code = prepare_gather(out, config, err);
    if (code != 0)
        stream_model_close(out);
    return code;
}

void stream_model_close(struct stream_model *m)
{
    struct m2_device *device = m->session.device;

    if (m->series != NULL)
        buffer_free(device, m->series);
    if (m->starts != NULL)
        buffer_free(device, m->starts);
    if (m->norms != NULL)
        buffer_free(device, m->norms);
    model_free(m->model);
    session_close(&m->session);
    free(m->rows);
    free(m->output);
    free(m->host_norms);
    *m = (struct stream_model){0};
}

void stream_model_put(const struct stream_model *m, void *array, int64_t i,
                      double value)
{
    if (m->real == sizeof(float))
        ((float *)array)[i] = (float)value;
    else
        ((double *)array)[i] = value;
}

static double get(const struct stream_model *m, const void *array, int64_t i)
{
    return m->real == sizeof(float) ? (double)((const float *)array)[i]
                                    : ((const double *)array)[i];
}

void *stream_model_features(const struct stream_model *m, int64_t c)
{
    return m->rows + (size_t)(c * m->L * m->F) * m->real;
}

void *stream_model_targets(const struct stream_model *m, int64_t c)
{
    return m->rows + (size_t)(m->C * m->L * m->F + c * m->L * m->O) * m->real;
}

/* Downloads the row that counts of each channel: every `stride`-th. */
static int take_output(struct stream_model *m, const struct m2_view *view,
                       int64_t stride, double *out, struct m2_error *err)
{
    struct m2_device *device = m->session.device;
    size_t row = (size_t)m->Y * m->real;
    size_t offset = (size_t)view->offset * m->real;
    int code = 0;

    if (stride == 1)
        code = buffer_download(device, view->buffer, offset, m->output,
                               (size_t)m->C * row, err);
    for (int64_t c = 0; code == 0 && stride > 1 && c < m->C; c++)
        code = buffer_download(device, view->buffer,
                               offset + (size_t)((c + 1) * stride - 1) * row,
                               m->output + (size_t)c * row, row, err);
    for (int64_t i = 0; code == 0 && i < m->C * m->Y; i++)
        out[i] = get(m, m->output, i);
    return code;
}

/* raw = y * spread + shift, as for batches. */
static int undo_norm(struct stream_model *m, double *out, struct m2_error *err)
{
    int64_t O = m->O;
    int code = buffer_download(m->session.device, m->norms, 0, m->host_norms,
                               (size_t)(m->C * 2 * O) * sizeof(double), err);

    for (int64_t c = 0; code == 0 && c < m->C; c++) {
        const double *shift = m->host_norms + c * 2 * O;

        for (int64_t j = 0; j < m->Y; j++)
            out[c * m->Y + j] =
                out[c * m->Y + j] * shift[O + j % O] + shift[j % O];
    }
    return code;
}

int stream_model_window(struct stream_model *m, double *out,
                        struct m2_error *err)
{
    struct m2_device *device = m->session.device;
    struct m2_view output = model_output(m->model, m->C);
    size_t features = (size_t)(m->C * m->L * m->F) * m->real;
    size_t targets = (size_t)(m->C * m->L * m->O) * m->real;
    int code;

    if (m->norm == M2_NORM_NONE) {
        code = buffer_upload(device, m->input.buffer,
                             (size_t)m->input.offset * m->real, m->rows,
                             features, err);
    } else {
        code = buffer_upload(device, m->series, 0, m->rows, features + targets,
                             err);
        if (code == 0)
            code = op_run(device, M2_OP_gather_windows, &m->gather, err);
    }
    if (code == 0)
        code = model_forward(m->model, m->C, err);
    if (code == 0)
        code = take_output(m, &output, m->every_row ? m->L : 1, out, err);
    if (code == 0 && m->norm != M2_NORM_NONE)
        code = undo_norm(m, out, err);
    return code;
}

int stream_model_step(struct stream_model *m, struct model_stepper *stepper,
                      const double *features, double *out, struct m2_error *err)
{
    struct m2_view input = model_stepper_input(stepper);
    struct m2_view output = model_stepper_output(stepper);
    int code;

    for (int64_t i = 0; i < m->C * m->F; i++)
        stream_model_put(m, m->rows, i, features[i]);
    code = buffer_upload(m->session.device, input.buffer,
                         (size_t)input.offset * m->real, m->rows,
                         (size_t)(m->C * m->F) * m->real, err);
    if (code == 0)
        code = model_stepper_step(stepper, err);
    return code == 0 ? take_output(m, &output, 1, out, err) : code;
}
