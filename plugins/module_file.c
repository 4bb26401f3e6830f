/* Opening a module: dlopen, the one symbol, the handshake. */
#include "module_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "handshake.h"

/* End of the file's last loaded segment, or 0 when this is no module that
 * could be mapped (dlopen then says why). */
static uint64_t mapped_end(int fd)
{
    ElfW(Ehdr) header;
    uint64_t end = 0;

    if (pread(fd, &header, sizeof header, 0) != sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)))
        return 0;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        off_t at = (off_t)(header.e_phoff + i * sizeof segment);

        if (pread(fd, &segment, sizeof segment, at) != sizeof segment)
            return 0;
        if (segment.p_type == PT_LOAD &&
            segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    return end;
}

/* dlopen maps a file without looking at its length, and a page past the end
 * kills the process with SIGBUS: a truncated file must be found before. */
static int check_file(const char *path, struct m2_error *err)
{
    struct stat facts;
    uint64_t end = 0;
    int fd;

    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s does not load: it is not a regular file",
                       path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return m2_fail(err, M2_E_DEVICE, "plugin %s does not load: %s", path,
                       strerror(errno));
    if (fstat(fd, &facts) == 0)
        end = mapped_end(fd);
    close(fd);
    if (end > (uint64_t)facts.st_size)
        return m2_fail(err, M2_E_DEVICE,
                       "plugin %s does not load: the file is truncated: it "
                       "has %llu bytes, its segments need %llu",
                       path, (unsigned long long)facts.st_size,
                       (unsigned long long)end);
    return M2_OK;
}

/* dlsym also finds the symbol in a library that the module depends on. */
static int is_own_symbol(void *module, const void *symbol)
{
    struct link_map *map, *owner;
    Dl_info info;

    return dlinfo(module, RTLD_DI_LINKMAP, &map) == 0 &&
           dladdr1(symbol, &info, (void **)&owner, RTLD_DL_LINKMAP) != 0 &&
           map == owner;
}

int module_open(const char *path, const char *name, const struct m2_host *host,
                const struct m2_plugin **out, struct m2_error *err)
{
    const struct m2_plugin *(*query)(const struct m2_host *);
    const struct m2_plugin *descriptor;
    void *module, *symbol;
    int rc = check_file(path, err);

    if (rc != M2_OK)
        return rc;
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL)
        return m2_fail(err, M2_E_DEVICE, "plugin %s does not load: %s", path,
                       dlerror());
    symbol = dlsym(module, M2_PLUGIN_SYMBOL);
    if (symbol == NULL || !is_own_symbol(module, symbol))
        return m2_fail(
            err, M2_E_DEVICE,
            "plugin %s refused: it does not define the symbol " M2_PLUGIN_SYMBOL,
            path);
    /* ISO C has no conversion from an object to a function pointer. */
    memcpy(&query, &symbol, sizeof query);
    descriptor = query(host);
    rc = handshake_check(descriptor, path, name, err);
    if (rc == M2_OK)
        *out = descriptor;
    return rc;
}
