/* Open devices and their memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device_internal.h"
#include "plugins/loader.h"

/* The open devices, so that a message can name the owner of a buffer.  A
 * buffer knows its handle only. */
static struct m2_device *open_devices;
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

const char *dtype_name(enum m2_dtype dtype)
{
    switch (dtype) {
    case M2_F32:
        return "f32";
    case M2_F64:
        return "f64";
    case M2_I32:
        return "i32";
    case M2_I64:
        return "i64";
    }
    return "of no known type";
}

/* Makes a plugin's failure a proper one: negative, with a message. */
static int complete_error(const struct m2_plugin *descriptor, int rc,
                          struct m2_error *err)
{
    if (rc > 0)
        return m2_fail(err, M2_E_INTERNAL,
                       "backend %s returned %d, which is no result code",
                       descriptor->name, rc);
    if (err != NULL && err->text[0] == '\0')
        return m2_fail(err, rc, "backend %s failed with code %d and no message",
                       descriptor->name, rc);
    return rc;
}

/* Calls a slot that needs no open device. */
static int plugin_call(const struct plugin *plugin, unsigned slot, void *args,
                       struct m2_error *err)
{
    int rc;

    if (err != NULL)
        err->text[0] = '\0';
    rc = plugin_slot(plugin, slot)(NULL, args, err);
    return rc == M2_OK ? rc : complete_error(plugin->descriptor, rc, err);
}

int device_slot(const struct m2_device *device, unsigned slot, void *args,
                struct m2_error *err)
{
    int rc;

    if (err != NULL)
        err->text[0] = '\0';
    rc = device->slots[slot](device->handle, args, err);
    return rc == M2_OK ? rc
                       : complete_error(device->plugin->descriptor, rc, err);
}

void device_describe(const struct m2_device *device, const void *handle,
                     char *out, size_t size)
{
    const struct m2_device *owner;

    pthread_mutex_lock(&open_lock);
    owner = open_devices;
    while (owner != NULL && owner->handle != handle)
        owner = owner->next;
    if (owner == NULL)
        snprintf(out, size, "a device that is not open");
    else if (strcmp(owner->label, device->label) == 0)
        snprintf(out, size, "another handle of %s (%s)", owner->label,
                 dtype_name(owner->real));
    else
        snprintf(out, size, "%s", owner->label);
    pthread_mutex_unlock(&open_lock);
}

int device_count(const struct plugin *plugin, int *count, struct m2_error *err)
{
    struct m2_devices devices = {.index = -1};
    int rc = plugin_call(plugin, M2_SLOT_DEVICES, &devices, err);

    if (rc == M2_OK && devices.count_out > 0) {
        *count = devices.count_out;
        return M2_OK;
    }
    *count = 0;
    if (rc != M2_OK || (err != NULL && err->text[0] != '\0'))
        return M2_E_DEVICE;
    return m2_fail(err, M2_E_DEVICE, "backend %s finds no device",
                   plugin->descriptor->name);
}

int device_facts(const struct plugin *plugin, int index,
                 struct m2_device_facts *facts, struct m2_error *err)
{
    struct m2_devices devices = {.index = index};
    int rc = plugin_call(plugin, M2_SLOT_DEVICES, &devices, err);

    if (rc == M2_OK)
        *facts = devices.facts_out;
    return rc;
}

/* "cpu", or "cuda:1" where the backend has more than one device. */
static void set_label(struct m2_device *device, int index)
{
    const char *name = device->plugin->descriptor->name;
    int count = 0;

    if (index == 0 && device_count(device->plugin, &count, NULL) == M2_OK &&
        count == 1)
        snprintf(device->label, sizeof device->label, "%s", name);
    else
        snprintf(device->label, sizeof device->label, "%s:%d", name, index);
}

static void list_add(struct m2_device *device)
{
    pthread_mutex_lock(&open_lock);
    device->next = open_devices;
    open_devices = device;
    pthread_mutex_unlock(&open_lock);
}

