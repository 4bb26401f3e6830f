/* Options of a subcommand: one table drives parsing, help, completion.
 *
 * Long options take "--name VALUE" or "--name=VALUE", short ones "-n VALUE" or
 * "-nVALUE"; options and arguments may be mixed; "--" ends the options.  An
 * unknown option is an error with a suggestion, never a page of help. */
#ifndef M2_CLI_OPTIONS_H
#define M2_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "m2_plugin.h"

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_INT };

struct option_spec {
    const char *name; /* long name, without dashes; NULL ends the table */
    char letter;      /* short name, or 0 */
    enum option_kind kind;
    const char *argument; /* name of the value in the help */
    const char *help;     /* one line */
    void *target;         /* bool *, const char **, int64_t * */
};

/* What a subcommand is called and does; shown by --help. */
struct command_help {
    const char *name;        /* "run" */
    const char *arguments;   /* "FILE [KEY=VALUE ...]" */
    const char *description; /* a paragraph, lines of at most 78 columns */
    const char *examples;    /* lines, or NULL */
};

struct arguments {
    const char **items; /* borrowed from argv; owned array */
    size_t n;
};

/* M2_OK; 1 when --help was printed; M2_E_USAGE after a message in err. */
int options_parse(int argc, char **argv, const struct command_help *help,
                  const struct option_spec *specs, struct arguments *out,
                  struct m2_error *err);

#endif
