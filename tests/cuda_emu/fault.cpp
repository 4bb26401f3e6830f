/* SIGSEGV: who touched what. */
#include "emu.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

static struct sigaction before;

static const void *program_counter(void *context)
{
    ucontext_t *uc = (ucontext_t *)context;

#if defined(__x86_64__)
    return (const char *)uc->uc_mcontext.gregs[REG_RIP] + 1;
#elif defined(__aarch64__)
    return (const char *)uc->uc_mcontext.pc + 1;
#endif
}

/* A fault that is not ours is left to who was there before. */
static bool is_ours(const void *at)
{
    return emu_is_device(at) || emu_near_shared(at) || emu_in_kernel() ||
           emu_is_open();
}

static void on_fault(int, siginfo_t *info, void *context)
{
    const void *at = info->si_addr;

    if (emu_open_touched(at))
        return;
    if (!is_ours(at)) {
        sigaction(SIGSEGV, &before, NULL); /* and it happens again */
        return;
    }
    emu.collect = false;
    if (emu_in_kernel() && emu_fiber_overflow(at))
        emu_mistake(program_counter(context),
                    "the stack of a thread is full "
                    "(%zu bytes)",
                    EMU_STACK);
    emu_mistake(program_counter(context), "%s: %s",
                emu_in_kernel() ? "a kernel's access to memory that is not "
                                  "there"
                : emu_is_open() ? "cuBLAS or a copy"
                                : "the host touches device memory",
                emu_describe_address(at).c_str());
}

/* On a stack of its own: the thread's may be full. */
void emu_fault_init(void)
{
    static const size_t bytes = (size_t)256 << 10;
    struct sigaction action = {};
    stack_t stack = {};

    stack.ss_size = bytes;
    stack.ss_sp = malloc(bytes);
    sigaltstack(&stack, NULL);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &before);
}
