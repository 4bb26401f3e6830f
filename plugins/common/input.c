/* Bytes of a file or of memory. */
#include "common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail_errno(const char *path, const char *what, int error,
                      struct m2_error *err)
{
    char text[128];

    return m2_fail(err, M2_E_DATA, "%s: %s: %s", path, what,
                   strerror_r(error, text, sizeof text));
}

int input_open(struct input *input, const struct input_source *source,
               struct m2_error *err)
{
    struct stat status;

    *input = (struct input){.source = *source, .fd = -1};
    if (source->bytes != NULL)
        return M2_OK;
    int fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(source->path, "cannot open", errno, err);
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        return fail_errno(source->path, "cannot read", EISDIR, err);
    }
    input->fd = fd;
    return M2_OK;
}

static int read_file(struct input *input, void *buffer, size_t size,
                     size_t *got, struct m2_error *err)
{
    ssize_t n;

    do
        n = read(input->fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_errno(input->source.path, "cannot read", errno, err);
    *got = (size_t)n;
    return M2_OK;
}

int input_read(struct input *input, void *buffer, size_t size, size_t *got,
               struct m2_error *err)
{
    int status = M2_OK;

    if (input->fd >= 0) {
        status = read_file(input, buffer, size, got, err);
    } else {
        size_t left = input->source.n_bytes - (size_t)input->offset;
        *got = size < left ? size : left;
        if (*got > 0)
            memcpy(buffer, input->source.bytes + input->offset, *got);
    }
    if (status == M2_OK)
        input->offset += *got;
    return status;
}

void input_close(struct input *input)
{
    if (input->source.path != NULL && input->fd >= 0)
        close(input->fd);
    input->fd = -1;
}

const char *input_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}
