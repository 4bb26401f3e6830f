/* Reading the end of a log. */
#include "schedule/log_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/path.h"

enum { TAIL_BYTES = 16384 };

/* The last bytes of the file, from the beginning of a line on. */
static int read_end(const char *path, char *bytes, struct m2_error *err)
{
    struct stat facts;
    off_t from = 0;
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *line;

    bytes[0] = '\0';
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd >= 0 && fstat(fd, &facts) == 0) {
        from = facts.st_size > TAIL_BYTES ? facts.st_size - TAIL_BYTES : 0;
        n = pread(fd, bytes, TAIL_BYTES, from);
    }
    if (fd < 0 || n < 0) {
        int code = m2_fail(err, M2_E_RESULTS, "%s: cannot read: %s", path,
                           strerror(errno));

        if (fd >= 0)
            close(fd);
        return code;
    }
    close(fd);
    bytes[n] = '\0';
    line = from > 0 ? strchr(bytes, '\n') : NULL;
    if (line != NULL)
        memmove(bytes, line + 1, strlen(line + 1) + 1);
    return 0;
}

/* Where the last `most` lines begin. */
static char *last_lines(char *bytes, size_t most)
{
    char *start = bytes + strlen(bytes);
    size_t n = 0;

    while (start > bytes) {
        if (start[-1] == '\n' && start[0] != '\n' && start[0] != '\0' &&
            ++n == most)
            break;
        start--;
    }
    return start;
}

int log_tail(const char *dir, size_t most, struct string_list *out,
             struct m2_error *err)
{
    char bytes[TAIL_BYTES + 1], *save = NULL;
    char *path = path_join(dir, "log.txt", err);
    int code = path == NULL ? M2_E_MEMORY : read_end(path, bytes, err);

    if (code == 0)
        for (char *line = strtok_r(last_lines(bytes, most), "\n", &save);
             code == 0 && line != NULL; line = strtok_r(NULL, "\n", &save))
            code = string_list_add(out, line, err);
    free(path);
    return code;
}
