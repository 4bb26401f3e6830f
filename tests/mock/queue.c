/* Deferred calls and injected faults of the mock backend. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/ops_contract.h"
#include "tests/mock/mock.h"

struct mock_call *mock_defer(struct mock_handle *self, m2_slot_fn fn,
                             const void *args, size_t args_size,
                             size_t extra_bytes)
{
    struct mock_call *call = malloc(sizeof *call + args_size + extra_bytes);

    if (call == NULL)
        return NULL;
    call->fn = fn;
    call->next = NULL;
    memcpy(call->args, args, args_size);
    *self->end = call;
    self->end = &call->next;
    return call;
}

int mock_flush(struct mock_handle *self, struct m2_error *err)
{
    struct mock_call *call = self->first;
    int rc = M2_OK;

    self->first = NULL;
    self->end = &self->first;
    while (call != NULL) {
        struct mock_call *next = call->next;

        if (call->fn == ref_free)
            ref_free(self, call->args, NULL);
        else if (rc == M2_OK)
            rc = call->fn(self, call->args, err);
        free(call);
        call = next;
    }
    return rc;
}

/* A number that no two processes share, as good as ever. */
static double draw(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)(now.tv_nsec % 999983 + 1) * 1e-8 *
           (double)(getpid() % 89 + 1);
}

/* Leaves NaN in the first element of the op's last real output, or adds to
 * it. */
static void spoil(enum m2_op op, const void *args, double amount)
{
    const struct op_contract *contract = op_contract(op);

    for (size_t i = contract->n_arguments; i-- > 0;) {
        const struct op_argument *argument = &contract->arguments[i];
        const struct m2_view *view = op_argument_view(argument, args);

        if (argument->role != OP_INPUT && ref_present(view)) {
            ref_set(view, 0, 0, ref_get(view, 0, 0) + amount);
            return;
        }
    }
}

int mock_op(struct mock_handle *self, enum m2_op op, m2_slot_fn fn,
            size_t args_size, void *args, struct m2_error *err)
{
    int k = ++self->ops;
    int rc;

    if (self->settings.slow > 0)
        nanosleep(&(struct timespec){self->settings.slow / 1000000,
                                     self->settings.slow % 1000000 * 1000L},
                  NULL);
    if (k == self->settings.lost_op)
        self->lost = 1;
    if (self->lost)
        return m2_fail(err, M2_E_DEVICE, "mock: op %s: the device is lost",
                       op_contract(op)->name);
    if (k == self->settings.crash_op) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit */
        raise(SIGSEGV);
    }
    if (k == self->settings.fail_op)
        return m2_fail(err, M2_E_FAILED, "mock: fault at op %d (%s)", k,
                       op_contract(op)->name);
    if (self->settings.defer) {
        if (mock_defer(self, fn, args, args_size, 0) == NULL)
            return m2_fail(err, M2_E_MEMORY, "mock: out of memory");
        return M2_OK;
    }
    rc = fn(self, args, err);
    if (rc == M2_OK && k == self->settings.nan_op)
        spoil(op, args, NAN);
    if (rc == M2_OK && k == self->settings.noise_op)
        spoil(op, args, draw());
    return rc;
}
