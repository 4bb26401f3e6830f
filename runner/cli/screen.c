/* Text on stdout: whole when piped, cut to the lines of a terminal. */
#include "cli/screen.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "util/terminal.h"

enum { DEFAULT_HEIGHT = 24 };

/* Bytes of the first `width` characters of a line, all of UTF-8. */
static size_t bytes_of(const char *line, size_t length, size_t width)
{
    size_t i = 0;

    for (; i < length; i++) {
        bool starts = ((unsigned char)line[i] & 0xc0) != 0x80;

        if (starts && width-- == 0)
            break;
    }
    return i;
}

void screen_cut(const char *text, size_t width, size_t height, struct text *out)
{
    for (size_t n = 0; *text != '\0' && (height == 0 || n < height); n++) {
        size_t length = strcspn(text, "\n");

        if (width == 0 || bytes_of(text, length, width) == length) {
            text_add_bytes(out, text, length);
        } else {
            text_add_bytes(out, text, bytes_of(text, length, width - 1));
            text_add_char(out, '>');
        }
        text_add_char(out, '\n');
        text += length + (text[length] == '\n');
    }
}

void screen_print(const struct text *text)
{
    struct text cut = {0};

    if (!terminal_is_tty(STDOUT_FILENO)) {
        fputs(text_string(text), stdout);
        return;
    }
    screen_cut(text_string(text), (size_t)terminal_width(STDOUT_FILENO), 0,
               &cut);
    fputs(text_string(&cut), stdout);
    text_free(&cut);
}

static size_t screen_height(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1)
        return size.ws_row;
    return DEFAULT_HEIGHT;
}

void screen_redraw(const struct text *text)
{
    struct text cut = {0};

    screen_cut(text_string(text), (size_t)terminal_width(STDOUT_FILENO),
               screen_height() - 1, &cut);
    printf("\033[H\033[2J%s", text_string(&cut));
    fflush(stdout);
    text_free(&cut);
}
