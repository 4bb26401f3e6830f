/* Which devices there are, and what they are. */
#include "backends/cuda/cuda.cuh"

#include <stdio.h>
#include <string.h>

#ifdef __CUDACC_VER_MAJOR__
#define STRING_(x) #x
#define STRING(x)  STRING_(x)
#define COMPILER                                                               \
    "nvcc " STRING(__CUDACC_VER_MAJOR__) "." STRING(__CUDACC_VER_MINOR__)
#else
#define COMPILER "emulated on the processor"
#endif

const char cuda_build[] = "m2run " PACKAGE_VERSION ", " COMPILER
                          ", host compiler " __VERSION__ ", for " M2_CUDA_ARCHS;

/* Versions come as 1000 * major + 10 * minor. */
static int major_of(int version)
{
    return version / 1000;
}

static int minor_of(int version)
{
    return version % 1000 / 10;
}

static int describe(int index, struct m2_device_facts *facts,
                    struct m2_error *err)
{
    cudaDeviceProp device;
    char pci[32] = "";
    int driver = 0, runtime = 0;
    size_t free_bytes = 0, total = 0;
    int code = cuda_check(cudaGetDeviceProperties(&device, index),
                          "device properties", err);

    if (code == M2_OK)
        code = cuda_check(cudaDeviceGetPCIBusId(pci, sizeof pci, index),
                          "PCI address", err);
    if (code == M2_OK)
        code = cuda_check(cudaDriverGetVersion(&driver), "driver version", err);
    if (code == M2_OK)
        code =
            cuda_check(cudaRuntimeGetVersion(&runtime), "runtime version", err);
    if (code == M2_OK)
        code = cuda_check(cudaSetDevice(index), "select device", err);
    if (code == M2_OK)
        code =
            cuda_check(cudaMemGetInfo(&free_bytes, &total), "free memory", err);
    if (code != M2_OK)
        return code;
    memset(facts, 0, sizeof *facts);
    snprintf(facts->name, sizeof facts->name, "%.95s", device.name);
    snprintf(facts->facts, sizeof facts->facts,
             "compute capability %d.%d, %d multiprocessors, PCI %s, driver "
             "%d.%d, runtime %d.%d, cuBLAS %d.%d",
             device.major, device.minor, device.multiProcessorCount, pci,
             major_of(driver), minor_of(driver), major_of(runtime),
             minor_of(runtime), CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR);
    facts->memory_bytes = total;
    facts->memory_free_bytes = free_bytes;
    return M2_OK;
}

int cuda_devices(void *handle, void *args, struct m2_error *err)
{
    struct m2_devices *devices = (struct m2_devices *)args;
    int code;

    (void)handle;
    devices->count_out = 0;
    code = cuda_check(cudaGetDeviceCount(&devices->count_out), "devices", err);
    if (code != M2_OK) {
        devices->count_out = 0;
        return M2_E_DEVICE;
    }
    if (devices->index == -1)
        return M2_OK;
    if (devices->index < 0 || devices->index >= devices->count_out)
        return m2_fail(err, M2_E_DEVICE,
                       M2_CUDA_NAME ": device %d does not exist, there %s %d",
                       devices->index, devices->count_out == 1 ? "is" : "are",
                       devices->count_out);
    return describe(devices->index, &devices->facts_out, err);
}
