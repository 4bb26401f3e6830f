/* Where and why a text is no YAML. */
#include <string.h>

#include "config/parse_reader.h"

struct place parse_place_at(const struct reader *reader, yaml_mark_t mark)
{
    return (struct place){
        .source = reader->source,
        .line = (int)mark.line + reader->line,
        .column = (int)mark.column + (mark.line == 0 ? reader->column : 1),
        .width = 1,
    };
}

/* Line and column of a byte, for errors that come without a mark. */
static struct place place_of_byte(const struct reader *reader, size_t offset)
{
    struct place place = {reader->source, reader->line, reader->column, 1};

    for (size_t i = 0; i < offset && i < reader->size; i++) {
        if (reader->bytes[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if (((unsigned char)reader->bytes[i] & 0xC0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

/* libyaml's words for the mistakes people make most, said plainly. */
struct plain_word {
    const char *problem; /* part of libyaml's words */
    const char *plain;
    bool at_start; /* the place is where the unfinished thing begins */
};

static const struct plain_word plain_words[] = {
    {"mapping values are not allowed",
     "a ':' is not allowed here: wrong indentation, or a value that holds ': ' "
     "and needs quotes",
     false},
    {"could not find expected ':'",
     "expected 'key: value': the ':' and a blank behind it are missing", true},
    {"did not find expected alphabetic or numeric character",
     "an unquoted '*' or '&' begins an alias or an anchor; quote the value",
     true},
    {"found unexpected end of stream", "the quote that opens here never closes",
     true},
    {"did not find expected ',' or ']'",
     "a ',' is missing here, or the ']' of the list", false},
    {"did not find expected ',' or '}'",
     "a ',' is missing here, or the '}' of the mapping", false},
    {"did not find expected node content", "a value is missing here", false},
    {"did not find expected key",
     "expected a key here: wrong indentation, or something left over from the "
     "line before",
     false},
    {"cannot start any token",
     "a plain value cannot begin with this character; quote it", false},
};

static const struct plain_word *explain(const char *problem)
{
    size_t n = sizeof plain_words / sizeof plain_words[0];

    for (size_t i = 0; i < n; i++)
        if (strstr(problem, plain_words[i].problem) != NULL)
            return &plain_words[i];
    return NULL;
}

static bool is_at_tab(const struct reader *reader)
{
    size_t index = reader->parser.problem_mark.index;

    return index < reader->size && reader->bytes[index] == '\t';
}

/* Where the scanner stopped; at the end of a text, behind its last word. */
static struct place place_of_problem(const struct reader *reader)
{
    size_t end = reader->size, characters = 0;

    for (size_t i = 0; i < reader->size; i++)
        characters += ((unsigned char)reader->bytes[i] & 0xC0) != 0x80;
    if (reader->parser.problem_mark.index < characters)
        return parse_place_at(reader, reader->parser.problem_mark);
    while (end > 0 && strchr(" \t\r\n", reader->bytes[end - 1]) != NULL)
        end--;
    return place_of_byte(reader, end);
}

void parse_report_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "";
    const struct plain_word *word = explain(problem);

    if (parser->error == YAML_MEMORY_ERROR)
        reader->tree->failed = true;
    else if (parser->error == YAML_READER_ERROR)
        message_error(
            reader->messages, place_of_byte(reader, parser->problem_offset),
            "%s (byte %zu, value 0x%02X); experiment files are "
            "UTF-8 text",
            problem, parser->problem_offset, (unsigned)parser->problem_value);
    else if (is_at_tab(reader))
        message_error(reader->messages, place_of_problem(reader),
                      "a tab cannot indent YAML; use spaces");
    else if (word != NULL)
        message_error(reader->messages,
                      word->at_start
                          ? parse_place_at(reader, parser->context_mark)
                          : place_of_problem(reader),
                      "%s", word->plain);
    else
        message_error(reader->messages, place_of_problem(reader), "%s%s%s",
                      problem, parser->context != NULL ? ", " : "",
                      parser->context != NULL ? parser->context : "");
}
