/* parallel.c: runs the tasks of a job on up to h->threads threads. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "backends/cpu/cpu.h"

/* Entering a parallel region costs microseconds; below this many elementary
 * operations one thread is done sooner. */
#define PARALLEL_WORK 200000.0

static void run_alone(const struct job *job)
{
    for (int64_t task = 0; task < job->tasks; task++)
        job->run(job, task, job->scratch);
}

void parallel_run(const struct handle *h, const struct job *job)
{
#ifdef _OPENMP
    int threads = (int)min_i64(h->threads, job->tasks);

    if (threads > 1 && job->work >= PARALLEL_WORK) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
        for (int64_t task = 0; task < job->tasks; task++)
            job->run(job, task,
                     job->scratch +
                         (size_t)omp_get_thread_num() * job->scratch_each);
        return;
    }
#else
    (void)h;
#endif
    run_alone(job);
}

int openmp_threads(int threads)
{
#ifdef _OPENMP
    int before = omp_get_max_threads();

    omp_set_num_threads(threads);
    return before;
#else
    return threads;
#endif
}
