/* run.json of both runs: how they ended, and their scores. */
#include <inttypes.h>
#include <string.h>

#include "reproduce/difference_private.h"
#include "util/number.h"

static const char file_name[] = "run.json";

/* ---- single values ------------------------------------------------------- */

static json_t *value_of(const struct comparison *comparison, int side,
                        const char *key)
{
    return json_object_get(comparison->record[side], key);
}

int64_t record_integer(const struct comparison *comparison, const char *key)
{
    const json_t *value = value_of(comparison, SIDE_RECORDED, key);

    return json_is_integer(value) ? json_integer_value(value) : -1;
}

bool record_repeats(const struct comparison *comparison, int64_t step,
                    const char *column, const char *cell)
{
    const json_t *final = value_of(comparison, SIDE_RECORDED, "final");
    const json_t *best = value_of(comparison, SIDE_RECORDED, "best");
    const json_t *copy = NULL;
    double value;

    if (step == json_integer_value(json_object_get(best, "step")))
        copy = json_object_get(best, column);
    if (copy == NULL && step == record_integer(comparison, "step"))
        copy = json_object_get(final, column);
    return json_is_number(copy) && number_parse_double(cell, &value) &&
           relative_difference(value, json_number_value(copy)) == 0;
}

static const char *text_of(const struct comparison *comparison, int side,
                           const char *key)
{
    const char *text = json_string_value(value_of(comparison, side, key));

    return text != NULL ? text : "";
}

/* ---- scores -------------------------------------------------------------- */

/* Numbers below one key, which differ and how many there are. */
struct score_walk {
    struct comparison *comparison;
    const char *group;
    size_t n, n_differing;
    struct text first; /* "test/loss 0.5 vs 0.6" */
};

static bool same_value(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return relative_difference(json_number_value(a),
                                   json_number_value(b)) == 0;
    return json_equal(a, b);
}

static void add_value(const json_t *value, struct text *out)
{
    char text[NUMBER_TEXT_SIZE];

    if (json_is_number(value))
        text_add(out, number_print_double(json_number_value(value), text));
    else
        text_add(out, value == NULL           ? "(none)"
                      : json_is_null(value)   ? "null"
                      : json_is_string(value) ? "a text"
                                              : "no number");
}

/* The new run's members: a record may lack what an earlier build did not
 * write, and is then not compared. */
static void compare_members(struct score_walk *walk, const char *name,
                            json_t *recorded, json_t *again)
{
    const char *key;
    json_t *value;

    json_object_foreach (again, key, value) {
        json_t *mine = json_object_get(recorded, key);

        if (json_is_object(value)) {
            compare_members(walk, key, mine, value);
            continue;
        }
        walk->n++;
        if (same_value(mine, value))
            continue;
        if (walk->n_differing++ > 0)
            continue;
        text_addf(&walk->first, "%s%s%s ", name, *name != '\0' ? " " : "", key);
        add_value(mine, &walk->first);
        text_add(&walk->first, " vs ");
        add_value(value, &walk->first);
    }
}

/* Where the rows agree, their copies in run.json were altered; of scores that
 * are nowhere else a single one was, most or all were computed that way. */
static int compare_group(struct comparison *comparison, const char *group,
                         bool is_copy, struct m2_error *err)
{
    struct score_walk walk = {.comparison = comparison, .group = group};
    json_t *recorded = value_of(comparison, SIDE_RECORDED, group);
    json_t *again = value_of(comparison, SIDE_AGAIN, group);
    struct finding_place place = {FINDING_ALTERED, file_name, -1};
    bool computed;
    int code = 0;

    if (again == NULL || recorded == NULL)
        return 0;
    compare_members(&walk, "", recorded, again);
    computed = is_copy ? comparison->n_rows_differ > 0
                       : walk.n_differing > 1 && 2 * walk.n_differing > walk.n;
    if (computed) {
        place.kind = FINDING_COMPUTED;
        place.step = record_integer(comparison, "step");
    }
    if (walk.n_differing > 0)
        code = finding_add(comparison, place, err,
                           "%s: %s (%zu of %zu numbers differ)%s", group,
                           text_string(&walk.first), walk.n_differing, walk.n,
                           computed  ? ""
                           : is_copy ? ": metrics.csv agrees: altered"
                                     : ": altered");
    text_free(&walk.first);
    return code;
}

/* ---- how it ended -------------------------------------------------------- */

/* "diverged at step 12 (the reason)" */
static void add_end(const struct comparison *comparison, int side,
                    struct text *out)
{
    const char *reason = text_of(comparison, side, "reason");
    const json_t *step = value_of(comparison, side, "step");

    text_addf(out, "%.16s at step %" JSON_INTEGER_FORMAT,
              text_of(comparison, side, "state"), json_integer_value(step));
    if (json_is_true(value_of(comparison, side, "early_stopped")))
        text_add(out, ", stopped early");
    if (*reason != '\0')
        text_addf(out, " (%.300s)", reason);
}

static bool same_member(const struct comparison *comparison, const char *key)
{
    json_t *a = value_of(comparison, SIDE_RECORDED, key);
    json_t *b = value_of(comparison, SIDE_AGAIN, key);

    return (a == NULL && b == NULL) || json_equal(a, b);
}

static int compare_end(struct comparison *comparison, struct m2_error *err)
{
    static const char *const keys[] = {"state", "reason", "step",
                                       "early_stopped"};
    struct finding_place place = {FINDING_COMPUTED, file_name,
                                  record_integer(comparison, "step")};
    bool differs = false;
    struct text text = {0};
    int code = 0;

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        differs = differs || !same_member(comparison, keys[i]);
    if (differs) {
        bool same_state = strcmp(text_of(comparison, SIDE_RECORDED, "state"),
                                 text_of(comparison, SIDE_AGAIN, "state")) == 0;

        if (same_state && comparison->n_rows_differ == 0) {
            place.kind = FINDING_ALTERED;
            place.step = -1;
        }
        text_add(&text, "ended ");
        add_end(comparison, SIDE_RECORDED, &text);
        text_add(&text, " vs ");
        add_end(comparison, SIDE_AGAIN, &text);
        code = finding_add(comparison, place, err, "%s", text_string(&text));
    }
    text_free(&text);
    return code;
}

int record_compare(struct comparison *comparison, struct m2_error *err)
{
    static const struct {
        const char *group;
        bool is_copy; /* of cells of metrics.csv */
    } groups[] = {
        {"final", true}, {"best", true}, {"test", false}, {"baselines", false}};
    int code;

    if (comparison->request->last_step > 0 ||
        comparison->request->tolerance > 0 ||
        comparison->record[SIDE_RECORDED] == NULL)
        return 0;
    code = compare_end(comparison, err);
    for (size_t i = 0; code == 0 && i < sizeof groups / sizeof groups[0]; i++)
        code =
            compare_group(comparison, groups[i].group, groups[i].is_copy, err);
    return code;
}
