/* Results as JSON on stdout. */
#include "cli/json_output.h"

int print_json(json_t *value, struct m2_error *err)
{
    int failed;

    if (value == NULL)
        return m2_fail(err, M2_E_MEMORY,
                       "out of memory, or text that is not "
                       "UTF-8");
    failed = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
    json_decref(value);
    putchar('\n');
    /* A stream that cannot be written is reported when the program ends. */
    if (failed != 0 && !ferror(stdout))
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    return 0;
}
