/* What a scalar means: YAML 1.2 core rules, applied when the type of the key
 * is known.  A plain `1e-3` is a number, `no` is text, a quoted scalar is
 * always text. */
#ifndef M2_CONFIG_SCALAR_H
#define M2_CONFIG_SCALAR_H

#include "config/tree.h"

bool scalar_is_null(const struct node *node); /* "", ~, null */
bool scalar_is_bool(const struct node *node, bool *out);

/* Decimal, 0x, 0o, or a float that is a whole number (1e3).  False for a
 * leading zero (010): other rules read it as octal. */
bool scalar_is_int(const struct node *node, int64_t *out);
bool scalar_is_unsigned(const struct node *node, uint64_t *out);

/* An int, a decimal float, .inf, -.inf; never .nan. */
bool scalar_is_number(const struct node *node, double *out);

/* Why a scalar is no bool or number, and what to write instead: "; write
 * false", "; write 10000", "; it is quoted, so it is text".  Empty when there
 * is nothing to say.  whole: an integer is wanted. */
void scalar_hint_bool(const struct node *node, struct text *out);
void scalar_hint_number(const struct node *node, bool whole, struct text *out);

/* A double as YAML text that reads back as the same bits. */
void scalar_write_number(struct text *out, double number);

/* A string as YAML: plain where every YAML version reads a string, else in
 * double quotes. */
void scalar_write_string(struct text *out, const char *string);

#endif
