/* Facts about this build of the runner: recorded in every run. */
#ifndef M2_UTIL_BUILD_H
#define M2_UTIL_BUILD_H

#include <stdbool.h>

struct build_facts {
    const char *version;    /* "0.1.0" */
    const char *commit;     /* 40 hex digits, or "unknown" */
    bool dirty;             /* built from a tree with uncommitted changes */
    const char *difference; /* SHA-256 of those changes, 64 hex digits; "" */
    const char *compiler;   /* first line of `cc --version` */
    const char *cflags;     /* CFLAGS as given to configure or make */
};

/* The facts; static, valid for ever. */
const struct build_facts *build_facts(void);

#endif
