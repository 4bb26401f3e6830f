/* Every run of a results folder, published or not, with its state. */
#ifndef M2_RESULTS_LISTING_H
#define M2_RESULTS_LISTING_H

#include <jansson.h>
#include <stdbool.h>

#include "m2_plugin.h"

/* The settings of a run: the members of "config" in run.json, strings. */
struct run_setting {
    json_t *key, *value;
};
struct run_settings {
    size_t n;
    struct run_setting items[];
};
void run_settings_free(struct run_settings *settings); /* NULL is allowed */

/* pending running done stopped failed diverged oom interrupted; stale is told
 * by stale_mark (train/stale.h), for it looks at the data */
struct run_entry {
    char *path;       /* directory */
    char *experiment; /* <name> */
    char *run;        /* <label>-<hash12> */
    char state[16];
    bool published;
    json_t *record; /* run.json, or NULL when there is none yet */
    struct run_settings *settings; /* of a run in a list, in the place of
                                      "config" in the record, which takes six
                                      times the memory; else NULL */
    char *damage;                  /* why run.json could not be read, or NULL */
};

struct run_list {
    struct run_entry *entries;
    size_t n;
};

/* Runs of one experiment (name NULL: all), sorted by experiment and run name.
 * A damaged run is listed with its damage, never an error of the list.  Many
 * runs are read by several threads, each with one file open at a time; values
 * that runs have in common are shared, so records must not be changed. */
int run_list_load(const char *root, const char *name, struct run_list *out,
                  struct m2_error *err);
/* The same of unfinished runs only: what is published is not even listed. */
int run_list_load_unfinished(const char *root, const char *name,
                             struct run_list *out, struct m2_error *err);
void run_list_free(struct run_list *list);

/* "<label>-<12 hex>": what a published run is called, and no attempt. */
bool run_name_is_valid(const char *name);

/* The entry of one run directory. */
int run_entry_load(const char *path, struct run_entry *out,
                   struct m2_error *err);
void run_entry_free(struct run_entry *entry);

/* Reads run.json and derives the state of an entry that has its path, names
 * and `published`. */
struct record_reader;
int run_entry_read(struct run_entry *entry, struct record_reader *reader,
                   struct m2_error *err);

/* Takes the bytes of a run.json: record, or damage when they are none (NULL,
 * too: out of memory). */
void run_entry_parse(struct run_entry *entry, const char *bytes, size_t size);

/* A value of run.json by path, borrowed, as "best.val/loss" or
 * "config.train.steps" (a path component may hold dots when it is a key of
 * that object). */
json_t *run_value(const struct run_entry *entry, const char *group,
                  const char *key);

#endif
