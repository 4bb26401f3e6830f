/* From the word in the experiment file to a backend and a device. */
#include "backends/select.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ops.h"
#include "plugins/loader.h"

enum { MAX_INDEX = 4095 };

int device_load(const struct device_choice *choice, const struct plugin **out,
                struct m2_error *err)
{
    struct m2_error cause;
    int code;

    if (strcmp(choice->backend, "ref") == 0) {
        *out = plugin_builtin_ref();
        return 0;
    }
    code = plugin_load(choice->backend, M2_PLUGIN_BACKEND, out, err);
    if (code != M2_E_DEVICE || strchr(choice->backend, '/') != NULL)
        return code;
    cause = *err;
    return m2_fail(err, code,
                   "device %s: %s\n  `m2run devices` lists what can be used",
                   choice->backend, cause.text);
}

/* The first line of a message, without the list that it opens. */
static int first_line(const char *text)
{
    size_t length = strcspn(text, "\n");

    if (text[length] == '\n' && length > 3 &&
        strncmp(text + length - 3, " in", 3) == 0)
        length -= 3;
    return length < 200 ? (int)length : 200;
}

/* First of cuda and cpu with a device. */
static void choose_auto(struct device_choice *out, char why[256])
{
    const struct device_choice cuda = {.backend = "cuda"};
    const struct plugin *plugin;
    struct m2_device_facts facts;
    struct m2_error cause = {0};
    int count = 0;

    *out = cuda;
    if (plugin_load(cuda.backend, M2_PLUGIN_BACKEND, &plugin, &cause) == 0 &&
        device_count(plugin, &count, &cause) == 0 &&
        device_facts(plugin, 0, &facts, &cause) == 0) {
        snprintf(why, 256, "device auto: cuda (%d device%s, the first is %s)",
                 count, count == 1 ? "" : "s", facts.name);
        return;
    }
    snprintf(out->backend, sizeof out->backend, "cpu");
    snprintf(why, 256, "device auto: cpu (no cuda: %.*s)",
             first_line(cause.text), cause.text);
}

/* Digits alone, up to MAX_INDEX. */
static bool parse_index(const char *text, int *out)
{
    size_t n = strspn(text, "0123456789");

    if (n == 0 || n > 4 || text[n] != '\0')
        return false;
    *out = atoi(text);
    return *out <= MAX_INDEX;
}

int device_choose(const char *device, struct device_choice *out, char why[256],
                  struct m2_error *err)
{
    const char *slash = strrchr(device, '/');
    const char *colon = strrchr(slash != NULL ? slash : device, ':');
    size_t length = colon != NULL ? (size_t)(colon - device) : strlen(device);
    int index = 0;

    why[0] = '\0';
    *out = (struct device_choice){0};
    if (strcmp(device, "auto") == 0) {
        choose_auto(out, why);
        return 0;
    }
    if (length >= sizeof out->backend)
        return m2_fail(err, M2_E_DEVICE,
                       "device: a name of %zu characters is too long", length);
    if (length == 0)
        return m2_fail(err, M2_E_DEVICE, "device '%s': no backend named",
                       device);
    if (colon != NULL && !parse_index(colon + 1, &index))
        return m2_fail(err, M2_E_DEVICE,
                       "device '%s': expected a device number, at most %d, "
                       "after ':'",
                       device, MAX_INDEX);
    if (length == 4 && strncmp(device, "auto", length) == 0)
        return m2_fail(err, M2_E_DEVICE,
                       "device '%s': auto takes no number; cuda:%d has one",
                       device, index);
    memcpy(out->backend, device, length);
    out->index = index;
    return 0;
}
