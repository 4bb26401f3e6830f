/* Are these the data that a run was trained on? */
#ifndef M2_CLI_REPRODUCE_DATA_H
#define M2_CLI_REPRODUCE_DATA_H

#include "config/config.h"

/* fingerprint: as recorded, a line "name sha256" per file; NULL: not known.
 * M2_E_DATA with every file that is missing, is too many or has other
 * contents, and both digests.  The same contents under another name are
 * accepted, with a warning. */
int reproduce_check_data(const struct config_data *config,
                         const char *fingerprint, struct m2_error *err);

#endif
