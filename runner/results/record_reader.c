/* Reading run.json files that have most of their bytes in common. */
#include "results/record_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/json_cursor.h"
#include "util/memory.h"
#include "util/text.h"

enum { RECORD_LIMIT = 16 << 20, KEY_SIZE = 256 };

/* Those from number n on. */
static void forget(struct record_members *members, size_t n)
{
    for (size_t i = n; i < members->n; i++) {
        json_decref(members->items[i].key);
        json_decref(members->items[i].value);
    }
    members->n = n < members->n ? n : members->n;
}

void record_reader_free(struct record_reader *reader)
{
    forget(&reader->top, 0);
    forget(&reader->config, 0);
    run_settings_free(reader->settings);
    free(reader->top.items);
    free(reader->config.items);
    free(reader->buffers[0].bytes);
    free(reader->buffers[1].bytes);
    *reader = (struct record_reader){0};
}

/* ---- members ------------------------------------------------------------- */

/* Does the record before have the same bytes here, up to the value's end?  Of
 * earlier ones the bytes are gone. */
static bool is_same(const struct record_reader *reader,
                    const struct record_member *before,
                    const struct json_cursor *cursor)
{
    return before->record + 1 == reader->record &&
           (size_t)(cursor->end - cursor->at) > before->size &&
           memcmp(cursor->at, before->bytes, before->size) == 0 &&
           json_ends_value(cursor->at[before->size]);
}

/* Takes the value; NULL: the record is not plain, or memory is short. */
static bool remember(struct record_members *members, size_t index,
                     const struct record_member *member)
{
    struct record_member *item;

    if (member->value == NULL)
        return false;
    if (index == members->n) {
        if (array_reserve(&members->items, &members->capacity, members->n + 1,
                          sizeof *members->items, NULL) != 0) {
            json_decref(member->value);
            return false;
        }
        members->items[members->n++] = (struct record_member){0};
    }
    item = &members->items[index];
    json_decref(item->value);
    item->bytes = member->bytes;
    item->size = member->size;
    item->record = member->record;
    item->value = member->value;
    return true;
}

static json_t *parse_value(const char *bytes, size_t size)
{
    if (json_is_plain_string(bytes, size))
        return json_stringn(bytes + 1, size - 2);
    return json_loadb(bytes, size, JSON_DECODE_ANY, NULL);
}

/* Value of member `index`, borrowed from the members. */
static json_t *read_value(struct record_reader *reader,
                          struct record_members *members, size_t index,
                          struct json_cursor *cursor)
{
    struct record_member member = {.bytes = cursor->at,
                                   .record = reader->record};

    if (index < members->n && is_same(reader, &members->items[index], cursor)) {
        members->items[index].bytes = cursor->at;
        members->items[index].record = reader->record;
        cursor->at += members->items[index].size;
        return members->items[index].value;
    }
    if (!json_skip_value(cursor))
        return NULL;
    member.size = (size_t)(cursor->at - member.bytes);
    member.value = parse_value(member.bytes, member.size);
    return remember(members, index, &member) ? member.value : NULL;
}

/* A key without escapes, and the colon after it. */
static bool read_key(struct json_cursor *cursor, char key[KEY_SIZE])
{
    const char *start;
    size_t length;

    json_skip_blanks(cursor);
    start = cursor->at + 1;
    if (cursor->at == cursor->end || *cursor->at != '"' ||
        !json_skip_string(cursor))
        return false;
    length = (size_t)(cursor->at - 1 - start);
    if (length >= KEY_SIZE || !json_is_plain_string(start - 1, length + 2))
        return false;
    memcpy(key, start, length);
    key[length] = '\0';
    if (!json_skip_byte(cursor, ':'))
        return false;
    json_skip_blanks(cursor);
    return true;
}

/* Takes the value that the cursor stands at; false where the record is not
 * plain. */
typedef bool take_member(struct record_reader *reader, size_t index,
                         const char *key, struct json_cursor *cursor,
                         json_t *object);

/* Members of the object that the cursor stands at. */
static bool walk_members(struct record_reader *reader,
                         struct json_cursor *cursor, take_member *take,
                         json_t *object, size_t *n)
{
    char key[KEY_SIZE];
    bool more = json_skip_byte(cursor, '{');
    bool ok = more;

    *n = 0;
    if (more && json_skip_byte(cursor, '}'))
        return true;
    while (more) {
        ok = read_key(cursor, key) && take(reader, *n, key, cursor, object);
        *n += ok;
        more = ok && json_skip_byte(cursor, ',');
    }
    return ok && json_skip_byte(cursor, '}');
}

