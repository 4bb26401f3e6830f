/* Planted mistakes: programs with one mistake each, that a real device would
 * punish late, at random or not at all.  Each states the ways to run it in
 * which the emulator must find it; correct programs (correct.cu) must pass in
 * all of them. */
#ifndef M2_EMU_MISTAKES_H
#define M2_EMU_MISTAKES_H

#include "cases.h"

#define M2_EMU_GRID_Y INT32_MAX /* the emulator's own check is tested */
#include "backends/cuda/launch.cuh"

struct mistake {
    const char *what;
    void (*run)(void);
    /* Where it must be found:
     *   a  threads and blocks ascending, streams eager
     *   d  descending         l  streams lazy
     *   r  both at random     p  replay: each kernel in two orders
     *   c  the check build    C  the check build, streams lazy */
    const char *modes;
    const char *says;       /* part of the message; NULL: a wrong result */
    const char *says_check; /* in the check build; NULL: the same */
};

/* For the initial value of a static object. */
int emu_add_mistakes(const struct mistake *mistakes, size_t n);
int emu_add_correct(const char *what, void (*run)(void));

/* Tells of a wrong result, which counts as found. */
#define RESULT(holds)                                                          \
    ((holds) ? (void)0 : emu_wrong_result(#holds, __FILE__, __LINE__))
/* Tells that a call gave the error that a device would give. */
#define REFUSED(call, error) emu_refused((int)(call), (int)(error), #call)

void emu_wrong_result(const char *what, const char *file, int line);
void emu_refused(int result, int expected, const char *call);

/* ---- short forms ----------------------------------------------------------
 */

/* Two streams that live as long as the program. */
cudaStream_t first(void);
cudaStream_t second(void);

/* Launches on the first stream; the call itself succeeds. */
#define RUN(kernel, grid, block, ...)                                          \
    GOOD(M2_LAUNCH(kernel, grid, block, 0, first(), __VA_ARGS__))
#define FINISH() GOOD(cudaStreamSynchronize(first()))

template <class T> static inline T *array_of(size_t n)
{
    return (T *)(void *)new_device(n * sizeof(T));
}
/* n numbers: all of them v, or v, v + 1, v + 2... */
float *filled(size_t n, float v);
float *counted(size_t n, float v);
int *zeroes(size_t n);
/* Waits for the first stream. */
float value_at(const float *device, size_t i);
bool all_are(const float *device, size_t n, float v);

/* Kernels of several files. */
__global__ void copy_numbers(const float *from, float *to, int n);
__global__ void set_numbers(float *to, int n, float v);

#endif
