/* Valid calls of every op, built from the contract table alone.
 *
 * Every argument gets a region of its own in one buffer, with ld = cols + 1
 * where it has more than one row, and room behind it, so that a test can make
 * a view larger without leaving the buffer. */
#ifndef M2_TESTS_OP_CALLS_H
#define M2_TESTS_OP_CALLS_H

#include "backends/ops_contract.h"
#include "backends/ops_shape.h"

enum { CALL_ARGS_BYTES = 1024, CALL_BUFFER_BYTES = 1 << 16 };

/* The argument struct of any op, as bytes. */
union call_args {
    _Alignas(16) unsigned char bytes[CALL_ARGS_BYTES];
    struct m2_ssd_backward largest;
};

/* Fills args with a valid call, with all optional arguments or with none;
 * its views lie in buffer. */
void call_make(enum m2_op op, enum m2_dtype real, struct m2_buffer *buffer,
               bool with_optional, union call_args *args);

/* The view of argument i. */
struct m2_view *call_view(enum m2_op op, union call_args *args, size_t i);

/* Sets a member by name. */
void call_set(enum m2_op op, union call_args *args, const char *member,
              double value);

#endif