/* ---- settings ------------------------------------------------------------ */

/* Keys are those of the record before, as a rule. */
static bool take_setting(struct record_reader *reader, size_t index,
                         const char *key, struct json_cursor *cursor,
                         json_t *object)
{
    struct record_member *member;

    (void)object;
    if (read_value(reader, &reader->config, index, cursor) == NULL)
        return false;
    member = &reader->config.items[index];
    if (member->key != NULL && strcmp(json_string_value(member->key), key) == 0)
        return true;
    json_decref(member->key);
    member->key = json_string(key);
    reader->has_new_keys = true;
    return member->key != NULL;
}

/* Of a key that is there twice the JSON library takes the last value. */
static bool has_key_twice(const struct record_members *members)
{
    for (size_t i = 0; i < members->n; i++)
        for (size_t j = 0; j < i; j++)
            if (json_equal(members->items[i].key, members->items[j].key))
                return true;
    return false;
}

static struct run_settings *make_settings(const struct record_members *members)
{
    struct run_settings *settings =
        malloc(sizeof *settings + members->n * sizeof settings->items[0]);

    if (settings == NULL)
        return NULL;
    settings->n = members->n;
    for (size_t i = 0; i < members->n; i++)
        settings->items[i] =
            (struct run_setting){json_incref(members->items[i].key),
                                 json_incref(members->items[i].value)};
    return settings;
}

static bool read_settings(struct record_reader *reader,
                          struct json_cursor *cursor)
{
    size_t n;

    if (reader->settings != NULL || /* a second "config" */
        !walk_members(reader, cursor, take_setting, NULL, &n))
        return false;
    forget(&reader->config, n);
    if (reader->has_new_keys && has_key_twice(&reader->config))
        return false;
    reader->has_new_keys = false;
    reader->settings = make_settings(&reader->config);
    return reader->settings != NULL;
}

/* ---- records ------------------------------------------------------------- */

/* In the place of the settings stands something that is never the same. */
static bool take_config(struct record_reader *reader, size_t index,
                        struct json_cursor *cursor)
{
    const struct record_member nothing = {.size = SIZE_MAX,
                                          .value = json_null()};

    return read_settings(reader, cursor) &&
           remember(&reader->top, index, &nothing);
}

static bool take_top(struct record_reader *reader, size_t index,
                     const char *key, struct json_cursor *cursor,
                     json_t *object)
{
    json_t *value;

    if (reader->settings_apart && strcmp(key, "config") == 0)
        return take_config(reader, index, cursor);
    value = read_value(reader, &reader->top, index, cursor);
    return value != NULL && json_object_set(object, key, value) == 0;
}

static struct record_buffer *current_buffer(struct record_reader *reader)
{
    return &reader->buffers[reader->record % 2];
}

static bool buffer_reserve(struct record_buffer *buffer, size_t size)
{
    return array_reserve(&buffer->bytes, &buffer->capacity, size, 1, NULL) == 0;
}

/* What is not plain is for the JSON library, as a whole. */
static int parse_whole(struct record_reader *reader, size_t size,
                       struct run_entry *entry, struct m2_error *err)
{
    forget(&reader->top, 0);
    forget(&reader->config, 0);
    run_settings_free(reader->settings);
    reader->settings = NULL;
    run_entry_parse(entry, current_buffer(reader)->bytes, size);
    if (entry->record == NULL && entry->damage == NULL)
        return m2_fail(err, M2_E_MEMORY, "%s: out of memory", entry->path);
    return 0;
}

/* Parses `size` bytes of the current buffer. */
static int parse(struct record_reader *reader, size_t size,
                 struct run_entry *entry, struct m2_error *err)
{
    const char *bytes = current_buffer(reader)->bytes;
    struct json_cursor cursor = {bytes, bytes + size};
    json_t *record = json_object();
    size_t n;
    bool ok =
        record != NULL && walk_members(reader, &cursor, take_top, record, &n);

    json_skip_blanks(&cursor);
    if (!ok || cursor.at != cursor.end) {
        json_decref(record);
        return parse_whole(reader, size, entry, err);
    }
    entry->record = record;
    entry->settings = reader->settings;
    reader->settings = NULL;
    reader->record++;
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
