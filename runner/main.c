/* The program m2run: options of the program itself, then one subcommand. */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "loader.h"
#include "util/build.h"
#include "util/log.h"
#include "util/process.h"
#include "util/suggest.h"

enum { GO_ON = -1, EXIT_USAGE = 2 };

static int print_version(void)
{
    const struct build_facts *facts = build_facts();

    printf("m2run %s\n", facts->version);
    printf("commit %s%s%.12s\n", facts->commit,
           facts->dirty ? ", with uncommitted changes " : "",
           facts->difference);
    printf("compiler %s\n", facts->compiler);
    printf("flags %s\n", facts->cflags);
    printf("plugins ABI %d\n", M2_PLUGIN_ABI);
    return 0;
}

static int print_help(void)
{
    printf(
        "Usage: m2run [OPTION ...] COMMAND [ARGUMENT ...]\n\n"
        "Trains Mamba-2 sequence models, single runs and whole sweeps, from\n"
        "one YAML file.\n\nCommands:\n");
    for (const struct command *c = commands; c->name != NULL; c++)
        if (c->summary != NULL)
            printf("  %-16s %s\n", c->name, c->summary);
    printf("\nOptions, before the command:\n"
           "      --plugin-dir DIR  search DIR for plugins first; repeatable\n"
           "  -C, --directory DIR   work in DIR\n"
           "  -q, --quiet           only warnings and errors\n"
           "  -V, --version         version and facts about the build\n"
           "  -h, --help            this text; `m2run help COMMAND` for one\n"
           "\nExamples:\n"
           "  m2run check experiments/quickstart.yaml\n"
           "  m2run run experiments/quickstart.yaml lr=1e-3,3e-4\n"
           "  m2run best quickstart\n");
    return 0;
}

static const struct command *find_command(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int unknown_command(const char *name)
{
    struct suggestion near = suggest_start(name);

    for (const struct command *c = commands; c->name != NULL; c++)
        if (c->summary != NULL)
            suggest_try(&near, c->name);
    log_error("unknown command '%s'%s%s%s `m2run --help` lists them", name,
              near.best != NULL ? "; did you mean '" : "",
              near.best != NULL ? near.best : "",
              near.best != NULL ? "'?" : ";");
    return EXIT_USAGE;
}

static int unknown_option(const char *word)
{
    static const char *const names[] = {"--plugin-dir", "--directory",
                                        "--quiet", "--version", "--help"};
    struct suggestion near = suggest_start(word);

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        suggest_try(&near, names[i]);
    log_error("unknown option '%s' before the command%s%s%s `m2run --help` "
              "lists them",
              word, near.best != NULL ? "; did you mean '" : "",
              near.best != NULL ? near.best : "",
              near.best != NULL ? "'?" : ";");
    return EXIT_USAGE;
}

/* `help run` is `run --help`. */
static int help_command(char **argv)
{
    static char option[] = "--help";
    const struct command *command;

    if (argv[1] == NULL || strcmp(argv[1], "help") == 0)
        return print_help();
    command = find_command(argv[1]);
    if (command == NULL)
        return unknown_command(argv[1]);
    return command->run(2, (char *[]){argv[1], option, NULL});
}

static int change_directory(const char *dir)
{
    if (chdir(dir) == 0)
        return GO_ON;
    log_error("--directory %s: %s", dir, strerror(errno));
    return EXIT_USAGE;
}

/* Workers and detached runs search the same directories: they find them in the
 * environment, before those that were there. */
static int export_plugin_dirs(struct m2_error *err)
{
    char *path = plugin_search_path();
    int failed = path == NULL || setenv("M2RUN_PLUGIN_PATH", path, 1) != 0;

    free(path);
    return failed ? m2_fail(err, M2_E_MEMORY, "out of memory") : 0;
}

static int add_plugin_dir(const char *dir)
{
    struct m2_error err;
    int code = plugin_add_dir(dir, &err);

    if (code == 0)
        code = export_plugin_dirs(&err);
    return code == 0 ? GO_ON : report_error(code, &err);
}

/* The value of an option that begins with `name`, as "--name=VALUE" or in the
 * next word; *at moves past it.  False: it is another option. */
static bool take(char **argv, int *at, const char *name, const char **value)
{
    size_t length = strlen(name);
    const char *word = argv[*at];

    if (strncmp(word, name, length) != 0 ||
        (word[length] != '\0' && word[length] != '='))
        return false;
    *value = word[length] == '=' ? word + length + 1 : argv[*at + 1];
    if (word[length] == '\0' && *value != NULL)
        ++*at;
    return true;
}

/* One option of the program.  GO_ON, or the exit code. */
static int program_option(char **argv, int *at)
{
    const char *word = argv[*at], *value = NULL;
    bool is_dir =
        take(argv, at, "-C", &value) || take(argv, at, "--directory", &value);

    if (is_dir || take(argv, at, "--plugin-dir", &value)) {
        if (value != NULL)
            return is_dir ? change_directory(value) : add_plugin_dir(value);
        log_error("%s needs a value: DIR", word);
        return EXIT_USAGE;
    }
    if (strcmp(word, "-q") == 0 || strcmp(word, "--quiet") == 0) {
        log_set_level(LOG_WARNING);
        return GO_ON;
    }
    if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
        return print_version();
    if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
        return print_help();
    return unknown_option(word);
}

static int dispatch(int argc, char **argv)
{
    const struct command *command;
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        int code = program_option(argv, &at);

        if (code != GO_ON)
            return code;
    }
    if (at == argc) {
        log_error("no command; `m2run --help` lists them");
        return EXIT_USAGE;
    }
    if (strcmp(argv[at], "help") == 0)
        return help_command(argv + at);
    command = find_command(argv[at]);
    if (command == NULL)
        return unknown_command(argv[at]);
    return command->run(argc - at, argv + at);
}

/* A result that was not written is no success: a full disk shows here. */
static int finish_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    log_error("writing the output: %s", strerror(errno));
    return code == 0 ? 1 : code;
}

/* Threads of a backend that wait for each other by spinning take the cores
 * from other runs: on two busy cores a small model was nine times slower.
 * OpenMP reads this when a backend is loaded; the user's own word stands. */
static void wait_without_spinning(void)
{
    if (getenv("GOMP_SPINCOUNT") == NULL)
        setenv("OMP_WAIT_POLICY", "passive", 0);
}

/* Device numbers as nvidia-smi shows them: CUDA's own order is by speed, and
 * may change with a driver.  The user's own word stands. */
static void number_by_place(void)
{
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 0);
}

int main(int argc, char **argv)
{
    process_begin();
    /* Only how characters are read: numbers keep their point. */
    setlocale(LC_CTYPE, "");
    /* A reader that has seen enough ends a printing command, quietly, even
     * when whoever started it ignores the signal. */
    signal(SIGPIPE, SIG_DFL);
    wait_without_spinning();
    number_by_place();
    plugin_set_log(log_from_plugin);
    return finish_output(dispatch(argc, argv));
}
