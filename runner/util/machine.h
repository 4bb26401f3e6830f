/* Processor, C library and shared objects: what decides which instructions
 * compute. */
#ifndef M2_UTIL_MACHINE_H
#define M2_UTIL_MACHINE_H

/* Empty where the system does not tell. */
struct machine_facts {
    char cpu[160]; /* "AMD EPYC 7713, family 25, model 1, stepping 1" */
    char isa[480]; /* those of its features that choose between kernels, as
                      "sse4_2 avx avx2 fma avx512f" */
    char libc[48]; /* "glibc 2.36" */
};
void machine_facts(struct machine_facts *out);

/* Calls visit for every shared object of this process, in the order of
 * loading: its file name without folders, and its build id in hex, which names
 * the one build of it.  Those without a build id are left out.  Returns the
 * first value of visit that is not 0. */
#define MACHINE_BUILD_ID_SIZE 65
int machine_libraries(int (*visit)(void *context, const char *name,
                                   const char build_id[MACHINE_BUILD_ID_SIZE]),
                      void *context);

#endif
