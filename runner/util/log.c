/* Messages of the program: to stderr, and to a run's log.txt. */
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "util/text.h"

static struct {
    pthread_mutex_t lock;
    enum log_level level;
    int file; /* -1: none */
    void (*erase)(void);
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER, .level = LOG_DETAIL, .file = -1};

/* A log that cannot be written is no reason to stop a training. */
static void write_whole(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        bytes += n;
        size -= (size_t)n;
    }
}

static void emit(enum log_level level, const char *line, size_t size)
{
    pthread_mutex_lock(&sink.lock);
    if (level <= sink.level) {
        if (sink.erase != NULL)
            sink.erase();
        write_whole(STDERR_FILENO, line, size);
    }
    if (sink.file >= 0)
        write_whole(sink.file, line, size);
    pthread_mutex_unlock(&sink.lock);
}

__attribute__((format(printf, 2, 0))) static void
message(enum log_level level, const char *format, va_list arguments)
{
    static const char *const prefixes[] = {
        [LOG_ERROR] = "m2run: error: ",
        [LOG_WARNING] = "m2run: warning: ",
        [LOG_INFO] = "",
        [LOG_DETAIL] = "",
        [LOG_NOTE] = "",
    };
    struct text line = {0};

    text_add(&line, prefixes[level]);
    text_addv(&line, format, arguments);
    text_add_char(&line, '\n');
    emit(level, text_string(&line), line.length);
    text_free(&line);
}

void log_set_level(enum log_level level)
{
    sink.level = level;
}

enum log_level log_level(void)
{
    return sink.level;
}

void log_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(LOG_ERROR, format, arguments);
    va_end(arguments);
}

void log_warning(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(LOG_WARNING, format, arguments);
    va_end(arguments);
}

void log_info(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(LOG_INFO, format, arguments);
    va_end(arguments);
}

void log_detail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(LOG_DETAIL, format, arguments);
    va_end(arguments);
}

void log_note(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    message(LOG_NOTE, format, arguments);
    va_end(arguments);
}

int log_open_at(const struct file_at *file, struct m2_error *err)
{
    int fd =
        file_open_at(file, O_WRONLY | O_CREAT | O_APPEND, M2_E_RESULTS, err);

    if (fd < 0)
        return M2_E_RESULTS;
    log_close();
    pthread_mutex_lock(&sink.lock);
    sink.file = fd;
    pthread_mutex_unlock(&sink.lock);
    return 0;
}

int log_open(const char *path, struct m2_error *err)
{
    const struct file_at file = {AT_FDCWD, "", path};

    return log_open_at(&file, err);
}

void log_close(void)
{
    pthread_mutex_lock(&sink.lock);
    if (sink.file >= 0)
        close(sink.file);
    sink.file = -1;
    pthread_mutex_unlock(&sink.lock);
}

void log_before_message(void (*erase)(void))
{
    pthread_mutex_lock(&sink.lock);
    sink.erase = erase;
    pthread_mutex_unlock(&sink.lock);
}

void log_from_plugin(int level, const char *message_text)
{
    if (level > 0)
        log_warning("%s", message_text);
    else
        log_info("%s", message_text);
}
