/* facts.c: the processor, the variant of the ops it gets, and OpenBLAS. */
#include <cblas.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "backends/cpu/cpu.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
const char cpu_build[] =
    "m2run " PACKAGE_VERSION ", " COMPILER ", built with" OPENBLAS_VERSION;

extern const struct variant variant_f32_base, variant_f64_base;
#ifdef __x86_64__
extern const struct variant variant_f32_avx2, variant_f64_avx2;
extern const struct variant variant_f32_avx512, variant_f64_avx512;
#endif

/* Best first; available[i] tells whether this processor has it. */
enum { N_ISA = 3 };
static const struct variant *const variants[N_ISA][2] = {
#ifdef __x86_64__
    {&variant_f32_avx512, &variant_f64_avx512},
    {&variant_f32_avx2, &variant_f64_avx2},
#else
    {NULL, NULL},
    {NULL, NULL},
#endif
    {&variant_f32_base, &variant_f64_base}};

static bool available(int isa)
{
#ifdef __x86_64__
    if (isa == 0)
        return __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("fma");
    if (isa == 1)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return isa == N_ISA - 1;
}

int variant_choose(enum m2_dtype real, const struct variant **out,
                   struct m2_error *err)
{
    const char *wanted = getenv("M2_CPU_ISA");

    for (int isa = 0; isa < N_ISA; isa++) {
        const struct variant *variant = variants[isa][real == M2_F64];

        if (!available(isa))
            continue;
        if (wanted != NULL && strcmp(wanted, variant->isa) != 0)
            continue;
        *out = variant;
        return M2_OK;
    }
    return m2_fail(err, M2_E_DEVICE,
                   "cpu: M2_CPU_ISA is \"%s\", but this processor and build "
                   "offer: base%s%s",
                   wanted, available(1) ? ", avx2" : "",
                   available(0) ? ", avx512" : "");
}

static const char *openblas_flavour(void)
{
    static const char *const names[] = {"one thread only", "pthreads",
                                        "OpenMP"};
    int flavour = openblas_get_parallel();

    return flavour >= 0 && flavour <= 2 ? names[flavour] : "unknown threading";
}

int openblas_prepare(int threads, struct m2_error *err)
{
    if (threads > 1 && openblas_get_parallel() == 0)
        return m2_fail(err, M2_E_DEVICE,
                       "cpu: this OpenBLAS was built without threads, and may "
                       "not be called from %d threads at once; set threads: 1 "
                       "or install its OpenMP or pthread build",
                       threads);
    openblas_set_num_threads(1);
    return M2_OK;
}

/* The processor's own name, as "AMD EPYC 7713". */
static void processor_name(char name[49])
{
#ifdef __x86_64__
    unsigned words[12], *w = words;

    if ((unsigned)__get_cpuid_max(0x80000000u, NULL) >= 0x80000004u) {
        for (unsigned leaf = 0x80000002u; leaf <= 0x80000004u; leaf++, w += 4)
            __get_cpuid(leaf, &w[0], &w[1], &w[2], &w[3]);
        memcpy(name, words, 48);
        name[48] = '\0';
        for (size_t n = strlen(name); n > 0 && name[n - 1] == ' '; n--)
            name[n - 1] = '\0';
        return;
    }
#endif
    strcpy(name, "CPU");
}

/* The library that multiplies where the variant leaves that to it, as
 * ", OpenBLAS 0.3.21 Haswell": its version and core decide the bits. */
static void library_name(const struct variant *variant, char name[48])
{
    const char *config = openblas_get_config();
    int length = (int)strcspn(config, " ");

    length += (int)strcspn(config + length + (config[length] != '\0'), " ") + 1;
    name[0] = '\0';
    if (variant->openblas)
        snprintf(name, 48, ", %.*s %.16s", length < 28 ? length : 28, config,
                 openblas_get_corename());
}

static void describe(struct m2_device_facts *facts,
                     const struct variant *variant)
{
    long page = sysconf(_SC_PAGESIZE);
    char name[49], library[48];

    processor_name(name);
    library_name(variant, library);
    memset(facts, 0, sizeof *facts);
    snprintf(facts->name, sizeof facts->name, "%.40s (%s%s)", name,
             variant->isa, library);
    snprintf(
        facts->facts, sizeof facts->facts, "products by %s; %s, core %s, %s",
        variant->openblas ? "OpenBLAS" : "own kernels", openblas_get_config(),
        openblas_get_corename(), openblas_flavour());
    facts->memory_bytes = (uint64_t)page * (uint64_t)sysconf(_SC_PHYS_PAGES);
    facts->memory_free_bytes =
        (uint64_t)page * (uint64_t)sysconf(_SC_AVPHYS_PAGES);
}

int cpu_devices(void *handle, void *args, struct m2_error *err)
{
    struct m2_devices *devices = args;
    const struct variant *variant;
    int code;

    (void)handle;
    code = variant_choose(M2_F32, &variant, err);
    if (code != M2_OK)
        return code;
    if (devices->index > 0)
        return m2_fail(err, M2_E_DEVICE,
                       "cpu: device %d does not exist, there is only 0",
                       devices->index);
    devices->count_out = 1;
    if (devices->index == 0)
        describe(&devices->facts_out, variant);
    return M2_OK;
}
