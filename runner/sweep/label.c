/* Labels of runs. */
#include "sweep/label.h"

#include <stdio.h>
#include <string.h>

static bool is_allowed(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

/* "[log_return(close), x]" becomes "log_return-close-x". */
static void add_clean(struct text *label, const char *value)
{
    bool is_pending = false, is_first = true;

    for (const char *p = value; *p != '\0'; p++) {
        if (!is_allowed(*p)) {
            is_pending = true;
            continue;
        }
        if (is_pending && !is_first)
            text_add_char(label, '-');
        text_add_char(label, *p);
        is_pending = false;
        is_first = false;
    }
}

void label_add(struct text *label, const char *name, const char *value)
{
    if (label->length > 0)
        text_add_char(label, '_');
    add_clean(label, name);
    text_add_char(label, '-');
    add_clean(label, value);
}

void label_add_word(struct text *label, const char *word)
{
    if (label->length > 0)
        text_add_char(label, '_');
    text_add(label, word);
}

void label_add_seed(struct text *label, uint64_t seed)
{
    struct text cut = {0};
    char ending[32];
    size_t length, room;

    snprintf(ending, sizeof ending, "%ss%llu", label->length > 0 ? "_" : "",
             (unsigned long long)seed);
    room = RUN_LABEL_MAX - strlen(ending);
    length = label->length < room ? label->length : room;
    text_add_bytes(&cut, text_string(label), length);
    text_add(&cut, ending);
    cut.failed = cut.failed || label->failed;
    text_free(label);
    *label = cut;
}
