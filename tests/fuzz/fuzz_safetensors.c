/* libFuzzer: any bytes as a safetensors file, and every element of it read. */
#include <stddef.h>
#include <stdint.h>

#include "model/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct m2_error err;
    struct st_file file;
    volatile double sum = 0;

    if (st_parse("fuzz", bytes, size, &file, &err) != 0)
        return 0;
    for (size_t i = 0; i < file.n_tensors; i++) {
        for (int64_t j = 0; j < file.tensors[i].n; j++) {
            sum += st_get(&file.tensors[i], j);
            sum += (double)st_get_int(&file.tensors[i], j);
        }
    }
    (void)sum;
    st_metadata(&file, "format");
    st_free(&file);
    return 0;
}
