/* Facts about this build: the only file recompiled at every commit. */
#include "util/build.h"

#include "build-info.h"

const struct build_facts *build_facts(void)
{
    static const struct build_facts facts = {
        .version = M2_BUILD_VERSION,
        .commit = M2_BUILD_COMMIT,
        .dirty = M2_BUILD_DIRTY,
        .difference = M2_BUILD_DIFFERENCE,
        .compiler = M2_BUILD_COMPILER,
        .cflags = M2_BUILD_CFLAGS,
    };
    return &facts;
}
