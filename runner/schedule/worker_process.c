/* Starting a worker and reading its lines. */
#include "schedule/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* Longer than any event: what exceeds it is not a line of ours. */
#define LINE_LIMIT (1 << 16)

static int make_pipe(int ends[2], struct m2_error *err)
{
    if (pipe2(ends, O_CLOEXEC) != 0)
        return m2_fail(err, M2_E_FAILED, "cannot create a pipe: %s",
                       strerror(errno));
    return 0;
}

static int spawn_with(pid_t *pid, char *const argv[], int out, int messages,
                      struct m2_error *err)
{
    posix_spawn_file_actions_t actions;
    int cause = posix_spawn_file_actions_init(&actions);

    if (cause != 0)
        return m2_fail(err, M2_E_MEMORY, "cannot start a worker: %s",
                       strerror(cause));
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    cause = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (cause != 0)
        return m2_fail(err, M2_E_FAILED, "cannot start %s: %s", argv[0],
                       strerror(cause));
    return 0;
}

int worker_spawn(struct worker_process *worker, char *const argv[],
                 struct m2_error *err)
{
    int out[2], messages[2];
    int code = make_pipe(out, err);

    *worker = (struct worker_process){
        .events = {.fd = -1},
        .messages = {.fd = -1},
    };
    if (code != 0)
        return code;
    code = make_pipe(messages, err);
    if (code != 0) {
        close(out[0]);
        close(out[1]);
        return code;
    }
    code = spawn_with(&worker->pid, argv, out[1], messages[1], err);
    close(out[1]);
    close(messages[1]);
    worker->events.fd = out[0];
    worker->messages.fd = messages[0];
    if (code != 0) {
        worker->pid = 0;
        worker_close(worker);
    }
    return code;
}

void line_pipe_read(struct line_pipe *pipe,
                    void (*line)(void *context, char *text), void *context)
{
    char block[4096], *start, *end;
    ssize_t n = read(pipe->fd, block, sizeof block);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        close(pipe->fd);
        pipe->fd = -1;
        if (pipe->pending.length > 0)
            line(context, pipe->pending.bytes);
        text_clear(&pipe->pending);
        return;
    }
    text_add_bytes(&pipe->pending, block, (size_t)n);
    if (pipe->pending.failed || pipe->pending.bytes == NULL)
        return;
    start = pipe->pending.bytes;
    while ((end = strchr(start, '\n')) != NULL) {
        *end = '\0';
        line(context, start);
        start = end + 1;
    }
    pipe->pending.length -= (size_t)(start - pipe->pending.bytes);
    memmove(pipe->pending.bytes, start, pipe->pending.length + 1);
    if (pipe->pending.length > LINE_LIMIT)
        text_clear(&pipe->pending);
}

void worker_close(struct worker_process *worker)
{
    if (worker->events.fd >= 0)
        close(worker->events.fd);
    if (worker->messages.fd >= 0)
        close(worker->messages.fd);
    text_free(&worker->events.pending);
    text_free(&worker->messages.pending);
    *worker = (struct worker_process){
        .events = {.fd = -1},
        .messages = {.fd = -1},
    };
}
