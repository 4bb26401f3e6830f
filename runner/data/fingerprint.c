/* The data's share of a run's identity: names and digests of its files. */
#include "data/dataset.h"
#include "data/digest_cache.h"
#include "data/source.h"
#include "util/path.h"

static int add_line(struct string_list *lines, const char *path,
                    struct m2_error *err)
{
    char digest[SHA256_HEX_SIZE];
    struct text line = {0};

    int rc = digest_file(path, digest, err);
    if (rc != M2_OK)
        return rc;
    text_addf(&line, "%s %s\n", path_basename(path), digest);
    return string_list_add_owned(lines, text_steal(&line, err), err);
}

int dataset_fingerprint(const struct config *config, struct text *out,
                        struct m2_error *err)
{
    struct string_list files = {0}, lines = {0};

    int rc = source_files(&config->data, &files, NULL, err);
    for (size_t i = 0; i < files.count && rc == M2_OK; i++)
        rc = add_line(&lines, files.items[i], err);
    string_list_sort(&lines);
    for (size_t i = 0; i < lines.count && rc == M2_OK; i++)
        text_add(out, lines.items[i]);
    if (rc == M2_OK)
        rc = text_check(out, err);
    string_list_free(&files);
    string_list_free(&lines);
    return rc;
}
