/* YAML 1.2 core scalars. */
#include "config/scalar.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/number.h"

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool is_plain(const struct node *node)
{
    return node->kind == NODE_SCALAR && !node->quoted;
}

bool scalar_is_null(const struct node *node)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};

    return is_plain(node) && is_one_of(node->text, words);
}

bool scalar_is_bool(const struct node *node, bool *out)
{
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};

    if (!is_plain(node) ||
        !(is_one_of(node->text, yes) || is_one_of(node->text, no)))
        return false;
    *out = is_one_of(node->text, yes);
    return true;
}

static const char *skip_sign(const char *text)
{
    return text + (*text == '+' || *text == '-');
}

/* 010: ten or eight, depending on whom one asks. */
static bool has_leading_zero(const char *text)
{
    const char *digits = skip_sign(text);

    return digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
}

/* 0x1F and 0o17. */
static bool parse_radix(const char *text, uint64_t *out)
{
    static const char *const digits[] = {"01234567", "0123456789abcdefABCDEF"};
    bool is_hex = text[0] == '0' && text[1] == 'x';
    unsigned long long value;

    if (!is_hex && (text[0] != '0' || text[1] != 'o'))
        return false;
    text += 2;
    if (*text == '\0' || text[strspn(text, digits[is_hex])] != '\0')
        return false;
    errno = 0;
    value = strtoull(text, NULL, is_hex ? 16 : 8);
    if (errno == ERANGE)
        return false;
    *out = value;
    return true;
}

bool scalar_is_int(const struct node *node, int64_t *out)
{
    uint64_t bits;
    double number;

    if (!is_plain(node) || has_leading_zero(node->text))
        return false;
    if (parse_radix(node->text, &bits) && bits <= INT64_MAX) {
        *out = (int64_t)bits;
        return true;
    }
    if (number_parse_int(node->text, out))
        return true;
    if (number_parse_double(node->text, &number) && fabs(number) <= 0x1p53 &&
        number == floor(number)) {
        *out = (int64_t)number;
        return true;
    }
    return false;
}

bool scalar_is_unsigned(const struct node *node, uint64_t *out)
{
    const char *text = node->text;
    unsigned long long large;
    int64_t small;

    if (scalar_is_int(node, &small)) {
        if (small >= 0)
            *out = (uint64_t)small;
        return small >= 0;
    }
    if (!is_plain(node) || has_leading_zero(text))
        return false;
    if (parse_radix(text, out))
        return true;
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    large = strtoull(text, NULL, 10);
    if (errno == ERANGE)
        return false;
    *out = large;
    return true;
}

static bool parse_infinity(const char *text, double *out)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", NULL};

    if (!is_one_of(skip_sign(text), words))
        return false;
    *out = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
    return true;
}

bool scalar_is_number(const struct node *node, double *out)
{
    uint64_t bits;

    if (!is_plain(node) || has_leading_zero(node->text))
        return false;
    if (parse_infinity(node->text, out) || number_parse_double(node->text, out))
        return true;
    if (!parse_radix(node->text, &bits))
        return false;
    *out = (double)bits;
    return true;
}

/* ---- hints -------------------------------------------------------------- */

void scalar_hint_bool(const struct node *node, struct text *out)
{
    static const char *const yes[] = {"yes", "on", "y", "1", "true", "t", NULL};
    static const char *const no[] = {"no", "off", "n", "0", "false", "f", NULL};
    const char *text = node->text;

    for (size_t i = 0; yes[i] != NULL; i++)
        if (strcasecmp(text, yes[i]) == 0)
            text_add(out, "; write true");
    for (size_t i = 0; no[i] != NULL; i++)
        if (strcasecmp(text, no[i]) == 0)
            text_add(out, "; write false");
}