static void list_remove(const struct m2_device *device)
{
    struct m2_device **at = &open_devices;

    pthread_mutex_lock(&open_lock);
    while (*at != device)
        at = &(*at)->next;
    *at = device->next;
    pthread_mutex_unlock(&open_lock);
}

static int check_open(const struct plugin *plugin, enum m2_dtype real,
                      int threads, struct m2_error *err)
{
    const char *name = plugin->descriptor->name;

    if (real != M2_F32 && real != M2_F64)
        return m2_fail(err, M2_E_ARGUMENT,
                       "open %s: the real type is %s, expected f32 or f64",
                       name, dtype_name(real));
    if (threads < 1)
        return m2_fail(err, M2_E_ARGUMENT,
                       "open %s: threads is %d, expected at least 1", name,
                       threads);
    return M2_OK;
}

int device_open(const struct plugin *plugin, int index, enum m2_dtype real,
                int threads, struct m2_device **out, struct m2_error *err)
{
    const struct m2_open wanted = {
        .index = index, .real = real, .threads = threads};

    return device_open_with(plugin, &wanted, out, err);
}

int device_open_with(const struct plugin *plugin, const struct m2_open *wanted,
                     struct m2_device **out, struct m2_error *err)
{
    struct m2_open args = *wanted;
    struct m2_device *device;
    int rc = check_open(plugin, args.real, args.threads, err);

    if (rc != M2_OK)
        return rc;
    device = calloc(1, sizeof *device);
    if (device == NULL)
        return m2_fail(err, M2_E_MEMORY, "out of memory");
    args.handle_out = NULL;
    rc = plugin_call(plugin, M2_SLOT_OPEN, &args, err);
    if (rc == M2_OK && args.handle_out == NULL)
        rc = m2_fail(err, M2_E_INTERNAL, "backend %s opened no handle",
                     plugin->descriptor->name);
    if (rc != M2_OK) {
        free(device);
        return rc;
    }
    device->plugin = plugin;
    device->handle = args.handle_out;
    device->real = args.real;
    for (unsigned slot = 0; slot < M2_BACKEND_N_SLOTS; slot++)
        device->slots[slot] = plugin_slot(plugin, slot);
    set_label(device, args.index);
    list_add(device);
    *out = device;
    return M2_OK;
}

void device_close(struct m2_device *device)
{
    if (device == NULL)
        return;
    list_remove(device);
    device_slot(device, M2_SLOT_CLOSE, NULL, NULL);
    free(device);
}

const char *device_label(const struct m2_device *device)
{
    return device->label;
}

enum m2_dtype device_real(const struct m2_device *device)
{
    return device->real;
}

const struct plugin *device_plugin(const struct m2_device *device)
{
    return device->plugin;
}

size_t device_bytes(const struct m2_device *device)
{
    return device->buffer_bytes + device->scratch_reserved;
}

int device_sync(struct m2_device *device, struct m2_error *err)
{
    return device_slot(device, M2_SLOT_SYNC, NULL, err);
}

void device_observe(struct m2_device *device,
                    const struct device_observer *observer)
{
    device->observer = observer;
}

/* Calls a slot that a backend may lack. */
static int step_slot(const struct m2_device *device, unsigned slot,
                     struct m2_error *err)
{
    if (device->slots[slot] == NULL || device->observer != NULL)
        return M2_OK;
    return device_slot(device, slot, NULL, err);
}

bool device_has_steps(const struct m2_device *device)
{
    return device->slots[M2_SLOT_STEP_BEGIN] != NULL &&
           device->slots[M2_SLOT_STEP_END] != NULL;
}

int device_step_begin(struct m2_device *device, struct m2_error *err)
{
    return step_slot(device, M2_SLOT_STEP_BEGIN, err);
}

int device_step_end(struct m2_device *device, struct m2_error *err)
{
    return step_slot(device, M2_SLOT_STEP_END, err);
}
