/* Several invocations work on one results folder while they and their workers
 * are killed, stopped and continued at random and the disk fills up.  In the
 * end every run must be published once, with the bytes of a sweep that nobody
 * disturbed.
 *
 *   chaos M2RUN     M2_CHAOS_SEED repeats the choice of victims and signals */
#include "tests/chaos/chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"
#include "util/random.h"
#include "util/timefmt.h"

extern char **environ;

#define EXIT_NO_ROOM     6
#define EXIT_INTERRUPTED 75
#define TAKEOVER_ONE_IN  8
#define RESTART_S        0.1
#define WAIT_S           0.4
#define FULL_S           1.0

struct invocation {
    pid_t pid;      /* 0: none */
    bool done;      /* it ended with 0 */
    double again_s; /* not before */
};

struct stopped {
    pid_t pid;
    double until_s;
};

struct chaos {
    struct chaos_plan plan;
    struct chaos_counts counts;
    char dir[CHAOS_PATH], whole[CHAOS_PATH], results[CHAOS_PATH];
    struct invocation invocations[CHAOS_MAX_PROCESSES];
    struct stopped stopped[CHAOS_MAX_VICTIMS];
    int n_stopped;
    uint64_t draws;
    bool mounted, is_full;
    double begun_s, full_until_s;
    bool failed;
};

/* ---- chance -------------------------------------------------------------- */

/* The next number below `below`: a function of seed and how many before. */
static long draw(struct chaos *chaos, long below)
{
    struct random_stream stream = random_stream(chaos->plan.seed, "chaos");

    return (long)random_bounded(stream, chaos->draws++, (uint64_t)below);
}

static long setting(const char *name, long otherwise)
{
    char variable[64];
    const char *text;

    snprintf(variable, sizeof variable, "M2_CHAOS_%s", name);
    text = getenv(variable);
    return text != NULL ? atol(text) : otherwise;
}

/* ---- invocations --------------------------------------------------------- */

