/* Tests of the emulator: each case in a process of its own, because a mistake
 * that the emulator finds ends the process. */
#ifndef M2_EMU_CASES_H
#define M2_EMU_CASES_H

#include "emu.h"

#include "cublas_v2.h"

enum emu_build { BOTH, ONLY_CHECK, ONLY_FAST };

struct emu_case {
    const char *rule;     /* what the case shows */
    const char *settings; /* as in M2_EMU; "": none */
    void (*run)(void);
    int status;       /* exit: 0, 86 for a mistake; -N: ends by signal N */
    const char *says; /* part of stderr; NULL: anything */
    enum emu_build build = BOTH;
};

/* Adds cases to those that the program runs; from a constructor. */
void emu_add_cases(const emu_case *cases, size_t n);

/* Ends a case that does not hold. */
#define EXPECT(holds)                                                          \
    ((holds) ? (void)0 : emu_expect_failed(#holds, __FILE__, __LINE__))
#define EXPECT_EQUAL(a, b)                                                     \
    emu_expect_equal((double)(a), (double)(b), #a " == " #b, __FILE__, __LINE__)
/* A call that succeeds. */
#define GOOD(call) EXPECT_EQUAL(call, cudaSuccess)

void emu_expect_failed(const char *what, const char *file, int line);
void emu_expect_equal(double a, double b, const char *what, const char *file,
                      int line);

/* A new stream; n bytes of device memory; n bytes of pinned memory. */
cudaStream_t new_stream(void);
char *new_device(size_t bytes);
char *new_pinned(size_t bytes);

/* Host to device and back, and wait for it. */
void send(void *device, const void *host, size_t bytes, cudaStream_t stream);
void fetch(void *host, const void *device, size_t bytes, cudaStream_t stream);

#endif
