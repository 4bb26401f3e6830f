/* What `m2run prove` tells, in text and in JSON. */
#ifndef M2_CLI_PROVE_H
#define M2_CLI_PROVE_H

#include "prove/proof.h"

struct prove_report {
    const char *name;   /* experiment */
    const char *folder; /* that is kept, or NULL */
    const struct pass_run *runs;
    size_t n_runs, of_runs; /* worked, of the experiment's */
    int64_t seed;
    bool json;
    double began_s;
};

/* One line as a pass ends, on stdout, or on stderr where JSON is printed. */
void prove_tell_pass(void *context, const struct proof_pass *pass);

/* What came out. */
int prove_print(const struct prove_report *report, const struct proof *proof,
                struct m2_error *err);

#endif
