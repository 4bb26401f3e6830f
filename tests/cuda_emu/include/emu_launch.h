/* cudaLaunchKernelEx, the one form of launching: it has the same signature in
 * the real toolkit.  The arguments are copied into a closure, and described so
 * that the emulator can look for host pointers among them. */
#ifndef M2_EMU_LAUNCH_H
#define M2_EMU_LAUNCH_H

#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

struct emu_argument {
    unsigned short offset, size; /* within the closure */
    bool is_pointer, is_const;   /* a pointer; to const */
};

/* Enqueues a kernel.  invoke runs it for the current thread, destroy frees the
 * closure, which the emulator owns from here on. */
EMU_CALL cudaError_t emu_launch(const cudaLaunchConfig_t *config,
                                const void *function, void (*invoke)(void *),
                                void (*destroy)(void *), void *closure,
                                size_t closure_bytes,
                                const emu_argument *arguments, int n);

/* Names the next launch, for messages. */
EMU_CALL void emu_next_name(const char *kernel, const char *file, int line);

template <class... P> struct emu_closure {
    void (*kernel)(P...);
    std::tuple<P...> arguments;
};

template <class... P> static void emu_invoke(void *closure)
{
    auto *c = (emu_closure<P...> *)closure;

    std::apply(c->kernel, c->arguments);
}

template <class... P> static void emu_destroy(void *closure)
{
    delete (emu_closure<P...> *)closure;
}

template <class T>
static emu_argument emu_describe(const void *closure, const T &argument)
{
    static_assert(std::is_trivially_copyable<T>::value,
                  "kernel arguments are plain data");
    return {(unsigned short)((const char *)&argument - (const char *)closure),
            (unsigned short)sizeof(T), std::is_pointer<T>::value,
            std::is_const<std::remove_pointer_t<T>>::value};
}

template <class... P, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config,
                                             void (*kernel)(P...), A &&...given)
{
    using closure = emu_closure<P...>;
    /* zeroed first: padding must not look like a pointer */
    void *memory = operator new(sizeof(closure));
    closure *c = new (memset(memory, 0, sizeof(closure))) closure{
        kernel, std::tuple<P...>(static_cast<P>(std::forward<A>(given))...)};
    emu_argument arguments[sizeof...(P) + 1];
    int n = 0;

    std::apply(
        [&](const auto &...each) {
            ((arguments[n++] = emu_describe(c, each)), ...);
        },
        c->arguments);
    return emu_launch(config, (const void *)kernel, emu_invoke<P...>,
                      emu_destroy<P...>, c, sizeof(closure), arguments, n);
}

#endif
