/* Processes whose output is read whole. */
#include "schedule/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "util/interrupt.h"
#include "util/path.h"

/* A signal may be handled by another thread than the one that waits. */
enum { LOOK_MS = 250 };

int child_start(struct child *child, const char **argv, struct m2_error *err)
{
    char *program = path_executable(err);
    int code = M2_E_MEMORY;

    *child = (struct child){
        .process = {.events = {.fd = -1}, .messages = {.fd = -1}},
    };
    if (program != NULL) {
        argv[0] = program;
        code =
            worker_spawn(&child->process, (char *const *)(uintptr_t)argv, err);
    }
    free(program);
    return code;
}

static void add_line(void *context, char *line)
{
    text_addf(context, "%s\n", line);
}

/* Fills the array with the open pipes and returns how many there are. */
static size_t open_pipes(const struct child *all, size_t n,
                         struct pollfd *polled)
{
    size_t open = 0;

    for (size_t i = 0; i < n; i++) {
        const struct worker_process *process = &all[i].process;

        polled[2 * i] = (struct pollfd){process->events.fd, POLLIN, 0};
        polled[2 * i + 1] = (struct pollfd){process->messages.fd, POLLIN, 0};
        open += (process->events.fd >= 0) + (process->messages.fd >= 0);
    }
    return open;
}

static void end_all(const struct child *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].process.pid > 0)
            kill(all[i].process.pid, SIGTERM);
}

void child_listen(struct child *all, size_t n)
{
    struct pollfd polled[2 * CHILD_MAX];
    bool told = false;

    while (open_pipes(all, n, polled) > 0) {
        if (!told && interrupt_came() != 0) {
            end_all(all, n);
            told = true;
        }
        if (poll(polled, 2 * n, LOOK_MS) < 0) {
            if (errno == EINTR)
                continue;
            return;
        }
        for (size_t i = 0; i < n; i++) {
            if (polled[2 * i].revents != 0)
                line_pipe_read(&all[i].process.events, add_line, &all[i].out);
            if (polled[2 * i + 1].revents != 0)
                line_pipe_read(&all[i].process.messages, add_line,
                               &all[i].messages);
        }
    }
}

int child_wait(struct child *child)
{
    int status = 0;

    while (waitpid(child->process.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    worker_close(&child->process);
    return status;
}

void child_free(struct child *child)
{
    text_free(&child->out);
    text_free(&child->messages);
}

const char *child_last_message(struct child *child)
{
    struct text *text = &child->messages;
    char *line;

    while (text->length > 0 && text->bytes[text->length - 1] == '\n')
        text->bytes[--text->length] = '\0';
    line = text->length > 0 ? strrchr(text->bytes, '\n') : NULL;
    return line != NULL ? line + 1 : text_string(text);
}
