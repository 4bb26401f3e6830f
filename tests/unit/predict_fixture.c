/* A model on a table of rows, without files. */
#include "predict_fixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "data/scaling.h"
#include "model/safetensors.h"

static void must(int code, const struct m2_error *err)
{
    if (code != M2_OK)
        fail_msg("%s", err->text);
}

void fixture_model(struct config *config)
{
    static char type[] = "mamba2", device[] = "ref";

    config->device = device;
    config->dtype = M2_F64;
    config->model = (struct config_model){
        .type = type,
        .d_model = 8,
        .n_layer = 2,
        .d_state = 4,
        .expand = 2,
        .headdim = 8,
        .d_conv = 3,
        .ngroups = 1,
        .norm_groups = 1,
        .chunk = 4,
        .dt_limit = {1e-6, 1.0},
        .norm_eps = 1e-5,
        .conv_bias = true,
        .readout = READOUT_LAST,
    };
    config->train.batch_size = 4;
    config->seed = 3;
}

/* A file of the model's parameters, read back. */
static void make_checkpoint(struct fixture *fixture)
{
    struct session *session = &fixture->session;
    struct m2_view view = model_values(session->model);
    double *values = calloc((size_t)view.cols, sizeof *values);
    struct st_writer *writer = st_writer_new();
    char path[] = "/tmp/m2run-test-XXXXXX";
    int fd = mkstemp(path);
    struct m2_error err;

    assert_true(fd >= 0);
    close(fd);
    /* As the device has them: save_tensors wants its type. */
    must(buffer_download(session->device, view.buffer, 0, values,
                         (size_t)view.cols * m2_dtype_size(view.dtype), &err),
         &err);
    must(model_save_tensors(session->model, "", values, writer, &err), &err);
    must(st_write(writer, path, &err), &err);
    must(st_read(path, &fixture->checkpoint.file, &err), &err);
    must(scaling_table_copy(session->dataset.scaling_table,
                            &fixture->checkpoint.scaling, &err),
         &err);
    unlink(path);
    st_writer_free(writer);
    free(values);
}

void fixture_open(struct fixture *fixture, const struct table *table,
                  const struct config *config)
{
    struct session *session = &fixture->session;
    struct model_spec spec;
    struct m2_error err;

    *fixture = (struct fixture){.config = *config};
    config = &fixture->config;
    const struct dataset_request request = {.config = config,
                                            .all_windows = true};
    session->config = config;
    must(dataset_load_with(table_source(table), &request, &session->dataset,
                           &err),
         &err);
    must(session_open_device(config, 1, session, &err), &err);
    session_model_spec(config, &session->dataset, false, &spec);
    must(model_create(session->device, &spec, &session->model, &err), &err);
    must(batcher_create(session->device, &session->dataset, config, spec.B,
                        &session->batcher, &err),
         &err);
    must(model_initialise(session->model, config->seed, &err), &err);
    make_checkpoint(fixture);
}

void fixture_close(struct fixture *fixture)
{
    checkpoint_parts_free(&fixture->checkpoint);
    session_close(&fixture->session);
}

/* With all parameters 0 every layer adds nothing, and the head gives its
 * bias. */
void fixture_constant(struct fixture *fixture, double value)
{
    struct session *session = &fixture->session;
    struct m2_view view = model_values(session->model);
    double *values = calloc((size_t)view.cols, sizeof *values);
    const struct parameter *parameters;
    size_t n = model_parameters(session->model, &parameters);
    bool found = false;
    struct m2_error err;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(parameters[i].name, "head.bias") != 0)
            continue;
        found = true;
        for (int64_t j = 0; j < parameters[i].n; j++)
            values[parameters[i].offset + j] = value;
    }
    assert_true(found);
    must(view_upload(session->device, &view, values, &err), &err);
    free(values);
}

static int collect(void *context, const struct text *text, struct m2_error *err)
{
    text_add_bytes(context, text_string(text), text->length);
    return text_check(context, err);
}

struct text fixture_predict(struct fixture *fixture, enum window_choice windows)
{
    struct text text = {0};
    const struct batch_predict_request request = {
        .session = &fixture->session,
        .windows = windows,
        .write = collect,
        .context = &text,
    };
    struct m2_error err;

    must(batch_predict(&request, &err), &err);
    return text;
}
