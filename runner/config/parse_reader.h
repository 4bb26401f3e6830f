/* The reader of YAML events: shared by parse.c, which builds the tree, and
 * parse_error.c, which says where a text is no YAML. */
#ifndef M2_CONFIG_PARSE_READER_H
#define M2_CONFIG_PARSE_READER_H

#include <yaml.h>

#include "config/tree.h"

enum { PARSE_MAX_ANCHORS = 1000 };

struct anchor {
    const char *name;
    struct node *node;
    bool is_open; /* still being read: an alias to it is a cycle */
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    struct tree *tree;
    const struct source *source;
    const char *bytes; /* of the text: the source, or a part of it */
    size_t size;
    struct messages *messages;
    int line, column;  /* of the first character in the source */
    size_t first_node; /* nodes of the tree before this text */
    struct anchor anchors[PARSE_MAX_ANCHORS];
    size_t n_anchors;
};

/* Where a mark of libyaml lies in the source. */
struct place parse_place_at(const struct reader *reader, yaml_mark_t mark);

/* Reports what made the parser stop. */
void parse_report_syntax(struct reader *reader);

#endif
