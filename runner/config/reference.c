/* What the reference pages share: values in words, and the introduction. */
#include "config/reference.h"

#include <string.h>

#include "config/value.h"
#include "util/number.h"

const struct reference_section reference_sections[] = {
    {"The file",
     "An experiment is one YAML file. It is read strictly: an unknown key, a "
     "key given twice, a value of the wrong type or out of range is an error, "
     "and all errors of a file are shown at once, each with its line and "
     "column. Every key has a default, so a file holds what differs from it.\n"
     "\n"
     "The key decides the type of its value. 1e-3 is a number; true and false "
     "are the only words for a key that is true or false; a key that holds "
     "text never becomes a number. Quoted values are text.\n"
     "\n"
     "A path is relative to the file that holds it, on the command line to the "
     "working directory."},
    {"Including files",
     "include names a file, or a list of files, that is merged below the one "
     "that holds it: mappings key by key, lists and values replaced. Of several "
     "files the later one counts, and the including file counts most.\n"
     "\n"
     "    include: [base.yaml, fast.yaml]"},
    {"Overrides",
     "After the file, a command takes overrides. A key is written with its "
     "full name or with any ending of it that no other key has.\n"
     "\n"
     "    m2run run exp.yaml lr=3e-4 window=120   set keys\n"
     "    m2run run exp.yaml ~lr                  back to the default\n"
     "    m2run run exp.yaml lr=1e-3,1e-4         an axis of the sweep\n"
     "    m2run run exp.yaml 'd_state=range(16,80,16)'  16, 32, 48 and 64\n"
     "    m2run run exp.yaml seeds=3              three seeds"},
    {"Sweeps",
     "sweep makes runs of groups of values. Each key of grid is a group; so is "
     "each entry of zip, whose keys change together; list is one of whole "
     "points, which may have a label for the run's name and may set different "
     "keys; random is one of drawn trials. The runs are every combination of "
     "the groups, without what exclude names, with every seed: seed, seed+1 "
     "and so on, or a list of seeds. Groups of the file stand in that order, "
     "axes of the command line behind them; the last group varies fastest, "
     "seeds faster still. A key is swept once. Runs that turn out to be the "
     "same, as one file by two paths, are one run.\n"
     "\n"
     "    sweep:\n"
     "      grid:\n"
     "        train.optimizer.lr: [1e-4, 3e-4, 1e-3]\n"
     "        model.d_state: range(16, 80, 16)    # 16, 32, 48 and 64\n"
     "      zip:\n"
     "        - {model.d_model: [128, 256], train.batch_size: [64, 32]}\n"
     "      list:\n"
     "        - {label: wide, model.expand: 4}\n"
     "        - {label: deep, model.n_layer: 8, train.clip_norm: 0.5}\n"
     "      exclude: [\"d_state == 64 && d_model == 256\"]\n"
     "      seeds: 3\n"
     "      max_runs: 10000                       # more is an error\n"
     "\n"
     "An axis on the command line replaces the same axis of the file, so does a "
     "value, and ~key; ~sweep leaves the whole block out. sweep.max_runs=, "
     "sweep.random.n= and sweep.random.seed= set those. m2run plan lists the "
     "runs, with memory and disk; with --time, hours."},
    {"Conditions of exclude",
     "A condition compares keys with values: == and != for every key, < <= > "
     ">= for numbers; && and || join, ! and parentheses do what they do in C; "
     "a key of true and false may stand alone. A key is a full name or a "
     "unique ending and stands on the left; a value is read by the type and "
     "the range of its key, so a slip is an error. A condition that holds for "
     "no point is a warning, one that leaves no point an error.\n"
     "\n"
     "    exclude:\n"
     "      - lr >= 1e-3 && (d_model == 256 || n_layer > 8)\n"
     "      - \"!conv_bias && data.scale != none\""},
    {"Random sweeps",
     "random draws n trials; params, beside it or in it, gives each key a "
     "distribution. A draw is a function of the sweep's seed, the name of the "
     "key and the number of the trial, and of nothing else: more trials keep "
     "the earlier ones, another key changes no draw, the order of the keys "
     "does not matter. A key that holds integers draws integers, however the "
     "bounds are written. Numbers are rounded to 8 significant digits. Trials "
     "that repeat an earlier one, as they must where there are few values, are "
     "left out.\n"
     "\n"
     "    sweep:\n"
     "      random: {n: 50, seed: 7}\n"
     "      params:\n"
     "        lr: {loguniform: [1e-5, 1e-2]}      # the bounds, not exponents\n"
     "        weight_decay: {uniform: [0, 0.1]}\n"
     "        d_model: {quniform: [64, 512, 64]}  # low, high, step\n"
     "        n_layer: {int: [2, 12]}             # both ends included\n"
     "        min_ratio: {normal: [0.1, 0.02]}    # mean, deviation\n"
     "        loss: {choice: [mse, huber]}"},
    {NULL, NULL},
};

static void describe_number(const struct key *key, const char *noun,
                            struct text *out)
{
    text_add(out, noun);
    if (key->low < key->high) {
        text_add_char(out, ' ');
        schema_describe_range(key, out);
    }
    if (key->word != NULL)
        text_addf(out, ", or %s", key->word);
}

static void describe_choices(const struct key *key, struct text *out)
{
    for (const struct choice *c = key->choices; c->name != NULL; c++)
        text_addf(out, "%s%s", c == key->choices ? "" : ", ", c->name);
}

static void describe_option(const struct key *key, struct text *out)
{
    const char *const *choice = key->option->choices;

    switch (key->option->type) {
    case M2_OPTION_BOOL:
        text_add(out, "true or false");
        break;
    case M2_OPTION_INT:
        describe_number(key, "an integer", out);
        break;
    case M2_OPTION_FLOAT:
        describe_number(key, "a number", out);
        break;
    case M2_OPTION_CHOICE:
        for (; *choice != NULL; choice++)
            text_addf(out, "%s%s", choice == key->option->choices ? "" : ", ",
                      *choice);
        break;
    case M2_OPTION_STRINGS:
        text_add(out, "a string or a list of them");
        break;
    case M2_OPTION_STRING:
        text_add(out, "a string");
        break;
    }
}

void reference_describe(const struct schema_row *row, struct text *out)
{
    const struct key *key = row->key;

    switch (key->type) {
    case KEY_FORMAT:
        text_add(out, "1");
        break;
    case KEY_FIXED:
    case KEY_WORD:
    case KEY_CHOICE:
        describe_choices(key, out);
        break;
    case KEY_STRING:
        text_add(out, key->initial == NULL ? "a string, or null" : "a string");
        break;
    case KEY_BOOL:
        text_add(out, "true or false");
        break;
    case KEY_INT:
        describe_number(key, "an integer", out);
        break;
    case KEY_SEED:
        text_add(out, "an integer from 0 to 2^64 - 1");
        break;
    case KEY_FLOAT:
        describe_number(key, "a number", out);
        break;
    case KEY_PAIR:
        describe_number(key, "two numbers, each", out);
        break;
    case KEY_STRINGS:
    case KEY_EXPRESSIONS:
        text_add(out, "a string or a list of them");
        break;
    case KEY_PATHS:
        text_add(out, "a path or a list of them");
        break;
    case KEY_BOUND:
        text_add(out, "a fraction, a number of rows, or a date");
        break;
    case KEY_OPTION:
        describe_option(key, out);
        break;
    case KEY_BLOCK:
        break;
    }
}
