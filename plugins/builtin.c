/* The backend that is linked into the program, as if it had been loaded. */
#include "loader.h"

#include <pthread.h>

#include "backends/ref/ref.h"

static struct plugin builtin_ref;
static pthread_once_t builtin_once = PTHREAD_ONCE_INIT;

static void builtin_init(void)
{
    static char path[] = "built in";

    builtin_ref.descriptor = m2_ref_descriptor();
    builtin_ref.path = path;
}

const struct plugin *plugin_builtin_ref(void)
{
    pthread_once(&builtin_once, builtin_init);
    return &builtin_ref;
}
