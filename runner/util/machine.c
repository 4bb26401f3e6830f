/* What the system tells of the processor and the libraries of this process. */
#include "util/machine.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/path.h"

/* ---- processor ----------------------------------------------------------- */

/* Features by which libraries choose their kernels; others are left out, for
 * they come and go with the kernel and the hypervisor. */
static const char *const isa_words[] = {
    "sse4_2",      "avx",
    "avx2",        "fma",
    "f16c",        "avx512f",
    "avx512dq",    "avx512bw",
    "avx512vl",    "avx512_vnni",
    "avx512_bf16", "avx512_fp16",
    "avx_vnni",    "amx_bf16",
    "amx_int8",    "asimd",
    "asimdhp",     "asimddp",
    "sve",         "sve2",
    "bf16",        "altivec_supported",
    "rvv",
};

static bool is_isa_word(const char *word)
{
    for (size_t i = 0; i < sizeof isa_words / sizeof isa_words[0]; i++)
        if (strcmp(isa_words[i], word) == 0)
            return true;
    return false;
}

static void add(char *out, size_t size, const char *between, const char *word)
{
    size_t length = strlen(out);

    snprintf(out + length, size - length, "%s%s", length > 0 ? between : "",
             word);
}

static void take_isa(char *words, struct machine_facts *out)
{
    char *rest = words, *word;

    while ((word = strsep(&rest, " \n")) != NULL)
        if (is_isa_word(word))
            add(out->isa, sizeof out->isa, " ", word);
}

/* A line "key : value" of /proc/cpuinfo. */
static void take_line(char *line, struct machine_facts *out)
{
    static const struct {
        const char *key, *prefix;
    } parts[] = {
        {"model name", ""},
        {"cpu family", "family "},
        {"model", "model "},
        {"stepping", "stepping "},
        {"CPU implementer", "implementer "},
        {"CPU part", "part "},
        {"CPU variant", "variant "},
        {"uarch", ""},
    };
    char *value = strchr(line, ':'), text[128];

    if (value == NULL)
        return;
    for (char *end = value; end > line && strchr(" \t:", *end) != NULL; end--)
        *end = '\0';
    value += 1 + strspn(value + 1, " \t");
    value[strcspn(value, "\n")] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(line, parts[i].key) == 0) {
            snprintf(text, sizeof text, "%s%.100s", parts[i].prefix, value);
            add(out->cpu, sizeof out->cpu, ", ", text);
        }
    if (strcmp(line, "flags") == 0 || strcmp(line, "Features") == 0)
        take_isa(value, out);
}

/* The first processor's lines, which end with an empty one: where there are
 * hundreds, the others take long to make. */
static void read_processor(struct machine_facts *out)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t size = 0;

    if (file == NULL)
        return;
    while (getline(&line, &size, file) > 1)
        take_line(line, out);
    free(line);
    fclose(file);
}

void machine_facts(struct machine_facts *out)
{
    *out = (struct machine_facts){0};
    read_processor(out);
#ifdef _CS_GNU_LIBC_VERSION
    if (confstr(_CS_GNU_LIBC_VERSION, out->libc, sizeof out->libc) == 0)
        out->libc[0] = '\0';
#endif
}

/* ---- libraries ----------------------------------------------------------- */

struct visiting {
    int (*visit)(void *context, const char *name,
                 const char build_id[MACHINE_BUILD_ID_SIZE]);
    void *context;
};

/* A build id is the note of type NT_GNU_BUILD_ID and owner "GNU". */
static bool find_build_id(const unsigned char *notes, size_t size,
                          char out[MACHINE_BUILD_ID_SIZE])
{
    size_t at = 0;

    while (at + sizeof(ElfW(Nhdr)) <= size) {
        ElfW(Nhdr) head;
        size_t name = at + sizeof head, text, next;

        memcpy(&head, notes + at, sizeof head);
        text = name + (((size_t)head.n_namesz + 3) & ~(size_t)3);
        next = text + (((size_t)head.n_descsz + 3) & ~(size_t)3);
        if (next > size || next <= at)
            return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(notes + name, "GNU", 4) == 0 &&
            2 * (size_t)head.n_descsz < MACHINE_BUILD_ID_SIZE) {
            for (size_t i = 0; i < head.n_descsz; i++)
                snprintf(out + 2 * i, 3, "%02x", notes[text + i]);
            return head.n_descsz > 0;
        }
        at = next;
    }
    return false;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    const struct visiting *visiting = context;
    char build_id[MACHINE_BUILD_ID_SIZE];

    (void)size;
    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0')
        return 0; /* the program itself */
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        const void *notes =
            (const void *)(uintptr_t)(info->dlpi_addr + part->p_vaddr);

        if (part->p_type == PT_NOTE &&
            find_build_id(notes, part->p_memsz, build_id))
            return visiting->visit(visiting->context,
                                   path_basename(info->dlpi_name), build_id);
    }
    return 0;
}

int machine_libraries(int (*visit)(void *context, const char *name,
                                   const char build_id[MACHINE_BUILD_ID_SIZE]),
                      void *context)
{
    struct visiting visiting = {visit, context};

    return dl_iterate_phdr(visit_object, &visiting);
}
