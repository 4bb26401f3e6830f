/* Digests of data files and their cache. */
#include "data/digest_cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/path.h"
#include "util/timefmt.h"

enum { MAX_ENTRY = 8192, ENTRY_NAME = 40 };

static const int64_t settled_ns = 3 * M2_NS_PER_SECOND;

/* Directory of the cache, or NULL when there is none. */
static char *cache_dir(void)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (xdg != NULL && xdg[0] == '/')
        return path_join(xdg, "m2run", NULL);
    if (home != NULL && home[0] == '/')
        return path_join(home, ".cache/m2run", NULL);
    return NULL;
}

/* Name of the entry of a path in the cache, or NULL. */
static char *entry_path(const char *dir, const char *path)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    if (sha256_bytes(path, strlen(path), digest, NULL) != 0)
        return NULL;
    sha256_hex(digest, hex)[ENTRY_NAME] = '\0';
    return path_join(dir, hex, NULL);
}

/* "SIZE MTIME DIGEST PATH\n": what the entry of a file with these facts must
 * begin and end with.  A path may hold anything but NUL. */
static bool parse_entry(const struct text *entry, const char *path,
                        const struct file_facts *facts,
                        char out[SHA256_HEX_SIZE])
{
    char head[64];
    int n = snprintf(head, sizeof head, "%" PRId64 " %" PRId64 " ", facts->size,
                     facts->mtime_ns);
    const char *text = text_string(entry);
    size_t digest = SHA256_HEX_SIZE - 1;

    if (strncmp(text, head, (size_t)n) != 0 ||
        strspn(text + n, "0123456789abcdef") != digest ||
        text[(size_t)n + digest] != ' ')
        return false;
    const char *rest = text + n + digest + 1;
    size_t length = strlen(path);
    if (strncmp(rest, path, length) != 0 || strcmp(rest + length, "\n") != 0)
        return false;
    memcpy(out, text + n, digest);
    out[digest] = '\0';
    return true;
}

static bool look_up(const char *entry, const char *path,
                    const struct file_facts *facts, char out[SHA256_HEX_SIZE])
{
    struct text text = {0};
    bool found = file_exists(entry) &&
                 file_read(entry, MAX_ENTRY, M2_E_DATA, &text, NULL) == 0 &&
                 parse_entry(&text, path, facts, out);

    text_free(&text);
    return found;
}

static void write_entry(int fd, const char *temporary, const char *entry,
                        const struct text *text)
{
    ssize_t n = write(fd, text_string(text), text->length);

    if (close(fd) != 0 || n != (ssize_t)text->length ||
        rename(temporary, entry) != 0)
        unlink(temporary);
}

static void remember(const char *dir, const char *entry, const char *path,
                     const struct file_facts *facts, const char *digest)
{
    struct text text = {0}, temporary = {0};

    text_addf(&text, "%" PRId64 " %" PRId64 " %s %s\n", facts->size,
              facts->mtime_ns, digest, path);
    text_addf(&temporary, "%s.XXXXXX", entry);
    if (text_check(&text, NULL) == 0 && text_check(&temporary, NULL) == 0 &&
        text.length <= MAX_ENTRY && file_make_dirs(dir, M2_E_DATA, NULL) == 0) {
        int fd = mkstemp(temporary.bytes);
        if (fd >= 0)
            write_entry(fd, temporary.bytes, entry, &text);
    }
    text_free(&text);
    text_free(&temporary);
}

/* Whether the digest is that of the file with the facts found before it was
 * read, and will be until its facts change. */
static bool is_settled(const char *path, const struct file_facts *before)
{
    struct file_facts after;

    return file_get_facts(path, M2_E_DATA, &after, NULL) == 0 &&
           after.size == before->size && after.mtime_ns == before->mtime_ns &&
           time_now() - after.mtime_ns > settled_ns;
}

int digest_file(const char *path, char out[SHA256_HEX_SIZE],
                struct m2_error *err)
{
    struct file_facts facts;
    uint8_t digest[SHA256_SIZE];

    int rc = file_get_facts(path, M2_E_DATA, &facts, err);
    if (rc != 0)
        return rc;
    char *dir = cache_dir();
    char *entry = dir == NULL ? NULL : entry_path(dir, path);
    if (entry != NULL && look_up(entry, path, &facts, out))
        goto out;
    rc = sha256_file(path, M2_E_DATA, digest, err);
    if (rc != 0)
        goto out;
    sha256_hex(digest, out);
    if (entry != NULL && is_settled(path, &facts))
        remember(dir, entry, path, &facts, out);
out:
    free(entry);
    free(dir);
    return rc;
}
