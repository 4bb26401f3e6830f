/* json_check FILE [KEY|INDEX ...]: is the file one JSON value, and what is at
 * this path of it?  Prints strings bare, other values as JSON. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const json_t *step_into(const json_t *value, const char *word)
{
    if (json_is_array(value))
        return json_array_get(value, strtoul(word, NULL, 10));
    return json_object_get(value, word);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *file;
    const json_t *value;

    if (argc < 2)
        return 2;
    file = json_load_file(argv[1], JSON_DECODE_ANY, &error);
    value = file;
    if (file == NULL)
        fprintf(stderr, "%s:%d:%d: %s\n", argv[1], error.line, error.column,
                error.text);
    for (int i = 2; value != NULL && i < argc; i++) {
        value = step_into(value, argv[i]);
        if (value == NULL)
            fprintf(stderr, "%s: nothing at %s\n", argv[1], argv[i]);
    }
    if (json_is_string(value))
        puts(json_string_value(value));
    else if (value != NULL && argc > 2 &&
             json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY) == 0)
        putchar('\n');
    json_decref(file);
    return value != NULL ? 0 : 1;
}
