/* Values of runs by the words that users write, and conditions on them.
 *
 * A word is one of three things:
 *   a fact of the run: experiment run state reason path step steps progress
 *     metric best best_step started finished seconds parameters samples_per_s
 *     backend host ("best" is the metric's best value);
 *   a metric with a slash: val/... at the best step, test/... of the best
 *     checkpoint, train/... of the last row;
 *   a key of the configuration, by its full name or a unique ending. */
#ifndef M2_RESULTS_QUERY_H
#define M2_RESULTS_QUERY_H

#include "results/listing.h"
#include "util/number.h"

enum run_key_kind { RUN_KEY_FACT, RUN_KEY_METRIC, RUN_KEY_CONFIG };

struct run_key {
    enum run_key_kind kind;
    char name[256]; /* full name */
};

/* What a word means for the runs of a list.  M2_E_USAGE for one that no run
 * knows, with a suggestion, or that fits several keys. */
int run_key_find(const struct run_list *list, const char *word,
                 struct run_key *out, struct m2_error *err);

/* The value as text, or NULL: in the run's record or in `buffer`.  Numbers are
 * lossless. */
const char *run_key_text(const struct run_key *key,
                         const struct run_entry *entry,
                         char buffer[NUMBER_TEXT_SIZE]);

/* True for the text of a key that is set to nothing: a column of numbers stays
 * one of numbers when a run has none. */
bool run_text_is_missing(const struct run_key *key, const char *text);

/* Steps done, of all; -1 when not known.  Of an unfinished run they are read
 * from its metrics.csv, so they are those of the last row. */
void run_steps(const struct run_entry *entry, int64_t *step, int64_t *steps);

enum run_relation {
    RUN_EQUAL,
    RUN_UNEQUAL,
    RUN_LESS,
    RUN_LESS_EQUAL,
    RUN_GREATER,
    RUN_GREATER_EQUAL,
};

/* "state=done", "lr<1e-3", "val/loss<=0.9", "run!=*_s0".  Two numbers are
 * compared as numbers, everything else as text, where = and != take * and ? as
 * patterns.  A run without the value fails every relation but !=, and so does
 * one whose setting or metric is no number where a number is asked for.  An
 * order needs a value, and a number where all the runs have numbers:
 * M2_E_USAGE. */
struct run_condition {
    struct run_key key;
    enum run_relation relation;
    const char *value; /* borrowed from the text */
};

/* True when the text has the form of a condition. */
bool run_condition_is(const char *text);
int run_condition_parse(const struct run_list *list, const char *text,
                        struct run_condition *out, struct m2_error *err);
bool run_condition_holds(const struct run_condition *condition,
                         const struct run_entry *entry);

/* Keeps the runs for which all conditions hold. */
void run_list_filter(struct run_list *list,
                     const struct run_condition *conditions, size_t n);

/* Orders by a value: numbers as numbers, before other text; runs without it
 * last; equal ones stay in their order. */
int run_list_sort(struct run_list *list, const struct run_key *key,
                  bool descending, struct m2_error *err);

#endif
