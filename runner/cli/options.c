/* Parsing options, and the help that is made from the same table. */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/number.h"
#include "util/suggest.h"
#include "util/text.h"

static void print_option(const struct option_spec *spec)
{
    struct text left = {0};

    if (spec->letter != 0)
        text_addf(&left, "-%c, --%s", spec->letter, spec->name);
    else
        text_addf(&left, "    --%s", spec->name);
    if (spec->argument != NULL)
        text_addf(&left, " %s", spec->argument);
    printf("  %-28s %s\n", text_string(&left), spec->help);
    text_free(&left);
}

static void print_help(const struct command_help *help,
                       const struct option_spec *specs)
{
    printf("Usage: m2run %s [OPTION ...] %s\n\n%s\n", help->name,
           help->arguments, help->description);
    if (specs->name != NULL)
        printf("\nOptions:\n");
    for (const struct option_spec *spec = specs; spec->name != NULL; spec++)
        print_option(spec);
    if (help->examples != NULL)
        printf("\nExamples:\n%s\n", help->examples);
}

static const struct option_spec *find_long(const struct option_spec *specs,
                                           const char *name, size_t length)
{
    for (; specs->name != NULL; specs++)
        if (strncmp(specs->name, name, length) == 0 &&
            specs->name[length] == '\0')
            return specs;
    return NULL;
}

static const struct option_spec *find_short(const struct option_spec *specs,
                                            char letter)
{
    for (; specs->name != NULL; specs++)
        if (specs->letter == letter)
            return specs;
    return NULL;
}

static bool is_word(const char *option, const char *word)
{
    size_t length = strlen(word);

    return strncmp(option, word, length) == 0 &&
           (option[length] == '\0' || option[length] == '=');
}

/* Options of the program, and keys of the experiment with dashes. */
static int misplaced(const struct command_help *help, const char *option,
                     struct m2_error *err)
{
    const char *key = option + strspn(option, "-");

    if (is_word(option, "--plugin-dir") || is_word(option, "--directory") ||
        strcmp(option, "-C") == 0)
        return m2_fail(err, M2_E_USAGE,
                       "%s: '%s' stands before the command: m2run %s ... %s",
                       help->name, option, option, help->name);
    if (strchr(key, '=') != NULL && strstr(help->arguments, "KEY=") != NULL)
        return m2_fail(err, M2_E_USAGE,
                       "%s: unknown option '%s'; a key of the experiment has "
                       "no dashes: %s",
                       help->name, option, key);
    return 0;
}

static int unknown(const struct command_help *help,
                   const struct option_spec *specs, const char *option,
                   struct m2_error *err)
{
    struct suggestion near = suggest_start(option + strspn(option, "-"));

    for (; specs->name != NULL; specs++)
        suggest_try(&near, specs->name);
    if (near.best != NULL)
        return m2_fail(err, M2_E_USAGE,
                       "%s: unknown option '%s'; did you mean '--%s'? `m2run "
                       "%s --help` lists them",
                       help->name, option, near.best, help->name);
    if (misplaced(help, option, err) != 0)
        return M2_E_USAGE;
    return m2_fail(err, M2_E_USAGE,
                   "%s: unknown option '%s'; `m2run %s --help` lists them",
                   help->name, option, help->name);
}

static int set(const struct option_spec *spec, const char *value,
               const struct command_help *help, struct m2_error *err)
{
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)spec->target = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)spec->target = value;
        return 0;
    case OPTION_INT:
        if (!number_parse_int(value, (int64_t *)spec->target))
            return m2_fail(err, M2_E_USAGE,
                           "%s: --%s needs an integer, not '%s'", help->name,
                           spec->name, value);
        return 0;
    }
    return 0;
}

struct parse {
    int argc, at;
    char **argv;
    const struct command_help *help;
    const struct option_spec *specs;
    struct m2_error *err;
};

/* The value of an option: what follows in the same word, or the next word. */
static int take_value(struct parse *parse, const struct option_spec *spec,
                      const char *inside)
{
    const char *value = inside;

    if (spec->kind == OPTION_FLAG) {
        if (inside != NULL)
            return m2_fail(parse->err, M2_E_USAGE, "%s: --%s takes no value",
                           parse->help->name, spec->name);
        return set(spec, NULL, parse->help, parse->err);
    }
    if (value == NULL && parse->at + 1 < parse->argc)
        value = parse->argv[++parse->at];
    if (value == NULL)
        return m2_fail(parse->err, M2_E_USAGE, "%s: --%s needs a value: %s",
                       parse->help->name, spec->name, spec->argument);
    return set(spec, value, parse->help, parse->err);
}

static int parse_long(struct parse *parse, const char *word)
{
    const char *name = word + 2;
    size_t length = strcspn(name, "=");
    const struct option_spec *spec = find_long(parse->specs, name, length);

    if (spec == NULL)
        return unknown(parse->help, parse->specs, word, parse->err);
    return take_value(parse, spec,
                      name[length] == '=' ? name + length + 1 : NULL);
}

/* "-abc" is -a -b -c as long as they take no value. */
static int parse_short(struct parse *parse, const char *word)
{
    int code = 0;

    for (const char *letter = word + 1; code == 0 && *letter; letter++) {
        const struct option_spec *spec = find_short(parse->specs, *letter);

        if (spec == NULL)
            return unknown(parse->help, parse->specs, word, parse->err);
        if (spec->kind != OPTION_FLAG)
            return take_value(parse, spec,
                              letter[1] != '\0' ? letter + 1 : NULL);
        code = set(spec, NULL, parse->help, parse->err);
    }
    return code;
}

int options_parse(int argc, char **argv, const struct command_help *help,
                  const struct option_spec *specs, struct arguments *out,
                  struct m2_error *err)
{
    struct parse parse = {argc, 1, argv, help, specs, err};
    bool ended = false;

    *out = (struct arguments){
        .items = memory_zeroed((size_t)argc, sizeof *out->items, err)};
    if (out->items == NULL)
        return M2_E_MEMORY;
    for (; parse.at < argc; parse.at++) {
        const char *word = argv[parse.at];
        int code = 0;

        if (ended || word[0] != '-' || word[1] == '\0') {
            out->items[out->n++] = word;
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help(help, specs);
            return 1;
        } else {
            code = word[1] == '-' ? parse_long(&parse, word)
                                  : parse_short(&parse, word);
        }
        if (code != 0)
            return code;
    }
    return 0;
}
