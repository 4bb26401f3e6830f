/* The schema tables as documents: JSON Schema for editors, a Markdown page,
 * and the manual page m2run-config(5).  All three are made from the tables
 * alone, so they cannot say anything else than the checks do. */
#ifndef M2_CONFIG_REFERENCE_H
#define M2_CONFIG_REFERENCE_H

#include "config/schema.h"

/* A data source whose options are to be described. */
struct reference_source {
    const char *name;
    const char *help; /* one paragraph */
    const struct m2_option *options;
};

/* JSON Schema, draft 2020-12, as yaml-language-server reads it. */
int reference_write_json(const struct reference_source *sources, size_t count,
                         struct text *out, struct m2_error *err);

int reference_write_markdown(const struct reference_source *sources,
                             size_t count, struct text *out,
                             struct m2_error *err);

/* roff with the man macros. */
int reference_write_man(const struct reference_source *sources, size_t count,
                        struct text *out, struct m2_error *err);

/* ---- pieces, shared by the files of this module ------------------------- */

/* What a key accepts, in words: "an integer at least 1, or epoch". */
void reference_describe(const struct schema_row *row, struct text *out);

/* Adds the property "sweep" of the JSON Schema. */
void reference_add_sweep(const struct schema *schema, struct text *out);

/* A section of the introduction: its title, and paragraphs parted by an empty
 * line.  A paragraph that begins with a blank is an example. */
struct reference_section {
    const char *title;
    const char *text;
};

/* The introduction; a NULL title ends it. */
extern const struct reference_section reference_sections[];

#endif
