/* The exported symbol of the loadable module; the linked-in backend does
 * without it. */
#include "backends/ref/ref.h"

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
    (void)host;
    return m2_ref_descriptor();
}
