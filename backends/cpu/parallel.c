/* parallel.c: runs the tasks of a job on up to h->threads threads. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include <stdatomic.h>

#include "backends/cpu/cpu.h"

/* Entering a parallel region costs microseconds; below this many elementary
 * operations one thread is done sooner. */
#define PARALLEL_WORK 200000.0

#ifdef _OPENMP
static void run_range(const struct job *job, struct task_range *range,
                      char *scratch)
{
    int64_t task;

    while ((task = atomic_fetch_add_explicit(
                &range->next, 1, memory_order_relaxed)) < range->end)
        job->run(job, task, scratch);
}

static void run_together(const struct handle *h, const struct job *job,
                         int threads)
{
    for (int i = 0; i < threads; i++) {
        atomic_store_explicit(&h->ranges[i].next, job->tasks * i / threads,
                              memory_order_relaxed);
        h->ranges[i].end = job->tasks * (i + 1) / threads;
    }
#pragma omp parallel num_threads(threads)
    {
        int self = omp_get_thread_num();
        char *scratch = job->scratch + (size_t)self * job->scratch_each;

        for (int i = 0; i < threads; i++)
            run_range(job, &h->ranges[(self + i) % threads], scratch);
    }
}
#endif

void parallel_run(const struct handle *h, const struct job *job)
{
#ifdef _OPENMP
    int threads = (int)min_i64(h->threads, job->tasks);

    if (threads > 1 && job->work >= PARALLEL_WORK) {
        run_together(h, job, threads);
        return;
    }
#else
    (void)h;
#endif
    for (int64_t task = 0; task < job->tasks; task++)
        job->run(job, task, job->scratch);
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
