/* Text that may not be UTF-8. */
#include "util/json.h"

#include <stdlib.h>
#include <string.h>

json_t *json_any_text(const char *text)
{
    json_t *string = json_string(text);
    char *plain;

    if (string != NULL)
        return string;
    plain = strdup(text);
    if (plain == NULL)
        return NULL;
    for (char *c = plain; *c != '\0'; c++)
        if ((unsigned char)*c > 0x7f)
            *c = '?';
    string = json_string(plain);
    free(plain);
    return string;
}
