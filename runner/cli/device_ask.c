/* Asking `m2run devices DEVICE --json`. */
#include "cli/device_ask.h"

#include <jansson.h>
#include <stdio.h>

#include "schedule/child.h"

static void take_text(const json_t *object, const char *key, char *out,
                      size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));

    snprintf(out, size, "%s", text != NULL ? text : "");
}

static void take_answer(const json_t *root, struct device_answer *out)
{
    const json_t *list = json_object_get(root, "backends");
    const json_t *backend = json_array_get(list, 0);

    take_text(backend, "backend", out->backend, sizeof out->backend);
    take_text(backend, "error", out->reason, sizeof out->reason);
    take_text(root, "chosen", out->why, sizeof out->why);
    out->count = (int)json_array_size(json_object_get(backend, "devices"));
}

int device_ask(const char *word, struct device_answer *out,
               struct m2_error *err)
{
    const char *argv[] = {NULL, "devices", "--json", "--", word, NULL};
    struct child child = {.process = {0}};
    json_t *root = NULL;
    int code = child_start(&child, argv, err);

    *out = (struct device_answer){.count = 0};
    if (code == 0) {
        child_listen(&child, 1);
        child_wait(&child);
        root = json_loads(text_string(&child.out), 0, NULL);
        if (root == NULL)
            snprintf(out->reason, sizeof out->reason,
                     "device %s cannot be asked: %.500s", word,
                     child_last_message(&child));
        else
            take_answer(root, out);
    }
    json_decref(root);
    child_free(&child);
    return code;
}
