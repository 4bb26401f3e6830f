/* The sweep block itself: its keys, seeds and the limit of runs. */
#include <stdlib.h>
#include <string.h>

#include "config/override_value.h"
#include "config/scalar.h"
#include "config/value.h"
#include "sweep/axis.h"
#include "util/memory.h"
#include "util/suggest.h"

void block_check_keys(const struct node *map, const char *path,
                      const char *const *known, struct messages *messages)
{
    for (const struct node *c = map->first; c != NULL; c = c->next) {
        struct suggestion near = suggest_start(c->key->text);
        bool is_known = false;

        for (size_t i = 0; known[i] != NULL; i++) {
            is_known = is_known || strcmp(known[i], c->key->text) == 0;
            suggest_try(&near, known[i]);
        }
        if (is_known)
            continue;
        if (near.best != NULL)
            message_error(messages, c->key->place,
                          "unknown key '%s' in '%s'; did you mean '%s'?",
                          c->key->text, path, near.best);
        else
            message_error(messages, c->key->place, "unknown key '%s' in '%s'%s",
                          c->key->text, path,
                          strcmp(path, "sweep") == 0 ? "; axes go below 'grid'"
                                                     : "");
    }
}

void block_check(const struct experiment *experiment, struct messages *messages)
{
    static const char *const known[] = {"grid",    "zip",      "list",
                                        "exclude", "random",   "params",
                                        "seeds",   "max_runs", NULL};
    const struct node *sweep = experiment->sweep;

    if (sweep != NULL && sweep->kind == NODE_MAP)
        block_check_keys(sweep, "sweep", known, messages);
    else if (sweep != NULL)
        message_error(messages, sweep->place,
                      "'sweep' must be a mapping with grid, zip, list, random "
                      "or seeds, not %s",
                      node_kind_name(sweep));
}

struct place block_place(const struct experiment *experiment)
{
    const struct node *sweep = experiment->sweep;

    return sweep != NULL && sweep->key != NULL ? sweep->key->place
                                               : experiment->binding.whole;
}

int64_t block_read_integer(const struct node *map,
                           const struct block_integer *integer,
                           struct messages *messages)
{
    const struct key key = {
        .name = integer->name,
        .type = KEY_INT,
        .flags = KEY_NO_SWEEP,
        .low = integer->low,
        .high = integer->high,
        .initial = integer->initial == 1 ? "1" : NULL,
    };
    char path[64];
    const struct schema_row row = {.key = &key, .path = path};
    const struct node *node = map == NULL ? NULL : node_get(map, integer->name);
    int64_t value;

    snprintf(path, sizeof path, "%s", integer->path);
    if (node == NULL || !value_read_int(&row, node, &value, messages))
        return integer->initial;
    return value;
}

size_t block_max_runs(const struct experiment *experiment,
                      struct messages *messages)
{
    static const struct block_integer key = {"max_runs", "sweep.max_runs", 1,
                                             SWEEP_MOST_RUNS, SWEEP_MAX_RUNS};

    return (size_t)block_read_integer(experiment->sweep, &key, messages);
}

/* ---- seeds -------------------------------------------------------------- */

bool block_read_seed(const struct node *node, const char *path, uint64_t *out,
                     struct messages *messages)
{
    struct text hint = {0};

    if (node->kind == NODE_SCALAR && scalar_is_unsigned(node, out))
        return true;
    if (node->kind == NODE_SCALAR)
        scalar_hint_number(node, true, &hint);
    message_error(messages, node->place,
                  "'%s' must be an integer of at least 0, not %s%s%s%s", path,
                  node->kind == NODE_SCALAR ? "'" : "",
                  node->kind == NODE_SCALAR ? node->text : node_kind_name(node),
                  node->kind == NODE_SCALAR ? "'" : "", text_string(&hint));
    text_free(&hint);
    return false;
}

static int read_seed_list(struct sweep *sweep, const struct node *list,
                          struct messages *messages, struct m2_error *err)
{
    sweep->seeds = memory_zeroed(list->n_children, sizeof *sweep->seeds, err);
    if (sweep->seeds == NULL)
        return M2_E_MEMORY;
    for (const struct node *v = list->first; v != NULL; v = v->next) {
        size_t known = 0;
        uint64_t seed;

        if (!block_read_seed(v, "sweep.seeds", &seed, messages))
            continue;
        while (known < sweep->n_seeds && sweep->seeds[known] != seed)
            known++;
        if (known == sweep->n_seeds)
            sweep->seeds[sweep->n_seeds++] = seed;
        else
            message_warning(messages, v->place,
                            "the seed %llu is in the list already; left out",
                            (unsigned long long)seed);
    }
    return 0;
}

/* seed, seed+1, ... */
static int count_seeds(const struct experiment *experiment, struct sweep *sweep,
                       struct messages *messages, struct m2_error *err)
{
    static const struct block_integer key = {"seeds", "sweep.seeds", 1,
                                             SWEEP_MOST_RUNS, 1};
    const struct node *block = experiment->sweep;
    uint64_t seed = experiment->config.seed;
    size_t n = (size_t)block_read_integer(
        block != NULL && block->kind == NODE_MAP ? block : NULL, &key,
        messages);

    if (seed > UINT64_MAX - (n - 1)) {
        message_error(messages, block_place(experiment),
                      "'seed' is so large that seed + seeds does not fit");
        n = 1;
    }
    sweep->seeds = memory_zeroed(n, sizeof *sweep->seeds, err);
    if (sweep->seeds == NULL)
        return M2_E_MEMORY;
    for (size_t i = 0; i < n; i++)
        sweep->seeds[i] = seed + i;
    sweep->n_seeds = n;
    return 0;
}

int block_read_seeds(const struct experiment *experiment, struct sweep *sweep,
                     struct messages *messages, struct m2_error *err)
{
    const struct node *block = experiment->sweep;
    const struct node *node = block == NULL ? NULL : node_get(block, "seeds");

    if (node != NULL && node->kind == NODE_SCALAR && range_is(node->text)) {
        node = range_values(&sweep->tree, node->place, node->text, messages);
        if (node == NULL)
            return 0;
    }
    if (node == NULL || node->kind != NODE_LIST)
        return count_seeds(experiment, sweep, messages, err);
    if (node->first == NULL)
        message_error(messages, node->place, "'sweep.seeds' has no seeds");
    return read_seed_list(sweep, node, messages, err);
}
