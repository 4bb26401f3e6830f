/* One line per step, all of one length. */
#include "reproduce/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The trace and a newline, in the place of the string's end. */
enum { LINE_SIZE = TRACE_TEXT };

int trace_file_open(const char *path, int *fd_out, struct m2_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

    if (fd < 0)
        return m2_fail(err, M2_E_RESULTS, "%s: %s", path, strerror(errno));
    *fd_out = fd;
    return 0;
}

int trace_file_write(int fd, int64_t step, const uint8_t trace[TRACE_BYTES],
                     struct m2_error *err)
{
    char line[LINE_SIZE];
    ssize_t n;

    trace_print(trace, line);
    line[LINE_SIZE - 1] = '\n';
    do
        n = pwrite(fd, line, LINE_SIZE, (off_t)((step - 1) * LINE_SIZE));
    while (n < 0 && errno == EINTR);
    if (n != LINE_SIZE)
        return m2_fail(err, M2_E_RESULTS, "writing the trace of step %lld: %s",
                       (long long)step, n < 0 ? strerror(errno) : "disk full");
    return 0;
}

bool trace_file_find(const char *path, int64_t step, char out[TRACE_TEXT])
{
    char line[LINE_SIZE];
    uint8_t trace[TRACE_BYTES];
    int fd = step > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool found;

    if (fd < 0)
        return false;
    found = pread(fd, line, LINE_SIZE, (off_t)((step - 1) * LINE_SIZE)) ==
                LINE_SIZE &&
            line[LINE_SIZE - 1] == '\n';
    close(fd);
    line[LINE_SIZE - 1] = '\0';
    if (!found || trace_parse(line, trace) != 0)
        return false;
    memcpy(out, line, LINE_SIZE);
    return true;
}
