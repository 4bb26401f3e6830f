/* The front contract of every root, day by day. */
#include "dbn/front.h"

#include <stdlib.h>
#include <string.h>

#include "common/civil.h"
#include "common/memory.h"

bool future_parse(const char *symbol, struct future *out)
{
    static const char letters[] = "FGHJKMNQUVXZ";
    size_t n = strlen(symbol), digits = 0;

    while (digits < 2 && digits < n && symbol[n - 1 - digits] >= '0' &&
           symbol[n - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || n < digits + 2)
        return false;
    size_t root = n - digits - 1;
    const char *letter = strchr(letters, symbol[root]);
    if (letter == NULL)
        return false;
    for (size_t i = 0; i < root; i++)
        if (!(symbol[i] >= 'A' && symbol[i] <= 'Z') &&
            !(symbol[i] >= '0' && symbol[i] <= '9'))
            return false;
    out->root_length = root;
    out->month = (int)(letter - letters) + 1;
    out->year = atoi(symbol + root + 1);
    out->year_digits = (int)digits;
    return true;
}

/* A contract may trade a little into the month after the one in its name. */
int future_expiry(const struct future *future, int64_t day)
{
    struct civil date = civil_date(day);
    int cycle = future->year_digits == 1 ? 10 : 100;
    int oldest = date.year * 12 + date.month - 1 - 1;
    int year = date.year - date.year % cycle - cycle + future->year;

    while (year * 12 + future->month - 1 < oldest)
        year += cycle;
    return year * 12 + future->month - 1;
}

void front_free(struct front *front)
{
    for (size_t i = 0; i < front->n; i++) {
        free(front->roots[i].name);
        free(front->roots[i].members);
        free(front->roots[i].choices);
    }
    free(front->roots);
    *front = (struct front){0};
}

static int add_root(struct front *front, const char *name, size_t length,
                    struct m2_error *err)
{
    struct front_root *roots = memory_grow(front->roots, &front->capacity,
                                           front->n + 1, sizeof *roots, err);

    if (roots == NULL)
        return M2_E_MEMORY;
    front->roots = roots;
    char *copy = memory_string(name, length, err);
    if (copy == NULL)
        return M2_E_MEMORY;
    roots[front->n++] = (struct front_root){.name = copy};
    return M2_OK;
}

static bool has_name(const struct front_root *root, const char *name,
                     size_t length)
{
    return strlen(root->name) == length &&
           memcmp(root->name, name, length) == 0;
}

static int find_or_add(struct front *front, const char *name, size_t length,
                       struct m2_error *err)
{
    for (size_t i = 0; i < front->n; i++)
        if (has_name(&front->roots[i], name, length))
            return M2_OK;
    return add_root(front, name, length, err);
}

static int add_member(struct front_root *root, uint32_t symbol,
                      struct m2_error *err)
{
    uint32_t *members = memory_grow(root->members, &root->members_capacity,
                                    root->n_members + 1, sizeof *members, err);

    if (members == NULL)
        return M2_E_MEMORY;
    root->members = members;
    members[root->n_members++] = symbol;
    return M2_OK;
}

static int compare_roots(const void *a, const void *b)
{
    const struct front_root *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* An outright with bars, as far as is known, of a root that is asked for. */
static bool is_wanted(const struct symbol *symbol, const char *only,
                      bool counted, struct future *future)
{
    if (!future_parse(symbol->name, future) || (counted && symbol->bars == 0))
        return false;
    return only == NULL ||
           (strlen(only) == future->root_length &&
            memcmp(only, symbol->name, future->root_length) == 0);
}

int front_add_symbols(struct front *front, struct symbols *symbols,
                      const char *only, bool counted, struct m2_error *err)
{
    struct future future;
    int status = M2_OK;

    for (size_t i = 0; i < symbols->n && status == M2_OK; i++)
        if (is_wanted(&symbols->items[i], only, counted, &future))
            status = find_or_add(front, symbols->items[i].name,
                                 future.root_length, err);
    if (front->n > 1)
        qsort(front->roots, front->n, sizeof *front->roots, compare_roots);
    for (size_t i = 0; i < symbols->n && status == M2_OK; i++) {
        struct symbol *symbol = &symbols->items[i];
        if (!is_wanted(symbol, only, counted, &future))
            continue;
        symbol->root = 0;
        while (!has_name(&front->roots[symbol->root], symbol->name,
                         future.root_length))
            symbol->root++;
        status = add_member(&front->roots[symbol->root], (uint32_t)i, err);
    }
    return status;
}

void front_add_volume(struct symbols *symbols, uint32_t symbol, int64_t day,
                      uint64_t volume)
{
    struct symbol *s = &symbols->items[symbol];

    if (s->day < day) {
        s->day = day;
        s->day_volume = 0;
    }
    if (s->day == day &&
        __builtin_add_overflow(s->day_volume, volume, &s->day_volume))
        s->day_volume = UINT64_MAX;
}

static int symbol_expiry(const struct symbol *symbol, int64_t day)
{
    struct future future;

    return future_parse(symbol->name, &future) ? future_expiry(&future, day)
                                               : 0;
}

/* The member with the most volume on `day` that expires no earlier than the
 * current front; the current front when there is none. */
static uint32_t best_member(const struct front_root *root,
                            const struct symbols *symbols, int64_t day,
                            int *expiry)
{
    const struct symbol *best = NULL;
    uint32_t best_index = UINT32_MAX;
    int best_expiry = root->expiry;

    if (root->n_choices > 0)
        best_index = root->choices[root->n_choices - 1].symbol;
    for (size_t i = 0; i < root->n_members; i++) {
        const struct symbol *s = &symbols->items[root->members[i]];
        if (s->day != day)
            continue;
        int e = symbol_expiry(s, day);
        if (e < root->expiry ||
            (best != NULL && s->day_volume < best->day_volume) ||
            (best != NULL && s->day_volume == best->day_volume &&
             e >= best_expiry))
            continue;
        best = s;
        best_index = root->members[i];
        best_expiry = e;
    }
    *expiry = best_expiry;
    return best_index;
}

static int choose(struct front_root *root, const struct symbols *symbols,
                  int64_t by_volume_of, int64_t day, struct m2_error *err)
{
    int expiry;
    uint32_t symbol = best_member(root, symbols, by_volume_of, &expiry);
    struct front_choice *choices =
        memory_grow(root->choices, &root->choices_capacity, root->n_choices + 1,
                    sizeof *choices, err);

    if (choices == NULL)
        return M2_E_MEMORY;
    root->choices = choices;
    root->absent += root->n_choices > 0 && !root->seen;
    root->seen = false;
    choices[root->n_choices++] = (struct front_choice){day, symbol};
    root->expiry = expiry;
    return M2_OK;
}

int front_begin(struct front *front, struct symbols *symbols, uint32_t root,
                int64_t day, struct m2_error *err)
{
    struct front_root *r = &front->roots[root];
    int status = choose(r, symbols, day, day, err);

    for (size_t i = 0; i < r->n_members; i++)
        symbols->items[r->members[i]].day = INT64_MIN;
    return status;
}

static enum front_answer ask_past(const struct front_root *root,
                                  uint32_t symbol, int64_t day)
{
    for (size_t i = root->n_choices; i-- > 0;)
        if (root->choices[i].day == day)
            return root->choices[i].symbol == symbol ? FRONT_YES : FRONT_NO;
    return FRONT_PAST;
}

int front_ask(struct front *front, struct symbols *symbols, uint32_t symbol,
              int64_t day, enum front_answer *out, struct m2_error *err)
{
    struct front_root *root = &front->roots[symbols->items[symbol].root];

    *out = FRONT_UNKNOWN;
    if (root->n_choices == 0)
        return M2_OK;
    int64_t current = root->choices[root->n_choices - 1].day;
    if (day < current) {
        *out = ask_past(root, symbol, day);
        return M2_OK;
    }
    if (day > current) {
        int status = choose(root, symbols, current, day, err);
        if (status != M2_OK)
            return status;
    }
    const struct front_choice *choice = &root->choices[root->n_choices - 1];
    *out = choice->symbol == symbol ? FRONT_YES : FRONT_NO;
    root->seen = root->seen || *out == FRONT_YES;
    return M2_OK;
}

uint64_t front_absent_days(const struct front *front)
{
    uint64_t days = 0;

    for (size_t i = 0; i < front->n; i++)
        days += front->roots[i].absent +
                (front->roots[i].n_choices > 0 && !front->roots[i].seen);
    return days;
}
