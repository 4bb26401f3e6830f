/* What kernels may call. */
#ifndef M2_EMU_DEVICE_H
#define M2_EMU_DEVICE_H

/* ---- where a thread is -------------------------------------------------- */

EMU_CALL uint3 emu_thread_index(void) __attribute__((const));
EMU_CALL uint3 emu_block_index(void) __attribute__((const));
EMU_CALL uint3 emu_block_size(void) __attribute__((const));
EMU_CALL uint3 emu_grid_size(void) __attribute__((const));

template <uint3 (*where)(), int axis> struct emu_coordinate {
    __attribute__((always_inline)) operator unsigned() const
    {
        uint3 at = where();

        return axis == 0 ? at.x : axis == 1 ? at.y : at.z;
    }
};
template <uint3 (*where)()> struct emu_coordinates {
    emu_coordinate<where, 0> x;
    emu_coordinate<where, 1> y;
    emu_coordinate<where, 2> z;
};
static const emu_coordinates<emu_thread_index> threadIdx{};
static const emu_coordinates<emu_block_index> blockIdx{};
static const emu_coordinates<emu_block_size> blockDim{};
static const emu_coordinates<emu_grid_size> gridDim{};

/* ---- shared memory, barriers ------------------------------------------------
 */

/* The block's array with this key, made at its first use. */
EMU_CALL void *emu_shared(const void *key, size_t bytes, size_t align);
EMU_CALL void *emu_dyn_shared(void);

EMU_CALL void emu_syncthreads(const char *file, int line);
EMU_CALL void emu_syncwarp(unsigned mask, const char *file, int line);
#define __syncthreads() emu_syncthreads(__FILE__, __LINE__)

static inline void __syncwarp(unsigned mask = 0xffffffffu,
                              const char *file = __builtin_FILE(),
                              int line = __builtin_LINE())
{
    emu_syncwarp(mask, file, line);
}

/* ---- warp operations ---------------------------------------------------- */

enum emu_shuffle {
    EMU_SHUFFLE_INDEX,
    EMU_SHUFFLE_UP,
    EMU_SHUFFLE_DOWN,
    EMU_SHUFFLE_XOR
};
enum emu_vote { EMU_VOTE_BALLOT, EMU_VOTE_ANY, EMU_VOTE_ALL };

EMU_CALL uint64_t emu_shuffle(unsigned mask, uint64_t value, int by, int width,
                              int how, const char *file, int line);
EMU_CALL unsigned emu_vote(unsigned mask, int predicate, int how,
                           const char *file, int line);

template <class T>
static inline T emu_shuffle_of(unsigned mask, T value, int by, int width,
                               int how, const char *file, int line)
{
    uint64_t bits = 0;

    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
    memcpy(&bits, &value, sizeof value);
    bits = emu_shuffle(mask, bits, by, width, how, file, line);
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define EMU_DEFINE_SHUFFLE(name, how)                                          \
    template <class T>                                                         \
    static inline T name(unsigned mask, T value, int by, int width = 32,       \
                         const char *file = __builtin_FILE(),                  \
                         int line = __builtin_LINE())                          \
    {                                                                          \
        return emu_shuffle_of(mask, value, by, width, how, file, line);        \
    }
EMU_DEFINE_SHUFFLE(__shfl_sync, EMU_SHUFFLE_INDEX)
EMU_DEFINE_SHUFFLE(__shfl_up_sync, EMU_SHUFFLE_UP)
EMU_DEFINE_SHUFFLE(__shfl_down_sync, EMU_SHUFFLE_DOWN)
EMU_DEFINE_SHUFFLE(__shfl_xor_sync, EMU_SHUFFLE_XOR)

#define __ballot_sync(mask, p)                                                 \
    emu_vote(mask, !!(p), EMU_VOTE_BALLOT, __FILE__, __LINE__)
#define __any_sync(mask, p)                                                    \
    ((int)emu_vote(mask, !!(p), EMU_VOTE_ANY, __FILE__, __LINE__))
#define __all_sync(mask, p)                                                    \
    ((int)emu_vote(mask, !!(p), EMU_VOTE_ALL, __FILE__, __LINE__))

/* ---- atomics ------------------------------------------------------------ */

/* An access by one indivisible operation; refuses floating-point numbers,
 * whose sum would depend on the order. */
EMU_CALL void emu_atomic(const void *at, size_t bytes, int is_float);

#define EMU_UNCHECKED __attribute__((no_sanitize("thread"), noinline))

template <class T> static inline EMU_UNCHECKED T atomicAdd(T *at, T value)
{
    T old;

    emu_atomic(at, sizeof *at, std::is_floating_point<T>::value);
    old = *at;
    *at = (T)(old + value);
    return old;
}
template <class T> static inline EMU_UNCHECKED T atomicMax(T *at, T value)
{
    T old;

    emu_atomic(at, sizeof *at, 0);
    old = *at;
    if (value > old)
        *at = value;
    return old;
}
template <class T> static inline EMU_UNCHECKED T atomicMin(T *at, T value)
{
    T old;

    emu_atomic(at, sizeof *at, 0);
    old = *at;
    if (value < old)
        *at = value;
    return old;
}

/* ---- arithmetic --------------------------------------------------------- */

static inline float rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}
static inline double rsqrt(double x)
{
    return 1.0 / sqrt(x);
}
static inline int __popc(unsigned x)
{
    return __builtin_popcount(x);
}
static inline int __ffs(unsigned x)
{
    return __builtin_ffs((int)x);
}
template <class T> static inline T __ldg(const T *at)
{
    return *at;
}

#define EMU_DEFINE_MIN_MAX(T)                                                  \
    static inline constexpr T min(T a, T b)                                    \
    {                                                                          \
        return b < a ? b : a;                                                  \
    }                                                                          \
    static inline constexpr T max(T a, T b)                                    \
    {                                                                          \
        return a < b ? b : a;                                                  \
    }
EMU_DEFINE_MIN_MAX(int)
EMU_DEFINE_MIN_MAX(unsigned)
EMU_DEFINE_MIN_MAX(long)
EMU_DEFINE_MIN_MAX(unsigned long)
EMU_DEFINE_MIN_MAX(long long)
EMU_DEFINE_MIN_MAX(float)
EMU_DEFINE_MIN_MAX(double)

#endif
