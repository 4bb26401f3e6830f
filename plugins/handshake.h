/* The handshake: what a plugin's descriptor must say to be accepted.
 *
 * Everything is compared before any slot is called, and each difference has
 * its own message with both sides.  path begins every message. */
#ifndef M2_PLUGINS_HANDSHAKE_H
#define M2_PLUGINS_HANDSHAKE_H

#include "m2_plugin.h"

/* Checks sizes, ABI number, kind, name (file_name is NAME of m2_NAME.so),
 * required slots, and the argument size of every slot that both sides know.
 * Slots beyond those known here belong to a newer plugin and are ignored. */
int handshake_check(const struct m2_plugin *descriptor, const char *path,
                    const char *file_name, struct m2_error *err);

/* "backend", "data plugin". */
const char *handshake_kind_name(uint32_t kind);

#endif
