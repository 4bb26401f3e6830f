/* Text of any kind as JSON. */
#ifndef M2_UTIL_JSON_H
#define M2_UTIL_JSON_H

#include <jansson.h>

/* A new string.  JSON is UTF-8, file names and what quotes them need not be:
 * in a text that is not, every byte beyond ASCII becomes a '?'.  NULL only
 * when out of memory. */
json_t *json_any_text(const char *text);

#endif
