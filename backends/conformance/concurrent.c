/* The same trial on two handles at the same time. */
#include <pthread.h>

#include "backends/conformance/trial.h"

struct job {
    struct bench *bench;
    struct trial trial; /* shares its values, has results of its own */
    const struct trial_layout *layout;
    struct m2_error err;
    int code;
};

static void *work(void *argument)
{
    struct job *job = argument;
    job->code = trial_run(job->bench, &job->trial, job->layout, &job->err);
    return NULL;
}

static struct job job_start(struct bench *bench, const struct trial *trial,
                            const struct trial_layout *layout)
{
    struct job job = {.bench = bench, .trial = *trial, .layout = layout};
    for (size_t i = 0; i < TRIAL_ARGUMENTS; i++)
        job.trial.views[i].result = NULL;
    return job;
}

int trial_run_together(struct bench *const benches[2],
                       const struct trial *trial,
                       const struct trial_layout *layout,
                       struct results results[2], struct m2_error *err)
{
    struct job jobs[2] = {job_start(benches[0], trial, layout),
                          job_start(benches[1], trial, layout)};
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &jobs[1]) != 0)
        return m2_fail(err, M2_E_MEMORY, "cannot start a thread");
    work(&jobs[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++)
        results_take(&results[i], &jobs[i].trial);
    if (jobs[0].code == M2_OK && jobs[1].code == M2_OK)
        return M2_OK;
    if (err != NULL)
        *err = jobs[jobs[0].code == M2_OK].err;
    return jobs[jobs[0].code == M2_OK].code;
}
