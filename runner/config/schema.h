/* The schema tables: every key of an experiment file, named once.
 *
 * A table per block; one per model.type, and one per data.source that is made
 * from the plugin's own option table.  schema_init flattens them into rows,
 * in the order of the canonical text, each with its full dotted name.
 * Checking, defaults, overrides, sweep axes, canonical text, identity, JSON
 * Schema and the reference pages all walk these rows. */
#ifndef M2_CONFIG_SCHEMA_H
#define M2_CONFIG_SCHEMA_H

#include "config/config.h"
#include "util/text.h"

enum key_type {
    KEY_BLOCK,       /* a mapping of keys */
    KEY_FORMAT,      /* the number 1, stored nowhere */
    KEY_FIXED,       /* one of choices, stored nowhere: there is only one */
    KEY_STRING,      /* char * */
    KEY_WORD,        /* char *, one of choices */
    KEY_BOOL,        /* bool */
    KEY_INT,         /* int64_t */
    KEY_SEED,        /* uint64_t */
    KEY_FLOAT,       /* double */
    KEY_CHOICE,      /* an enum: the value of a choice */
    KEY_PAIR,        /* double[2] */
    KEY_STRINGS,     /* char **, size_t: a string or a list of strings */
    KEY_EXPRESSIONS, /* the same; commas inside parentheses do not part */
    KEY_PATHS,       /* the same; resolved to absolute patterns */
    KEY_BOUND,       /* struct split_bound */
    KEY_OPTION,      /* struct config_option: of the data plugin */
};

enum {
    KEY_NO_IDENTITY = 1, /* does not change a result */
    KEY_NO_SWEEP = 2,    /* cannot be an axis */
    KEY_OPEN_LOW = 4,    /* low itself is not allowed */
    KEY_OPEN_HIGH = 8,
    KEY_IS_PATH = 16,  /* may name a file, which is resolved: value_is_path */
    KEY_IS_NAME = 32,  /* names a folder: letters, digits and . _ - */
    KEY_INFINITE = 64, /* .inf is allowed */
};

/* A word that a key accepts.  The list ends with a NULL name. */
struct choice {
    const char *name;
    int value;          /* of the enum */
    const char *habits; /* what people also write, parted by blanks */
};

struct key {
    const char *name; /* within its block */
    enum key_type type;
    unsigned flags;
    size_t offset;         /* in struct config; KEY_OPTION: index */
    size_t count_offset;   /* KEY_STRINGS and the like: of the size_t */
    const char *initial;   /* default, as written in a file; NULL: null */
    double low, high;      /* range of a number; low == high: any */
    const char *word;      /* KEY_INT, KEY_FLOAT: this word means 0 */
    const char *exclusive; /* full name of the key that this one excludes */
    const struct choice *choices;
    const char *habits; /* names of this key elsewhere, parted by blanks */
    const char *help;
    const struct key *block;        /* KEY_BLOCK: its keys, NULL name ends */
    const struct m2_option *option; /* KEY_OPTION */
};

struct schema_row {
    const struct key *key;
    char *path; /* "train.optimizer.lr" */
    int depth;  /* blocks above it */
};

struct schema {
    struct schema_row *rows;
    size_t n_rows, capacity;
    struct key *options; /* made from the plugin's table */
    size_t n_options;
    struct config defaults; /* every key at its default */
};

/* The tables; a NULL name ends each. */
extern const struct key schema_top[];
extern const struct key schema_data[];
extern const struct key schema_train[];

/* The keys of a model type; NULL for an unknown one. */
const struct key *schema_model(const char *type);

/* False for the full name of a key that changes no result (KEY_NO_IDENTITY);
 * true for all others, also those that no table has: an option of a data
 * plugin, or a key of another version. */
bool schema_changes_results(const char *path);

/* Rows for a model type and the options of a data source (NULL: none). */
int schema_init(struct schema *schema, const char *model_type,
                const struct m2_option *options, struct m2_error *err);
void schema_free(struct schema *schema);

/* Row of a full name, or n_rows. */
size_t schema_find(const struct schema *schema, const char *path);

/* Rows whose full name is `ending` or ends with ".ENDING"; a full name alone
 * when there is one.  Returns how many, the first in *row. */
size_t schema_find_ending(const struct schema *schema, const char *ending,
                          size_t *row);

/* Adds "; did you mean 'window'?" for an unknown key of a block ("" is the
 * top), or nothing.  By habit first (seq_len), then by place (a key of another
 * block), then by spelling. */
void schema_suggest(const struct schema *schema, const char *block,
                    const char *name, struct text *out);

/* The same for a full name or an ending of one; the suggestion is a full
 * name. */
void schema_suggest_path(const struct schema *schema, const char *path,
                         struct text *out);

/* The range of a number (low < high) in words: "from 1 to 16", "at least 1",
 * "greater than 0 and at most 1". */
void schema_describe_range(const struct key *key, struct text *out);

/* The member of `config` that a key is stored in. */
void *schema_member(const struct key *key, struct config *config);

#endif
