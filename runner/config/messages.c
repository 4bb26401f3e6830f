/* Messages with source line and caret. */
#include "config/messages.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

enum {
    MAX_MESSAGES = 200, /* a file of errors is not read to its end */
    MAX_SHOWN = 100,    /* characters of a source line */
    MAX_LEFT = 70,      /* characters shown left of the caret */
};

void messages_free(struct messages *messages)
{
    for (size_t i = 0; i < messages->count; i++)
        free(messages->items[i].text);
    free(messages->items);
    *messages = (struct messages){0};
}

/* Bytes of the line break at p, 0 if there is none.  The same breaks as
 * libyaml counts: LF, CR LF, CR, NEL, LS and PS. */
static size_t break_size(const char *p, const char *end)
{
    size_t left = (size_t)(end - p);

    if (p[0] == '\r')
        return left > 1 && p[1] == '\n' ? 2 : 1;
    if (p[0] == '\n')
        return 1;
    if (left > 1 && memcmp(p, "\xC2\x85", 2) == 0)
        return 2;
    if (left > 2 && (memcmp(p, "\xE2\x80\xA8", 3) == 0 ||
                     memcmp(p, "\xE2\x80\xA9", 3) == 0))
        return 3;
    return 0;
}

/* The line `number` of a source, without its break. */
static const char *find_line(const struct source *source, int number,
                             size_t *size_out)
{
    const char *end = source->bytes + source->size;
    const char *line = source->bytes;
    const char *p = line;

    while (p < end) {
        size_t skip = break_size(p, end);

        if (skip == 0) {
            p++;
            continue;
        }
        if (--number == 0)
            break;
        p += skip;
        line = p;
    }
    *size_out = number <= 1 ? (size_t)(p - line) : 0;
    return line;
}

static const char *next_character(const char *p, const char *end)
{
    do
        p++;
    while (p < end && ((unsigned char)*p & 0xC0) == 0x80);
    return p;
}

const char *place_bytes(const struct place *place, size_t *size_out)
{
    size_t size;
    const char *p = find_line(place->source, place->line, &size),
               *end = p + size;

    for (int column = 1; column < place->column && p < end; column++)
        p = next_character(p, end);
    if (place->line < 1 || p >= end)
        return NULL;
    *size_out = (size_t)(place->source->bytes + place->source->size - p);
    return p;
}

/* Adds one character of the source, made harmless for a terminal. */
static void add_character(struct text *out, const char *p, const char *next)
{
    if ((unsigned char)*p < 0x20 && *p != '\t')
        text_add_char(out, '?');
    else
        text_add_bytes(out, p, (size_t)(next - p));
}

/* The source line, cut around the place, and the caret line below it. */
static void add_excerpt(struct text *out, const struct place *place)
{
    struct text caret = {0};
    size_t size;
    const char *p = find_line(place->source, place->line, &size);
    const char *end = p + size;
    int first = place->column > MAX_LEFT ? place->column - MAX_LEFT : 1;
    int column = 1;

    for (; column < first && p < end; column++)
        p = next_character(p, end);
    text_addf(out, "%5d | %s", place->line, first > 1 ? "..." : "");
    text_addf(&caret, "      | %s", first > 1 ? "   " : "");
    for (; column < first + MAX_SHOWN && p < end; column++) {
        const char *next = next_character(p, end);

        add_character(out, p, next);
        if (column < place->column)
            text_add_char(&caret, *p == '\t' ? '\t' : ' ');
        else if (column < place->column + place->width)
            text_add_char(&caret, column == place->column ? '^' : '~');
        p = next;
    }
    if (column <= place->column) { /* the place is the end of the line */
        text_add_repeated(&caret, ' ', (size_t)(place->column - column));
        text_add_char(&caret, '^');
    }
    text_addf(out, "%s\n%s\n", p < end ? "..." : "", text_string(&caret));
    out->failed = out->failed || caret.failed;
    text_free(&caret);
}

static void render(struct text *out, int code, const struct place *place,
                   const char *what)
{
    text_add(out, place->source->name);
    if (place->line > 0)
        text_addf(out, ":%d:%d", place->line, place->column);
    text_addf(out, ": %s: %s\n", code == 0 ? "warning" : "error", what);
    if (place->line > 0)
        add_excerpt(out, place);
}

static bool is_known(const struct messages *messages, const char *text)
{
    for (size_t i = 0; i < messages->count; i++)
        if (strcmp(messages->items[i].text, text) == 0)
            return true;
    return false;
}

static void count(struct messages *messages, int code)
{
    if (code == 0)
        messages->n_warnings++;
    else
        messages->n_errors++;
}

static void add(struct messages *messages, int code, const struct place *place,
                const char *what)
{
    struct text rendered = {0};
    char *text;

    if (messages->count >= MAX_MESSAGES) {
        count(messages, code);
        messages->n_dropped++;
        return;
    }
    render(&rendered, code, place, what);
    text = text_steal(&rendered, NULL);
    if (text != NULL && is_known(messages, text)) {
        free(text);
        return;
    }
    count(messages, code);
    if (text == NULL || array_reserve(&messages->items, &messages->capacity,
                                      messages->count + 1,
                                      sizeof *messages->items, NULL) != 0) {
        free(text);
        messages->failed = true;
        return;
    }
    messages->items[messages->count] = (struct message){
        .code = code,
        .order = place->source->order,
        .line = place->line,
        .column = place->column,
        .sequence = messages->count,
        .text = text,
    };
    messages->count++;
}

__attribute__((format(printf, 4, 0))) static void
add_formatted(struct messages *messages, int code, struct place place,
              const char *format, va_list arguments)
{
    struct text what = {0};

    text_addv(&what, format, arguments);
    add(messages, code, &place, text_string(&what));
    messages->failed = messages->failed || what.failed;
    text_free(&what);
}

void message_error(struct messages *messages, struct place place,
                   const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_formatted(messages, M2_E_CONFIG, place, format, arguments);
    va_end(arguments);
}

void message_error_code(struct messages *messages, int code, struct place place,
                        const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_formatted(messages, code, place, format, arguments);
    va_end(arguments);
}

void message_warning(struct messages *messages, struct place place,
                     const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_formatted(messages, 0, place, format, arguments);
    va_end(arguments);
}

static int compare(const void *left, const void *right)
{
    const struct message *a = left, *b = right;

    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return a->sequence < b->sequence ? -1 : 1;
}

static void sort(struct messages *messages)
{
    if (messages->count > 1)
        qsort(messages->items, messages->count, sizeof *messages->items,
              compare);
}

void messages_print(struct messages *messages, struct text *out)
{
    sort(messages);
    for (size_t i = 0; i < messages->count; i++)
        text_add(out, messages->items[i].text);
    if (messages->n_dropped > 0)
        text_addf(out, "and %zu more\n", messages->n_dropped);
}

int messages_result(struct messages *messages, const char *name,
                    struct m2_error *err)
{
    int code = M2_E_CONFIG;

    if (messages->failed)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", name);
    if (messages->n_errors == 0)
        return 0;
    sort(messages);
    for (size_t i = messages->count; i-- > 0;)
        if (messages->items[i].code != 0)
            code = messages->items[i].code;
    return m2_fail(err, code, "%s: %zu error%s", name, messages->n_errors,
                   messages->n_errors == 1 ? "" : "s");
}
