/* Numbers to and from text: strict, lossless, the same in every locale. */
#ifndef M2_UTIL_NUMBER_H
#define M2_UTIL_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Parsing takes the whole string, without blanks, in decimal only: a sign,
 * digits, a point, an exponent. No hex, inf or nan. False, and *out untouched,
 * for anything else and for what the type cannot hold (1e999); a number too
 * small becomes the nearest one, possibly 0. */
bool number_parse_double(const char *text, double *out);
bool number_parse_int(const char *text, int64_t *out);

/* Room for any number below, and for two integers with a sign between them. */
enum { NUMBER_TEXT_SIZE = 48 };

/* The fewest digits, 15 to 17 for double and 6 to 9 for float, that read back
 * as the same bits (inf, -inf and nan come out by these names). Returns out. */
char *number_print_double(double value, char out[NUMBER_TEXT_SIZE]);
char *number_print_float(float value, char out[NUMBER_TEXT_SIZE]);

/* For people: "512 B", "1.5 KiB", "12.3 GiB". */
char *number_print_bytes(uint64_t bytes, char out[NUMBER_TEXT_SIZE]);

/* For people: "850ms", "12.3s", "3m05s", "1h02m", "5d03h". */
char *number_print_duration(double seconds, char out[NUMBER_TEXT_SIZE]);

#endif