/* The text without every `drop` character is a number: write that. */
static bool hint_without(const char *text, const char *drop, struct text *out)
{
    struct text kept = {0};
    double number;
    bool found;

    for (const char *p = text; *p != '\0'; p++)
        if (strchr(drop, *p) == NULL)
            text_add_char(&kept, *p);
    found = strlen(text_string(&kept)) < strlen(text) &&
            number_parse_double(text_string(&kept), &number);
    if (found)
        text_addf(out, "; write %s", text_string(&kept));
    text_free(&kept);
    return found;
}

/* 10k, 5M, 20%. */
static bool hint_unit(const char *text, struct text *out)
{
    static const struct {
        char unit;
        double factor;
    } units[] = {{'k', 1e3}, {'K', 1e3}, {'m', 1e6},
                 {'M', 1e6}, {'G', 1e9}, {'%', 1e-2}};
    size_t length = strlen(text);
    char digits[NUMBER_TEXT_SIZE], printed[NUMBER_TEXT_SIZE];
    double number;

    if (length < 2 || length >= sizeof digits)
        return false;
    memcpy(digits, text, length - 1);
    digits[length - 1] = '\0';
    if (!number_parse_double(digits, &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (text[length - 1] != units[i].unit)
            continue;
        text_addf(out, "; write %s",
                  number_print_double(number * units[i].factor, printed));
        return true;
    }
    return false;
}

/* 1,5 and 2^10. */
static bool hint_form(const char *text, struct text *out)
{
    const char *comma = strchr(text, ',');
    char copy[NUMBER_TEXT_SIZE];
    double number;

    if (strchr(text, '^') != NULL || strstr(text, "**") != NULL) {
        text_add(out, "; write the number itself, not a formula");
        return true;
    }
    if (comma == NULL || strlen(text) >= sizeof copy)
        return false;
    strcpy(copy, text);
    copy[comma - text] = '.';
    if (!number_parse_double(copy, &number))
        return false;
    text_addf(out, "; write %s", copy);
    return true;
}

static void hint_leading_zero(const char *text, struct text *out)
{
    const char *digits = skip_sign(text);

    while (digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
        digits++;
    text_addf(out, "; a leading zero could mean octal: write %s%s",
              text[0] == '-' ? "-" : "", digits);
}

void scalar_hint_number(const struct node *node, bool whole, struct text *out)
{
    const char *text = node->text;
    double number;

    if (node->quoted) {
        if (number_parse_double(text, &number))
            text_add(out, "; it is quoted, so it is text: drop the quotes");
        return;
    }
    if (has_leading_zero(text) && number_parse_double(text, &number)) {
        hint_leading_zero(text, out);
        return;
    }
    if (strcasecmp(skip_sign(text), "inf") == 0 ||
        strcasecmp(skip_sign(text), "infinity") == 0) {
        text_addf(out, "; write %s.inf", text[0] == '-' ? "-" : "");
        return;
    }
    if (whole && number_parse_double(text, &number))
        return;
    if (!hint_unit(text, out) && !hint_form(text, out))
        hint_without(text, "_' ", out);
}

/* ---- writing ------------------------------------------------------------ */

void scalar_write_number(struct text *out, double number)
{
    char printed[NUMBER_TEXT_SIZE];

    if (isinf(number))
        text_add(out, number > 0 ? ".inf" : "-.inf");
    else
        text_add(out, number_print_double(number, printed));
}

/* Words that YAML 1.1 or 1.2 reads as something else than a string. */
static bool is_reserved(const char *string)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n",   NULL};

    for (size_t i = 0; words[i] != NULL; i++)
        if (strcasecmp(string, words[i]) == 0)
            return true;
    return false;
}

/* A letter or one of "/_." first, then only harmless characters. */
static bool can_be_plain(const char *string)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "0123456789_-+./*()";
    const char *p = string;

    if (strchr(letters, *p) == NULL && *p != '/' && *p != '_')
        return false;
    while (*p != '\0' &&
           (strchr(letters, *p) != NULL || strchr(others, *p) != NULL))
        p++;
    return *p == '\0' && p > string && !is_reserved(string);
}

void scalar_write_string(struct text *out, const char *string)
{
    if (can_be_plain(string))
        text_add(out, string);
    else
        text_add_json(out, string);
}
