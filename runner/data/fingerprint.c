/* The data's share of a run's identity: names and digests of its files. */
#include "data/fingerprint.h"

#include <stdlib.h>

#include "data/dataset.h"
#include "data/digest_cache.h"
#include "data/source.h"
#include "util/memory.h"
#include "util/path.h"

void data_files_free(struct data_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        free(files->items[i].path);
    free(files->items);
    *files = (struct data_files){0};
}

static int add_file(struct data_files *files, const char *path,
                    struct m2_error *err)
{
    struct data_file *file;
    int rc = array_reserve(&files->items, &files->capacity, files->n + 1,
                           sizeof *files->items, err);

    if (rc != M2_OK)
        return rc;
    file = &files->items[files->n];
    *file = (struct data_file){.path = path_absolute(path, err)};
    if (file->path == NULL)
        return M2_E_MEMORY;
    files->n++;
    rc = file_get_facts(path, M2_E_DATA, &file->facts, err);
    return rc != M2_OK ? rc : digest_file(path, file->sha256, err);
}

int data_files_find(const struct config_data *config, struct data_files *out,
                    struct m2_error *err)
{
    struct string_list paths = {0};
    int rc = source_files(config, &paths, NULL, err);

    *out = (struct data_files){0};
    for (size_t i = 0; i < paths.count && rc == M2_OK; i++)
        rc = add_file(out, paths.items[i], err);
    string_list_free(&paths);
    if (rc != M2_OK)
        data_files_free(out);
    return rc;
}

int dataset_fingerprint(const struct config *config, struct text *out,
                        struct m2_error *err)
{
    struct data_files files = {0};
    struct string_list lines = {0};

    int rc = data_files_find(&config->data, &files, err);
    for (size_t i = 0; i < files.n && rc == M2_OK; i++) {
        struct text line = {0};

        text_addf(&line, "%s %s\n", path_basename(files.items[i].path),
                  files.items[i].sha256);
        rc = string_list_add_owned(&lines, text_steal(&line, err), err);
    }
    string_list_sort(&lines);
    for (size_t i = 0; i < lines.count && rc == M2_OK; i++)
        text_add(out, lines.items[i]);
    if (rc == M2_OK)
        rc = text_check(out, err);
    string_list_free(&lines);
    data_files_free(&files);
    return rc;
}
