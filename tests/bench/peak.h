/* The machine's peak: multiply-adds on registers alone. */
#ifndef M2_TESTS_BENCH_PEAK_H
#define M2_TESTS_BENCH_PEAK_H

#include <stdbool.h>

/* GFLOP/s of one thread with the widest vectors the processor has; 0 where
 * that is not known how to measure. */
double peak_gflops(bool f64);

/* CPU seconds of this thread: unlike wall time, of use on a shared machine. */
double bench_cpu_seconds(void);
double bench_wall_seconds(void);

#endif
