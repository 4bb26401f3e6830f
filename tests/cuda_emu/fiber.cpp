/* Stacks for the threads of a block, and switching between them: about ten
 * instructions, where a thread of the system would cost a microsecond. */
#include "emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

extern "C" void emu_switch_stacks(void **save, void *load);

#if defined(__x86_64__)
enum { SAVED_WORDS = 6 };
asm(R"(
.text
.p2align 4
.local emu_switch_stacks
.type emu_switch_stacks, @function
emu_switch_stacks:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
.size emu_switch_stacks, .-emu_switch_stacks
)");
#elif defined(__aarch64__)
enum { SAVED_WORDS = 20, LINK_REGISTER = 11 };
asm(R"(
.text
.p2align 4
.local emu_switch_stacks
.type emu_switch_stacks, %function
emu_switch_stacks:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, 16]
    stp x23, x24, [sp, 32]
    stp x25, x26, [sp, 48]
    stp x27, x28, [sp, 64]
    stp x29, x30, [sp, 80]
    stp d8, d9, [sp, 96]
    stp d10, d11, [sp, 112]
    stp d12, d13, [sp, 128]
    stp d14, d15, [sp, 144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, 16]
    ldp x23, x24, [sp, 32]
    ldp x25, x26, [sp, 48]
    ldp x27, x28, [sp, 64]
    ldp x29, x30, [sp, 80]
    ldp d8, d9, [sp, 96]
    ldp d10, d11, [sp, 112]
    ldp d12, d13, [sp, 128]
    ldp d14, d15, [sp, 144]
    add sp, sp, #160
    ret
.size emu_switch_stacks, .-emu_switch_stacks
)");
#else
#error "no switch of stacks for this processor"
#endif

static emu_fiber main_fiber, *current = &main_fiber;

static char *new_stack(void)
{
    char *memory =
        (char *)mmap(NULL, EMU_STACK + EMU_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        perror("cuda_emu: no memory for a stack");
        abort();
    }
    mprotect(memory, EMU_PAGE, PROT_NONE);
    return memory + EMU_PAGE;
}

/* The tops of the stacks are spread over the sets of the cache. */
emu_fiber *emu_fiber_new(void (*entry)(void))
{
    static unsigned count;
    emu_fiber *fiber = new emu_fiber{NULL, new_stack()};
    uint64_t *top =
        (uint64_t *)(fiber->stack + EMU_STACK - 64 * (count++ * 5 % 61));

#if defined(__x86_64__)
    *--top = 0; /* where entry would return to, and the alignment of a call */
    *--top = (uint64_t)entry;
    for (int i = 0; i < SAVED_WORDS; i++)
        *--top = 0;
#else
    top -= SAVED_WORDS;
    memset(top, 0, SAVED_WORDS * sizeof *top);
    top[LINK_REGISTER] = (uint64_t)entry;
#endif
    fiber->stack_pointer = top;
    return fiber;
}

emu_fiber *emu_fiber_now(void)
{
    return current;
}

emu_fiber *emu_fiber_main(void)
{
    return &main_fiber;
}

void emu_fiber_enter_main(void)
{
    current = &main_fiber;
}

void emu_fiber_switch(emu_fiber *to)
{
    emu_fiber *from = current;

    if (from == to)
        return;
    current = to;
    emu_switch_stacks(&from->stack_pointer, to->stack_pointer);
}

bool emu_fiber_overflow(const void *at)
{
    return current != &main_fiber &&
           (size_t)((const char *)at - (current->stack - EMU_PAGE)) < EMU_PAGE;
}

bool emu_fiber_owns(const void *at)
{
    return (size_t)((const char *)at - current->stack) < EMU_STACK;
}
