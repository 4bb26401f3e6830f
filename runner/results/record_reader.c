/* Reading run.json files that have most of their bytes in common. */
#include "results/record_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/memory.h"
#include "util/text.h"

enum { RECORD_LIMIT = 16 << 20, KEY_SIZE = 256 };

static void forget(struct record_members *members)
{
    for (size_t i = 0; i < members->n; i++)
        json_decref(members->items[i].value);
    members->n = 0;
}

void record_reader_free(struct record_reader *reader)
{
    forget(&reader->top);
    forget(&reader->config);
    free(reader->top.items);
    free(reader->config.items);
    free(reader->buffers[0].bytes);
    free(reader->buffers[1].bytes);
    *reader = (struct record_reader){0};
}

/* ---- extents ------------------------------------------------------------- */

/* The rest of a record; every function below moves `at` only forward, to at
 * most `end`. */
struct cursor {
    const char *at, *end;
};

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static bool ends_value(char byte)
{
    return byte == ',' || byte == '}' || byte == ']' || is_blank(byte);
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && is_blank(*cursor->at))
        cursor->at++;
}

static bool skip_byte(struct cursor *cursor, char byte)
{
    skip_blanks(cursor);
    if (cursor->at == cursor->end || *cursor->at != byte)
        return false;
    cursor->at++;
    return true;
}

/* Behind the closing quote of a string: one after an even number of
 * backslashes. */
static bool skip_string(struct cursor *cursor)
{
    const char *start = cursor->at;

    for (;;) {
        const char *quote =
            memchr(cursor->at + 1, '"', (size_t)(cursor->end - cursor->at - 1));
        const char *p = quote;

        if (quote == NULL)
            return false;
        cursor->at = quote;
        while (p - 1 > start && p[-1] == '\\')
            p--;
        if ((quote - p) % 2 == 0)
            break;
    }
    cursor->at++;
    return true;
}

/* An object or list; what is between its brackets is for the parser. */
static bool skip_nested(struct cursor *cursor)
{
    size_t depth = 0;

    while (cursor->at < cursor->end) {
        char byte = *cursor->at;

        if (byte == '"') {
            if (!skip_string(cursor))
                return false;
            continue;
        }
        cursor->at++;
        if (byte == '{' || byte == '[')
            depth++;
        else if ((byte == '}' || byte == ']') && --depth == 0)
            return true;
    }
    return false;
}

static bool skip_value(struct cursor *cursor)
{
    if (cursor->at == cursor->end)
        return false;
    if (*cursor->at == '"')
        return skip_string(cursor);
    if (*cursor->at == '{' || *cursor->at == '[')
        return skip_nested(cursor);
    while (cursor->at < cursor->end && !ends_value(*cursor->at))
        cursor->at++;
    return true;
}

/* ---- members ------------------------------------------------------------- */

/* Does the record before have the same bytes here, up to the value's end?  Of
 * earlier ones the bytes are gone. */
static bool is_same(const struct record_reader *reader,
                    const struct record_member *before,
                    const struct cursor *cursor)
{
    return before->record + 1 == reader->record &&
           (size_t)(cursor->end - cursor->at) > before->size &&
           memcmp(cursor->at, before->bytes, before->size) == 0 &&
           ends_value(cursor->at[before->size]);
}

/* Takes the value; NULL: the record is not plain, or memory is short. */
static bool remember(struct record_members *members, size_t index,
                     const struct record_member *member)
{
    if (member->value == NULL)
        return false;
    if (index == members->n) {
        if (array_reserve(&members->items, &members->capacity, members->n + 1,
                          sizeof *members->items, NULL) != 0) {
            json_decref(member->value);
            return false;
        }
        members->n++;
    } else {
        json_decref(members->items[index].value);
    }
    members->items[index] = *member;
    return true;
}

static json_t *parse_value(struct cursor *cursor)
{
    const char *start = cursor->at;

    if (!skip_value(cursor))
        return NULL;
    return json_loadb(start, (size_t)(cursor->at - start), JSON_DECODE_ANY,
                      NULL);
}

static json_t *parse_members(struct record_reader *reader,
                             struct record_members *members,
                             struct cursor *cursor);

/* Value of member `index`, borrowed from the members. */
static json_t *read_value(struct record_reader *reader,
                          struct record_members *members, size_t index,
                          bool is_config, struct cursor *cursor)
{
    struct record_member member = {.bytes = cursor->at,
                                   .record = reader->record};

    if (index < members->n && is_same(reader, &members->items[index], cursor)) {
        members->items[index].bytes = cursor->at;
        members->items[index].record = reader->record;
        cursor->at += members->items[index].size;
        return members->items[index].value;
    }
    member.value = is_config ? parse_members(reader, &reader->config, cursor)
                             : parse_value(cursor);
    member.size = (size_t)(cursor->at - member.bytes);
    return remember(members, index, &member) ? member.value : NULL;
}

/* A key without escapes, and the colon after it. */
static bool read_key(struct cursor *cursor, char key[KEY_SIZE])
{
    const char *start;
    size_t length;

    skip_blanks(cursor);
    start = cursor->at + 1;
    if (cursor->at == cursor->end || *cursor->at != '"' || !skip_string(cursor))
        return false;
    length = (size_t)(cursor->at - 1 - start);
    if (length >= KEY_SIZE || memchr(start, '\\', length) != NULL ||
        memchr(start, '\0', length) != NULL)
        return false;
    memcpy(key, start, length);
    key[length] = '\0';
    return skip_byte(cursor, ':');
}

