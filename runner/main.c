/* The program m2run: picks the subcommand. */
#include <stdio.h>
#include <string.h>

#include "util/build.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("m2run %s\n", build_facts()->version);
        return 0;
    }
    fprintf(stderr, "m2run: no subcommand exists yet\n");
    return 2;
}
