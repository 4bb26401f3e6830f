/* How many multiplications and additions this machine can do, measured. */
#ifndef M2_UTIL_FMA_PEAK_H
#define M2_UTIL_FMA_PEAK_H

#include <stdbool.h>

/* Floating-point operations per second (a fused multiply-add is two) of
 * independent vector operations in registers, with the widest vectors that the
 * processor has, on `threads` threads at once; double or float.  The best of
 * several short runs, a tenth of a second in all. */
double fma_peak(bool is_double, int threads);

/* The vectors used: "avx512", "avx2", "neon", or "plain" for what the
 * compiler makes of a loop. */
const char *fma_peak_isa(void);

#endif
