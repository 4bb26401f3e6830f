/* Opening a trained run. */
#include "predict/predictor.h"

#include <stdlib.h>

#include "util/file.h"
#include "util/path.h"

static int checkpoint_path(const struct predictor_request *request, char **out,
                           struct m2_error *err)
{
    char *path = NULL;

    if (request->checkpoint == CHECKPOINT_BEST) {
        path = path_join(request->run, "checkpoints/best.safetensors", err);
        if (path == NULL)
            return M2_E_MEMORY;
        if (!file_exists(path)) {
            free(path);
            path = NULL;
        }
    }
    if (path == NULL)
        path = path_join(request->run, "checkpoints/last.safetensors", err);
    if (path == NULL)
        return M2_E_MEMORY;
    if (!file_exists(path)) {
        int code = m2_fail(err, M2_E_RESULTS,
                           "%s: this run has no checkpoint yet", path);

        free(path);
        return code;
    }
    *out = path;
    return 0;
}

static int read_scaling(struct checkpoint_parts *parts, struct m2_error *err)
{
    const char *text = checkpoint_scaling(&parts->file);

    if (text == NULL)
        return m2_fail(err, M2_E_RESULTS,
                       "%s: not a checkpoint of m2run: it has no scaling",
                       parts->file.path);
    return scaling_table_parse(text, parts->file.path, &parts->scaling, err);
}

int predictor_read(const struct predictor_request *request,
                   struct checkpoint_parts *out, struct m2_error *err)
{
    struct train_state state;
    char *path = NULL;
    int code;

    *out = (struct checkpoint_parts){0};
    if (request->config->model.head != HEAD_FORECAST)
        return m2_fail(err, M2_E_CONFIG,
                       "predict: model.head: lm is a language model; only "
                       "forecast predicts series");
    code = checkpoint_path(request, &path, err);
    if (code != 0)
        return code;
    code = checkpoint_read(path, NULL, &out->file, &state, err);
    free(path);
    if (code != 0)
        return code;
    out->step = state.step;
    code = read_scaling(out, err);
    if (code != 0)
        checkpoint_parts_free(out);
    return code;
}

void checkpoint_parts_free(struct checkpoint_parts *parts)
{
    scaling_table_free(&parts->scaling);
    st_free(&parts->file);
    *parts = (struct checkpoint_parts){0};
}

int predictor_open(const struct predictor_request *request, struct session *out,
                   struct m2_error *err)
{
    struct session_request session = {
        .config = request->config,
        .threads = request->threads,
        .all_windows = true,
    };
    struct checkpoint_parts parts;
    int code = predictor_read(request, &parts, err);

    if (code != 0)
        return code;
    session.scaling = &parts.scaling;
    code = session_open(&session, out, err);
    if (code == 0) {
        code = checkpoint_restore(&parts.file, out->model, NULL, err);
        if (code != 0)
            session_close(out);
    }
    checkpoint_parts_free(&parts);
    return code;
}
