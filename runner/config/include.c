/* include: a list of files, merged below the one that names them. */
#include "config/include.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config/scalar.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/path.h"

enum {
    MAX_BYTES = 1 << 20,
    MAX_DEPTH = 16,
    MAX_FILES = 64, /* all together: a file may be included twice */
};

struct inclusion {
    struct tree *tree;
    struct messages *messages;
    char *open[MAX_DEPTH]; /* real paths of the files being read */
    size_t n_open;
    size_t n_files;
};

static struct node *read_file(struct inclusion *inclusion, const char *path,
                              const struct place *from);

/* ---- one include -------------------------------------------------------- */

static void report(struct inclusion *inclusion, const char *path,
                   const struct place *from, const char *what)
{
    struct source file = {.name = path, .bytes = ""};
    struct place place = {.source = &file};

    size_t length = strlen(path);

    /* the place of the main file is its name */
    if (from == NULL && strncmp(what, path, length) == 0 &&
        strncmp(what + length, ": ", 2) == 0)
        what += length + 2;
    message_error(inclusion->messages, from == NULL ? place : *from, "%s",
                  what);
}

static struct node *read_included(struct inclusion *inclusion,
                                  const struct node *item)
{
    const struct source *source = item->place.source;
    struct node *root;
    char *path;

    if (item->kind != NODE_SCALAR || item->text[0] == '\0') {
        message_error(inclusion->messages, item->place,
                      "'include' must be a file name or a list of them");
        return NULL;
    }
    if (source->path == NULL) {
        message_error(inclusion->messages, item->place,
                      "'include' needs a file to be relative to; this text "
                      "is not one");
        return NULL;
    }
    path = path_resolve(source->path, item->text, NULL);
    if (path == NULL) {
        inclusion->tree->failed = true;
        return NULL;
    }
    root = read_file(inclusion, path, &item->place);
    free(path);
    return root;
}

/* The includes of a file, merged in order. */
static struct node *read_includes(struct inclusion *inclusion,
                                  const struct node *include)
{
    bool is_list = include->kind == NODE_LIST;
    const struct node *item = is_list ? include->first : include;
    struct node *base = NULL;

    if (scalar_is_null(include))
        return NULL;
    while (item != NULL) {
        struct node *root = read_included(inclusion, item);

        if (root != NULL)
            base = base == NULL ? root : node_merge(base, root);
        item = is_list ? item->next : NULL;
    }
    return base;
}

static struct node *merge_includes(struct inclusion *inclusion,
                                   struct node *root)
{
    struct node *include = node_get(root, "include");
    struct node *base;

    if (include == NULL)
        return root;
    node_remove(root, "include");
    base = read_includes(inclusion, include);
    return base == NULL ? root : node_merge(base, root);
}

static struct node *parse(struct inclusion *inclusion,
                          const struct source *source)
{
    struct node *root =
        tree_parse(inclusion->tree, source, inclusion->messages);

    if (root == NULL)
        return NULL;
    if (root->kind == NODE_MAP)
        return merge_includes(inclusion, root);
    message_error(inclusion->messages, root->place,
                  "an experiment file is a mapping of keys as 'name: value', "
                  "not %s",
                  node_kind_name(root));
    return NULL;
}

/* ---- files -------------------------------------------------------------- */

static struct node *read_bytes(struct inclusion *inclusion, const char *path,
                               const struct place *from)
{
    bool is_stdin = strcmp(path, "-") == 0 && from == NULL;
    struct text bytes = {0};
    struct m2_error err = {0};
    struct source *source = NULL;

    if (file_read(is_stdin ? "/dev/stdin" : path, MAX_BYTES, M2_E_CONFIG,
                  &bytes, &err) != 0)
        report(inclusion, path, from, err.text);
    else
        source = tree_add_source(inclusion->tree, is_stdin ? "<stdin>" : path,
                                 is_stdin ? NULL : path, text_string(&bytes),
                                 bytes.length);
    text_free(&bytes);
    if (source == NULL)
        return NULL;
    /* the file itself is open by now */
    source->rank = RANK_FILE + 1 - (int)inclusion->n_open;
    return parse(inclusion, source);
}

static bool is_open(const struct inclusion *inclusion, const char *real)
{
    for (size_t i = 0; i < inclusion->n_open; i++)
        if (strcmp(inclusion->open[i], real) == 0)
            return true;
    return false;
}

/* The name by which a file is known while it is read. */
static char *real_path(const char *path)
{
    char *real = realpath(path, NULL);

    /* what cannot be resolved cannot be read either: read_bytes says so */
    return real != NULL ? real : memory_string(path, NULL);
}

static struct node *read_file(struct inclusion *inclusion, const char *path,
                              const struct place *from)
{
    char *real = real_path(path);
    struct node *root = NULL;

    if (real == NULL) {
        inclusion->tree->failed = true;
    } else if (is_open(inclusion, real)) {
        report(inclusion, path, from,
               "this file includes itself, directly or through another one");
    } else if (inclusion->n_open == MAX_DEPTH ||
               inclusion->n_files == MAX_FILES) {
        report(inclusion, path, from,
               "too many includes: at most 16 deep and 64 together");
    } else {
        inclusion->open[inclusion->n_open++] = real;
        inclusion->n_files++;
        root = read_bytes(inclusion, path, from);
        inclusion->n_open--;
    }
    free(real);
    return root;
}

struct node *include_read(struct tree *tree, const char *path,
                          struct messages *messages)
{
    struct inclusion inclusion = {.tree = tree, .messages = messages};

    return read_file(&inclusion, path, NULL);
}

struct node *include_read_text(struct tree *tree, const char *name,
                               const void *bytes, size_t size,
                               struct messages *messages)
{
    struct inclusion inclusion = {.tree = tree, .messages = messages};
    struct source *source = tree_add_source(tree, name, NULL, bytes, size);

    if (source == NULL)
        return NULL;
    source->rank = RANK_FILE;
    return parse(&inclusion, source);
}
