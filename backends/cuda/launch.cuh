/* How the CUDA backend meets CUDA: the only file that includes its headers.
 *
 * The same sources are compiled by nvcc, and by a C++ compiler against the
 * header set of tests/cuda_emu, which runs kernels on the processor.  What the
 * two write differently is here.
 *
 *   M2_LAUNCH(kernel, grid, block, bytes, stream, arguments...)
 *     the one way to launch; gives a cudaError_t.  A kernel with commas in its
 *     template arguments goes in parentheses.
 *   M2_SHARED(type, name, count)   an array that the block shares
 *   M2_DYN_SHARED(type, name)      the block's `bytes`, aligned to 16
 *   MAX_GRID_Y                     the most blocks in y that are launched */
#ifndef M2_CUDA_LAUNCH_CUH
#define M2_CUDA_LAUNCH_CUH

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdint.h>

#include <utility>

#ifdef M2_CUDA_EMU
/* So few that small matrices, too, make kernels go round their loops in y, and
 * that a launch without such a loop fails. */
#ifndef M2_EMU_GRID_Y
#define M2_EMU_GRID_Y 2
#endif
constexpr int64_t MAX_GRID_Y = M2_EMU_GRID_Y;
/* A static object per use is the array's identity within a block. */
#define M2_SHARED(type, name, count)                                           \
    static char name##_key;                                                    \
    auto &name = *(type(*)[count])emu_shared(&name##_key, sizeof(type[count]), \
                                             alignof(type))
#define M2_DYN_SHARED(type, name) type *name = (type *)emu_dyn_shared()
#define M2_LAUNCH_NAME(kernel)    emu_next_name(#kernel, __FILE__, __LINE__)
#else
constexpr int64_t MAX_GRID_Y = 65535;
#define M2_SHARED(type, name, count) __shared__ type name[count]
#define M2_DYN_SHARED(type, name)                                              \
    extern __shared__ __align__(16) unsigned char m2_dyn_shared[];             \
    type *name = reinterpret_cast<type *>(m2_dyn_shared)
#define M2_LAUNCH_NAME(kernel) ((void)0)
#endif

#define M2_LAUNCH(kernel, ...)                                                 \
    (M2_LAUNCH_NAME(kernel), m2_launch(kernel, __VA_ARGS__))

template <class... P, class... A>
static inline cudaError_t m2_launch(void (*kernel)(P...), dim3 grid, dim3 block,
                                    size_t bytes, cudaStream_t stream,
                                    A &&...arguments)
{
    cudaLaunchConfig_t config = {};

    if (grid.y > MAX_GRID_Y)
        return cudaErrorInvalidConfiguration;
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, std::forward<A>(arguments)...);
}

#endif
