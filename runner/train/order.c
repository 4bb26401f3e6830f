/* One permutation per epoch, from a random stream named after it. */
#include "train/order.h"

#include <inttypes.h>

#include "util/random.h"

int train_order(uint64_t seed, int64_t epoch, size_t n, size_t *out,
                struct m2_error *err)
{
    char name[48];

    if (n == 0)
        return m2_fail(err, M2_E_DATA, "no training windows");
    snprintf(name, sizeof name, "train/order/%" PRId64, epoch);
    random_permutation(random_stream(seed, name), n, out);
    return 0;
}