/* Adds a member to the object; false where the record is not plain. */
static bool read_member(struct record_reader *reader,
                        struct record_members *members, size_t index,
                        struct cursor *cursor, json_t *object)
{
    char key[KEY_SIZE];
    json_t *value;

    if (!read_key(cursor, key))
        return false;
    skip_blanks(cursor);
    value = read_value(reader, members, index,
                       members == &reader->top && strcmp(key, "config") == 0,
                       cursor);
    return value != NULL && json_object_set(object, key, value) == 0;
}

static json_t *parse_members(struct record_reader *reader,
                             struct record_members *members,
                             struct cursor *cursor)
{
    json_t *object = json_object();
    bool ok = object != NULL && skip_byte(cursor, '{');
    bool more = ok && !skip_byte(cursor, '}');

    for (size_t i = 0; more; i++) {
        ok = read_member(reader, members, i, cursor, object);
        more = ok && skip_byte(cursor, ',');
        if (ok && !more)
            ok = skip_byte(cursor, '}');
    }
    if (ok)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- records ------------------------------------------------------------- */

static struct record_buffer *current_buffer(struct record_reader *reader)
{
    return &reader->buffers[reader->record % 2];
}

static bool buffer_reserve(struct record_buffer *buffer, size_t size)
{
    return array_reserve(&buffer->bytes, &buffer->capacity, size, 1, NULL) == 0;
}

/* Parses `size` bytes of the current buffer. */
static int parse(struct record_reader *reader, size_t size,
                 struct run_entry *entry, struct m2_error *err)
{
    const char *bytes = current_buffer(reader)->bytes;
    struct cursor cursor = {bytes, bytes + size};
    json_t *record = parse_members(reader, &reader->top, &cursor);

    skip_blanks(&cursor);
    if (record != NULL && cursor.at == cursor.end) {
        entry->record = record;
        reader->record++;
        return 0;
    }
    json_decref(record);
    forget(&reader->top);
    forget(&reader->config);
    run_entry_parse(entry, bytes, size);
    if (entry->record == NULL && entry->damage == NULL)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", entry->path);
    return 0;
}

int record_reader_parse(struct record_reader *reader, const char *bytes,
                        size_t size, struct run_entry *entry,
                        struct m2_error *err)
{
    struct record_buffer *buffer = current_buffer(reader);

    if (!buffer_reserve(buffer, size + 1))
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", entry->path);
    memcpy(buffer->bytes, bytes, size);
    return parse(reader, size, entry, err);
}

__attribute__((format(printf, 3, 4))) static int
set_damage(struct run_entry *entry, struct m2_error *err, const char *format,
           ...)
{
    struct text text = {0};
    va_list arguments;

    va_start(arguments, format);
    text_addv(&text, format, arguments);
    va_end(arguments);
    entry->damage = text_steal(&text, err);
    return entry->damage == NULL ? M2_E_MEMORY : 0;
}

/* The bytes of an open file, all of them even when it grows meanwhile. */
static int read_bytes(struct record_buffer *buffer, int fd, size_t *size)
{
    *size = 0;
    while (*size <= RECORD_LIMIT) {
        ssize_t n;

        if (*size == buffer->capacity &&
            !buffer_reserve(buffer, buffer->capacity + 1))
            return ENOMEM;
        n = read(fd, buffer->bytes + *size, buffer->capacity - *size);
        if (n == 0)
            return 0;
        if (n > 0)
            *size += (size_t)n;
        else if (errno != EINTR)
            return errno;
    }
    return EFBIG;
}

static int read_open(struct record_reader *reader, int fd, const char *path,
                     struct run_entry *entry, struct m2_error *err)
{
    struct record_buffer *buffer = current_buffer(reader);
    struct stat facts;
    size_t size;
    int failure = fstat(fd, &facts) == 0 ? 0 : errno;

    if (failure == 0 && !S_ISREG(facts.st_mode))
        return set_damage(entry, err, "%s: not a regular file", path);
    if (failure == 0 && facts.st_size <= RECORD_LIMIT &&
        !buffer_reserve(buffer, (size_t)facts.st_size + 1))
        failure = ENOMEM;
    if (failure == 0)
        failure = read_bytes(buffer, fd, &size);
    if (failure == ENOMEM)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", path);
    if (failure == EFBIG)
        return set_damage(entry, err, "%s: larger than the limit of %d bytes",
                          path, RECORD_LIMIT);
    if (failure != 0)
        return set_damage(entry, err, "%s: %s", path, strerror(failure));
    return parse(reader, size, entry, err);
}

int record_reader_read(struct record_reader *reader, const char *path,
                       struct run_entry *entry, struct m2_error *err)
{
    /* O_NONBLOCK: opening a pipe must not wait for who writes to it. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int code;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0)
        return set_damage(entry, err, "%s: %s", path, strerror(errno));
    code = read_open(reader, fd, path, entry, err);
    close(fd);
    return code;
}
