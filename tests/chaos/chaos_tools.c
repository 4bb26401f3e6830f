/* What chaos is made with: processes to disturb, a disk to fill. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/chaos/chaos.h"

#define DISK_SIZE "size=8m"

/* ---- processes ----------------------------------------------------------- */

/* Fields 2 to 4 of /proc/PID/stat: (name) state parent. */
static pid_t parent_of(pid_t pid, char *state_out)
{
    char path[64], line[512] = "";
    const char *end;
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = fopen(path, "r");
    if (file == NULL)
        return 0;
    if (fgets(line, sizeof line, file) == NULL)
        line[0] = '\0';
    fclose(file);
    end = strrchr(line, ')');
    if (end == NULL || sscanf(end + 1, " %c %d", state_out, &parent) != 2)
        return 0;
    return parent;
}

int chaos_victims(pid_t victims[CHAOS_MAX_VICTIMS])
{
    DIR *all = opendir("/proc");
    const struct dirent *entry;
    int n = 0;

    while (all != NULL && n < CHAOS_MAX_VICTIMS &&
           (entry = readdir(all)) != NULL) {
        pid_t pid = (pid_t)atol(entry->d_name), parent;
        char state = 'Z', ignored;

        if (pid <= 0)
            continue;
        parent = parent_of(pid, &state);
        if (state != 'Z' &&
            (parent == getpid() ||
             (parent > 1 && parent_of(parent, &ignored) == getpid())))
            victims[n++] = pid;
    }
    if (all != NULL)
        closedir(all);
    return n;
}

/* ---- the experiment ------------------------------------------------------ */

bool chaos_write_experiment(const struct chaos_plan *plan, const char *dir)
{
    char path[CHAOS_PATH + 16];
    FILE *file;

    snprintf(path, sizeof path, "%s/chaos.yaml", dir);
    file = fopen(path, "w");
    if (file == NULL)
        return false;
    fprintf(
        file,
        "name: chaos\n"
        "device: ref\n"
        "data:\n"
        "  source: synthetic\n"
        "  options: {kind: bars, rows: 400, ic: 0.25}\n"
        "  features: [log_return(close)]\n"
        "  target: [log_return(close)]\n"
        "  window: 8\n"
        "  split: {train: 0.6, val: 0.2, test: 0.2}\n"
        "model: {d_model: 4, n_layer: 1, d_state: 4, headdim: 4, chunk: 8}\n"
        "train: {steps: %ld, batch_size: 16, eval_every: 100, log_every: "
        "10}\n"
        "checkpoint: {every: 25}\n"
        "sweep: {grid: {train.optimizer.lr: [1e-3, 3e-3]}, seeds: %ld}\n",
        plan->steps, plan->runs / 2);
    return fclose(file) == 0;
}

/* ---- the disk ------------------------------------------------------------ */

bool chaos_mount(const char *dir)
{
    if (unshare(CLONE_NEWNS) == 0 &&
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("none", dir, "tmpfs", 0, DISK_SIZE) == 0)
        return true;
    printf("chaos: no small disk to fill: %s\n", strerror(errno));
    return false;
}

void chaos_unmount(const char *dir)
{
    umount2(dir, MNT_DETACH);
}

static void ballast_path(const char *dir, char out[CHAOS_PATH + 16])
{
    snprintf(out, CHAOS_PATH + 16, "%s/ballast", dir);
}

void chaos_fill(const char *dir)
{
    static const char block[4096];
    char path[CHAOS_PATH + 16];
    int fd;

    ballast_path(dir, path);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    while (fd >= 0 && write(fd, block, sizeof block) > 0)
        ;
    if (fd >= 0)
        close(fd);
}

void chaos_empty(const char *dir)
{
    char path[CHAOS_PATH + 16];

    ballast_path(dir, path);
    unlink(path);
}
