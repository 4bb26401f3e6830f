/* owner.json: the lock and the heartbeat of an attempt. */
#include "results/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "util/file.h"
#include "util/number.h"
#include "util/text.h"
#include "util/timefmt.h"

#define OWNER_FILE  "owner.json"
#define OWNER_LIMIT 4096

static void read_boot_id(char out[64])
{
    const char *override = getenv("M2RUN_BOOT_ID");
    struct text text = {0};

    if (override != NULL)
        text_add(&text, override);
    else if (file_read("/proc/sys/kernel/random/boot_id", 4096, M2_E_RESULTS,
                       &text, NULL) != 0)
        text_add(&text, "unknown");
    snprintf(out, 64, "%.63s", text_string(&text));
    out[strcspn(out, "\r\n")] = '\0';
    text_free(&text);
}

int owner_self(struct owner *out, struct m2_error *err)
{
    uint8_t bytes[OWNER_TOKEN_LENGTH / 2];

    *out = (struct owner){0};
    if (gethostname(out->host, sizeof out->host - 1) != 0)
        snprintf(out->host, sizeof out->host, "unknown");
    read_boot_id(out->boot_id);
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return m2_fail(err, M2_E_FAILED, "no random bytes: %s",
                       strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out->token + 2 * i, 3, "%02x", bytes[i]);
    out->pid = getpid();
    out->start_ns = time_now();
    return 0;
}

static bool write_at_start(int fd, const char *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        ssize_t n = pwrite(fd, bytes + done, size - done, (off_t)done);

        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Every rewrite has the same length, so a reader never sees half of two. */
static int owner_write(int fd, const struct owner *owner, struct m2_error *err)
{
    char started[TIME_TEXT_SIZE];
    struct text text = {0};
    int code = 0;

    text_add(&text, "{\"host\": ");
    text_add_json(&text, owner->host);
    text_add(&text, ", \"boot_id\": ");
    text_add_json(&text, owner->boot_id);
    text_addf(&text,
              ", \"token\": \"%s\", \"pid\": %" PRId64 ", \"started\": "
              "\"%s\", \"start_ns\": %" PRId64 ", \"heartbeat\": %12" PRId64
              "}\n",
              owner->token, owner->pid, time_print(owner->start_ns, started),
              owner->start_ns, owner->heartbeat);
    code = text_check(&text, err);
    if (code == 0 && !write_at_start(fd, text.bytes, text.length))
        code = m2_fail(err, M2_E_RESULTS, OWNER_FILE ": cannot write: %s",
                       strerror(errno));
    text_free(&text);
    return code;
}

int owner_create(int dirfd, const struct owner *owner, int *fd_out,
                 struct m2_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int code, fd = file_open_at(&(struct file_at){dirfd, "", OWNER_FILE},
                                O_RDWR | O_CREAT | O_EXCL, M2_E_RESULTS, err);

    if (fd < 0)
        return M2_E_RESULTS;
    if (fcntl(fd, F_OFD_SETLK, &lock) != 0)
        code = m2_fail(err, M2_E_RESULTS,
                       OWNER_FILE ": cannot lock: %s; the results folder "
                                  "must be on a file system with locks",
                       strerror(errno));
    else
        code = owner_write(fd, owner, err);
    if (code == 0) {
        *fd_out = fd;
        return 0;
    }
    close(fd);
    unlinkat(dirfd, OWNER_FILE, 0);
    return code;
}

int owner_beat(int fd, struct owner *owner, struct m2_error *err)
{
    owner->heartbeat++;
    return owner_write(fd, owner, err);
}

static void copy_string(const json_t *object, const char *key, char *out,
                        size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));

    snprintf(out, size, "%s", text != NULL ? text : "");
}

int owner_parse(const char *bytes, size_t size, struct owner *out,
                struct m2_error *err)
{
    json_error_t error = {0};
    json_t *object = json_loadb(bytes, size, JSON_DISABLE_EOF_CHECK, &error);

    if (!json_is_object(object)) {
        json_decref(object);
        return m2_fail(err, M2_E_RESULTS, OWNER_FILE ": damaged: %s",
                       error.text[0] != '\0' ? error.text : "no object");
    }
    copy_string(object, "host", out->host, sizeof out->host);
    copy_string(object, "boot_id", out->boot_id, sizeof out->boot_id);
    copy_string(object, "token", out->token, sizeof out->token);
    out->pid = json_integer_value(json_object_get(object, "pid"));
    out->start_ns = json_integer_value(json_object_get(object, "start_ns"));
    out->heartbeat = json_integer_value(json_object_get(object, "heartbeat"));
    json_decref(object);
    return 0;
}

/* A pipe in the place of the file must not be waited for. */
static int owner_open(int dirfd)
{
    const int flags = O_CLOEXEC | O_NONBLOCK;
    int fd = openat(dirfd, OWNER_FILE, O_RDWR | flags);

    if (fd < 0) /* another user's run, or a read-only folder */
        fd = openat(dirfd, OWNER_FILE, O_RDONLY | flags);
    return fd;
}

int owner_read(int dirfd, struct owner *out, bool *locked_out,
               struct m2_error *err)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char bytes[OWNER_LIMIT];
    int fd = owner_open(dirfd);
    ssize_t size;
    int code;

    if (fd < 0)
        return m2_fail(err, M2_E_RESULTS, OWNER_FILE ": cannot open: %s",
                       strerror(errno));
    *out = (struct owner){0};
    size = pread(fd, bytes, sizeof bytes, 0);
    if (size < 0)
        code = m2_fail(err, M2_E_RESULTS, OWNER_FILE ": cannot read: %s",
                       strerror(errno));
    else
        code = owner_parse(bytes, (size_t)size, out, err);
    /* Asking is enough: GETLK never takes the lock, so two observers do not
     * mistake each other for the owner. */
    *locked_out = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    close(fd);
    return code;
}

static double silence_s(void)
{
    const char *override = getenv("M2RUN_SILENCE_S");
    double seconds;

    return override != NULL && number_parse_double(override, &seconds)
               ? seconds
               : OWNER_SILENCE_S;
}

enum owner_state owner_judge(const struct owner *owner, bool locked,
                             struct owner_watch *watch)
{
    char boot_id[64];
    double now = time_monotonic();

    if (locked)
        return OWNER_ALIVE;
    read_boot_id(boot_id);
    if (strcmp(owner->boot_id, boot_id) == 0)
        return OWNER_DEAD;
    if (watch == NULL)
        return OWNER_UNSURE;
    if (strcmp(watch->token, owner->token) != 0 ||
        watch->heartbeat != owner->heartbeat) {
        snprintf(watch->token, sizeof watch->token, "%s", owner->token);
        watch->heartbeat = owner->heartbeat;
        watch->since_s = now;
    }
    return now - watch->since_s >= silence_s() ? OWNER_DEAD : OWNER_UNSURE;
}
