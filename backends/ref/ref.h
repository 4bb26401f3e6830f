/* The reference backend: plain C, sequential, every sum in f64, the state
 * space scan in its recurrent form.
 *
 * It is the oracle: slow, and obvious enough to be checked against the
 * formulas by reading.  Every op converts what it loads to double, computes
 * in double, and rounds once when it stores a result in the handle's type.
 * The same code therefore serves f32 and f64.
 *
 * The backend is linked into the program and can also be loaded as a module;
 * both give the same bits.  Beyond the contract of m2_backend.h it offers:
 *   - fresh memory is filled with NaN, so a read before a write shows;
 *   - an index outside its table (token id, label, window start) is an error
 *     (M2_E_ARGUMENT) that names the op, the place and the value;
 *   - CLOSE refuses while buffers are alive. */
#ifndef M2_BACKENDS_REF_REF_H
#define M2_BACKENDS_REF_REF_H

#include "m2_backend.h"

/* The descriptor; static, valid for ever. */
const struct m2_plugin *m2_ref_descriptor(void);

#endif