static pid_t start(const struct chaos *chaos, const char *results,
                   const char *jobs, const char *option)
{
    char experiment[CHAOS_PATH + 16], log[CHAOS_PATH + 16];
    const char *argv[] = {chaos->plan.program, "run",   experiment, "-q", jobs,
                          "--results",         results, option,     NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;

    snprintf(experiment, sizeof experiment, "%s/chaos.yaml", chaos->dir);
    snprintf(log, sizeof log, "%s/log", chaos->dir);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, log,
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (posix_spawn(&pid, argv[0], &actions, NULL,
                    (char *const *)(uintptr_t)argv, environ) != 0)
        pid = 0;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void start_missing(struct chaos *chaos)
{
    double now = time_monotonic();

    for (long i = 0; i < chaos->plan.processes; i++) {
        struct invocation *invocation = &chaos->invocations[i];
        bool takeover;

        if (invocation->pid != 0 || invocation->done ||
            now < invocation->again_s)
            continue;
        takeover = draw(chaos, TAKEOVER_ONE_IN) == 0;
        invocation->pid =
            start(chaos, chaos->results, "-j1", takeover ? "--takeover" : NULL);
        chaos->counts.invocations++;
        chaos->counts.takeovers += takeover;
    }
}

/* Killed, out of room and interrupted are what may happen here. */
static void note_end(struct chaos *chaos, struct invocation *invocation,
                     int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    invocation->pid = 0;
    invocation->again_s =
        time_monotonic() + (code == EXIT_NO_ROOM ? WAIT_S : RESTART_S);
    invocation->done = code == 0;
    chaos->counts.out_of_room += code == EXIT_NO_ROOM;
    chaos->counts.interrupted += code == EXIT_INTERRUPTED;
    if (code == 0 || code == EXIT_INTERRUPTED || number == SIGKILL ||
        number == SIGTERM || (code == EXIT_NO_ROOM && chaos->counts.full > 0))
        return;
    printf("chaos: an invocation ended with code %d, signal %d\n", code,
           number);
    chaos->failed = true;
}

/* Also workers that have lost their parent are ours to wait for. */
static void reap(struct chaos *chaos)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (long i = 0; i < chaos->plan.processes; i++)
            if (chaos->invocations[i].pid == pid)
                note_end(chaos, &chaos->invocations[i], status);
}

static bool all_done(const struct chaos *chaos)
{
    for (long i = 0; i < chaos->plan.processes; i++)
        if (!chaos->invocations[i].done)
            return false;
    return true;
}

/* ---- faults -------------------------------------------------------------- */

static void continue_stopped(struct chaos *chaos, bool all)
{
    double now = time_monotonic();

    for (int i = 0; i < chaos->n_stopped; i++) {
        if (!all && now < chaos->stopped[i].until_s)
            continue;
        kill(chaos->stopped[i].pid, SIGCONT);
        chaos->stopped[i--] = chaos->stopped[--chaos->n_stopped];
    }
}

static void disturb(struct chaos *chaos)
{
    pid_t victims[CHAOS_MAX_VICTIMS];
    int n = chaos_victims(victims);
    long kind = draw(chaos, 10), which = draw(chaos, 1 << 16);
    long rest_ms = 50 + draw(chaos, 700);
    pid_t victim = n > 0 ? victims[which % n] : 0;

    if (victim == 0)
        return;
    if (kind < 5) {
        chaos->counts.kills += kill(victim, SIGKILL) == 0;
    } else if (kind < 7) {
        chaos->counts.terms += kill(victim, SIGTERM) == 0;
    } else if (chaos->n_stopped < CHAOS_MAX_VICTIMS &&
               kill(victim, SIGSTOP) == 0) {
        chaos->counts.stops++;
        chaos->stopped[chaos->n_stopped++] =
            (struct stopped){victim, time_monotonic() + (double)rest_ms * 1e-3};
    }
}

static long n_faults(const struct chaos *chaos)
{
    return chaos->counts.kills + chaos->counts.terms + chaos->counts.stops;
}

/* On a slow machine peace comes by the clock: what is left must be done. */
static bool is_over(const struct chaos *chaos)
{
    double seconds = time_monotonic() - chaos->begun_s;

    return n_faults(chaos) >= chaos->plan.faults ||
           seconds > (double)chaos->plan.seconds / 2;
}

/* Fills the disk when the next part of the faults is over, for a while. */
static void watch_disk(struct chaos *chaos)
{
    double now = time_monotonic();
    long full = chaos->plan.full;

    if (chaos->is_full && now >= chaos->full_until_s) {
        chaos_empty(chaos->results);
        chaos->is_full = false;
    }
    if (chaos->is_full) /* somebody has made room */
        chaos_fill(chaos->results);
    if (chaos->mounted && !chaos->is_full && chaos->counts.full < full &&
        n_faults(chaos) * (full + 1) >=
            chaos->plan.faults * (chaos->counts.full + 1)) {
        chaos_fill(chaos->results);
        chaos->is_full = true;
        chaos->full_until_s = now + FULL_S;
        chaos->counts.full++;
    }
}

static void rest(long ms)
{
    usleep((useconds_t)ms * 1000);
}

static void run_chaos(struct chaos *chaos)
{
    chaos->begun_s = time_monotonic();
    while (!all_done(chaos) && !chaos->failed) {
        start_missing(chaos);
        rest(20 + draw(chaos, 80));
        if (!is_over(chaos))
            disturb(chaos);
        watch_disk(chaos);
        continue_stopped(chaos, is_over(chaos));
        reap(chaos);
        if (chaos_published_again(chaos->results))
            chaos->failed = true;
        if (time_monotonic() - chaos->begun_s > (double)chaos->plan.seconds) {
            printf("chaos: not done after %ld seconds\n", chaos->plan.seconds);
            chaos->failed = true;
        }
    }
}

/* ---- the whole ----------------------------------------------------------- */

static void end_all(struct chaos *chaos)
{
    pid_t victims[CHAOS_MAX_VICTIMS];
    int n;

    continue_stopped(chaos, true);
    while ((n = chaos_victims(victims)) > 0) {
        for (int i = 0; i < n; i++)
            kill(victims[i], SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        rest(10);
    }
}

static bool prepare(struct chaos *chaos)
{
    const char *parent = getenv("TMPDIR");

    snprintf(chaos->dir, sizeof chaos->dir, "%.900s/m2run-chaos-XXXXXX",
             parent != NULL ? parent : "/tmp");
    if (mkdtemp(chaos->dir) == NULL)
        return false;
    snprintf(chaos->whole, sizeof chaos->whole, "%.1000s/whole", chaos->dir);
    snprintf(chaos->results, sizeof chaos->results, "%.1000s/shared",
             chaos->dir);
    return mkdir(chaos->results, 0777) == 0 &&
           chaos_write_experiment(&chaos->plan, chaos->dir);
}

static bool run_whole(struct chaos *chaos)
{
    int status = -1;
    pid_t pid = start(chaos, chaos->whole, "-j2", NULL);

    return pid != 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void tell(const struct chaos *chaos, double seconds)
{
    const struct chaos_counts *counts = &chaos->counts;

    printf("chaos: seed %" PRIu64 ": %ld SIGKILL, %ld SIGTERM, %ld SIGSTOP, "
           "%ld full disks\n",
           chaos->plan.seed, counts->kills, counts->terms, counts->stops,
           counts->full);
    printf("chaos: %ld invocations (%ld with --takeover; %ld ended for want "
           "of room, %ld interrupted), %ld attempts, %ld runs published, "
           "%.0f s\n",
           counts->invocations, counts->takeovers, counts->out_of_room,
           counts->interrupted, counts->attempts, counts->published, seconds);
}

static void show_log(const struct chaos *chaos)
{
    char path[CHAOS_PATH + 16], line[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/log", chaos->dir);
    file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        printf("chaos: log: %s", line);
    if (file != NULL)
        fclose(file);
}

int main(int argc, char **argv)
{
    static struct chaos chaos;
    double begun_s = time_monotonic();
    bool ok;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc != 2)
        return 2;
    chaos.plan = (struct chaos_plan){
        .program = argv[1],
        .runs = setting("RUNS", 12),
        .processes = setting("PROCESSES", 8),
        .steps = setting("STEPS", 7000),
        .faults = setting("FAULTS", 400),
        .seconds = setting("SECONDS", 150),
        .full = setting("FULL", 3),
        .seed =
            (uint64_t)setting("SEED", (long)(time_now() / 1000000 % 1000000)),
    };
    if (chaos.plan.processes > CHAOS_MAX_PROCESSES)
        chaos.plan.processes = CHAOS_MAX_PROCESSES;
    printf("chaos: seed %" PRIu64 ": %ld runs, %ld processes, %ld faults\n",
           chaos.plan.seed, chaos.plan.runs, chaos.plan.processes,
           chaos.plan.faults);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    chaos.mounted = false;
    ok = prepare(&chaos) && run_whole(&chaos);
    if (ok) {
        chaos.mounted = chaos.plan.full > 0 && chaos_mount(chaos.results);
        run_chaos(&chaos);
        end_all(&chaos);
        ok = chaos_compare(chaos.whole, chaos.results, &chaos.counts) &&
             !chaos.failed;
    } else {
        printf("chaos: the undisturbed sweep did not end well\n");
    }
    tell(&chaos, time_monotonic() - begun_s);
    printf("chaos: %s\n", ok ? "every run once, all bytes equal" : "FAILED");
    if (!ok)
        show_log(&chaos);
    if (chaos.mounted)
        chaos_unmount(chaos.results);
    if (ok || getenv("M2_CHAOS_KEEP") == NULL)
        file_remove_tree(chaos.dir, M2_E_RESULTS, NULL);
    return ok ? 0 : 1;
}
