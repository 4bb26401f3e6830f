/* Text on stdout: whole when piped, cut to the lines of a terminal. */
#ifndef M2_CLI_SCREEN_H
#define M2_CLI_SCREEN_H

#include "util/text.h"

/* Adds `text` with every line cut to `width` characters; the last one that
 * fits is then '>'.  At most `height` lines; 0: all of them. */
void screen_cut(const char *text, size_t width, size_t height,
                struct text *out);

/* Prints a table or report; on a terminal its lines are cut to fit. */
void screen_print(const struct text *text);

/* The same on a screen cleared before, at most as many lines as it has. */
void screen_redraw(const struct text *text);

#endif
