/* An experiment on one of the two devices. */
#include "equality/side.h"

#include <stdlib.h>
#include <string.h>

#include "train/trainer.h"
#include "util/memory.h"

static int copy_config(const struct equality_request *request, int index,
                       struct side *side, struct m2_error *err)
{
    int code = config_copy(request->config, &side->config, err);
    char *device;

    if (code != 0)
        return code;
    device = memory_string(request->devices[index], err);
    if (device == NULL)
        return M2_E_MEMORY;
    free(side->config.device);
    side->config.device = device;
    return 0;
}

int side_open_device(const struct equality_request *request, int index,
                     struct side *out, struct m2_error *err)
{
    int code;

    *out = (struct side){0};
    code = copy_config(request, index, out, err);
    if (code == 0)
        code = session_open_device(&out->config, request->threads,
                                   &out->session, err);
    if (code != 0)
        side_close(out);
    return code;
}

int side_open(const struct equality_request *request, int index,
              struct side *out, struct m2_error *err)
{
    const struct session_request session = {
        .config = &out->config,
        .threads = request->threads,
        .training = true,
    };
    int code;

    *out = (struct side){0};
    code = copy_config(request, index, out, err);
    if (code == 0)
        code = session_open(&session, &out->session, err);
    if (code == 0)
        code = session_initialise(&out->session, err);
    if (code == 0)
        code = updater_create(
            &out->session,
            train_total_steps(&out->config,
                              out->session.dataset.parts[PART_TRAIN].n),
            &out->updater, err);
    if (code != 0)
        side_close(out);
    return code;
}

void side_close(struct side *side)
{
    updater_free(side->updater);
    session_close(&side->session);
    config_free(&side->config);
    memset(side, 0, sizeof *side);
}

int64_t side_steps(const struct side *side,
                   const struct equality_request *request)
{
    int64_t total = train_total_steps(
        &side->config, side->session.dataset.parts[PART_TRAIN].n);

    return request->steps < total ? request->steps : total;
}

int side_step(struct side *side, struct update *out, struct m2_error *err)
{
    int64_t n_windows = side->session.dataset.parts[PART_TRAIN].n;
    int code = updater_run(side->updater, side->step, side->epoch, side->cursor,
                           out, err);

    if (code == 0)
        code = trace_step(side->trace, side->step + 1, out->loss,
                          out->grad_norm, err);
    if (code != 0)
        return code;
    side->step++;
    side->cursor += out->n;
    if (side->cursor == n_windows) {
        side->cursor = 0;
        side->epoch++;
    }
    return 0;
}

void side_describe(const struct side *side, struct equality_device *out)
{
    snprintf(out->label, sizeof out->label, "%s",
             device_label(side->session.device));
    snprintf(out->name, sizeof out->name, "%s", side->session.facts.name);
}

bool side_is_same(const struct side *a, const struct side *b)
{
    return a->session.backend == b->session.backend &&
           strcmp(device_label(a->session.device),
                  device_label(b->session.device)) == 0;
}
