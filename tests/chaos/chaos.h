/* chaos: many invocations of one sweep, and everything that can end them. */
#ifndef M2_TESTS_CHAOS_H
#define M2_TESTS_CHAOS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHAOS_MAX_PROCESSES 32
#define CHAOS_MAX_VICTIMS   256
#define CHAOS_PATH          1024

/* What is asked for; every number can be set in the environment as
 * M2_CHAOS_<NAME>. */
struct chaos_plan {
    const char *program;
    long runs;      /* a multiple of 2 */
    long processes; /* invocations at once */
    long steps;     /* of each run */
    long faults;    /* signals sent before it is left in peace */
    long seconds;   /* after half of them it is, after all it has failed */
    long full;      /* times the disk is filled up meanwhile */
    uint64_t seed;
};

struct chaos_counts {
    long kills, terms, stops;
    long invocations, takeovers, out_of_room, interrupted;
    long full;
    long attempts, published; /* by chaos_compare */
};

/* The processes below this one that work on the sweep: the invocations, their
 * workers, and workers that have lost theirs.  Returns how many. */
int chaos_victims(pid_t victims[CHAOS_MAX_VICTIMS]);

/* Writes the experiment. */
bool chaos_write_experiment(const struct chaos_plan *plan, const char *dir);

/* Mounts a small file system there, for this process and its children alone;
 * false, with a word, where that is not allowed. */
bool chaos_mount(const char *dir);
void chaos_unmount(const char *dir);
/* Fills it to the last byte, and makes room again. */
void chaos_fill(const char *dir);
void chaos_empty(const char *dir);

/* Has a run that was published before been published again? */
bool chaos_published_again(const char *dir);

/* Is what lies in `chaos` what lies in `whole`, once, and nothing else?  Says
 * every difference. */
bool chaos_compare(const char *whole, const char *chaos,
                   struct chaos_counts *counts);

#endif
