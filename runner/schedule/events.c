/* Events between a worker and its parent. */
#include "schedule/events.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/json.h"

static const char *const kind_names[] = {"", "progress", "end", "held",
                                         "error"};

/* JSON has no NaN: a number that is not finite is left out. */
static void add_number(struct json_builder *object, const char *key,
                       double value)
{
    if (isfinite(value))
        json_add(object, key, json_real(value));
}

static json_t *event_to_json(const struct event *event)
{
    struct json_builder object = json_build();

    json_add_text(&object, "event", kind_names[event->kind]);
    if (event->kind == EVENT_PROGRESS) {
        json_add_integer(&object, "step", event->step);
        json_add_integer(&object, "total", event->total);
        json_add_integer(&object, "saved", event->saved);
        add_number(&object, "loss", event->loss);
        add_number(&object, "rate", event->rate);
        add_number(&object, "eta", event->eta);
    }
    if (event->kind == EVENT_END || event->kind == EVENT_ERROR) {
        json_add_text(&object, "state", event->state);
        json_add_text(&object, "path", event->path);
        json_add_text(&object, "reason", event->reason);
        json_add_integer(&object, "code", event->code);
    }
    return json_built(&object);
}

void event_send(int fd, const struct event *event)
{
    json_t *object = event_to_json(event);
    char *line = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
    size_t length, sent = 0;

    json_decref(object);
    if (line == NULL)
        return;
    length = strlen(line);
    line[length++] = '\n'; /* in place of the NUL */
    while (sent < length) {
        ssize_t n = write(fd, line + sent, length - sent);

        if (n < 0 && errno == EINTR) /* a stop request */
            continue;
        if (n < 0)
            break;
        sent += (size_t)n;
    }
    free(line);
}

static double get_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void get_string(const json_t *object, const char *key, char *out,
                       size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));

    snprintf(out, size, "%s", text != NULL ? text : "");
}

void event_parse(const char *line, struct event *out)
{
    json_t *object = json_loads(line, 0, NULL);
    const char *name = json_string_value(json_object_get(object, "event"));

    *out = (struct event){.kind = EVENT_NONE};
    for (int i = 1; name != NULL && i <= EVENT_ERROR; i++)
        if (strcmp(name, kind_names[i]) == 0)
            out->kind = (enum event_kind)i;
    out->step = json_integer_value(json_object_get(object, "step"));
    out->total = json_integer_value(json_object_get(object, "total"));
    out->saved = json_integer_value(json_object_get(object, "saved"));
    out->code = (int)json_integer_value(json_object_get(object, "code"));
    out->loss = get_number(object, "loss");
    out->rate = get_number(object, "rate");
    out->eta = get_number(object, "eta");
    get_string(object, "state", out->state, sizeof out->state);
    get_string(object, "path", out->path, sizeof out->path);
    get_string(object, "reason", out->reason, sizeof out->reason);
    json_decref(object);
}
