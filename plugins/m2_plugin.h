/* The handshake shared by every kind of m2run plugin.
 *
 * A plugin is a shared object in its own directory, m2_NAME.so, that exports
 * exactly one symbol, m2_plugin_query_v1.  The runner loads it with
 * RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, calls the symbol once, and checks
 * the descriptor that it returns before anything else of the plugin runs.
 *
 * Rules for plugins:
 *  - no output, no exit, no abort, no signal handlers: an error is a negative
 *    code plus a text;
 *  - no mutable globals: independent handles may be used from different
 *    threads at the same time;
 *  - link with -Wl,-z,defs, so that a missing symbol is an error of the build
 *    and not of the user's machine.
 *
 * A plugin's functions sit in slots.  Every slot has one signature,
 *
 *     int fn(void *handle, void *args, struct m2_error *err);
 *
 * where args points to the argument struct of that slot (m2_backend.h,
 * m2_data.h) and args_size is the size the plugin was compiled with.  Slots
 * are append-only: a plugin built before a slot was added has fewer slots and
 * stays valid; a plugin whose size for a known slot differs is refused by
 * name.  Members named *_out are written on success only. */
#ifndef M2_PLUGIN_H
#define M2_PLUGIN_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Number in the symbol's name and in the plugin directory's name. */
#define M2_PLUGIN_ABI    1
#define M2_PLUGIN_SYMBOL "m2_plugin_query_v1"

/* Result codes.  0 is success, everything else is negative.  The runner maps
 * them to exit codes: the first seven are the exit code itself. */
enum m2_code {
    M2_OK = 0,
    M2_E_FAILED = -1,       /* the run failed for another reason */
    M2_E_USAGE = -2,        /* command line */
    M2_E_CONFIG = -3,       /* experiment file, override, plugin option */
    M2_E_DEVICE = -4,       /* plugin or device cannot be used */
    M2_E_DATA = -5,         /* data missing, damaged or not as configured */
    M2_E_RESULTS = -6,      /* results directory: not writable, full, locked */
    M2_E_DIFFERS = -7,      /* a comparison found a difference */
    M2_E_ARGUMENT = -10,    /* an op was called with wrong device/dtype/shape */
    M2_E_UNSUPPORTED = -11, /* the plugin says so; there is no fallback */
    M2_E_MEMORY = -12,      /* out of memory, host or device */
    M2_E_DIVERGED = -13,    /* a number that must be finite is not */
    M2_E_INTERNAL = -70,    /* our own mistake */
    M2_E_STOPPED = -75,     /* stopped on request; resumable */
};

/* One message, made where the cause is known, passed up unchanged. */
struct m2_error {
    int code; /* enum m2_code of the last m2_fail */
    char text[2040];
};

/* Formats a message into err (which may be NULL) and returns code. */
__attribute__((format(printf, 3, 4))) static inline int
m2_fail(struct m2_error *err, int code, const char *format, ...)
{
    va_list arguments;

    if (err == NULL)
        return code;
    err->code = code;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    return code;
}

enum m2_plugin_kind {
    M2_PLUGIN_BACKEND = 1, /* computes; slots of m2_backend.h */
    M2_PLUGIN_DATA = 2,    /* brings series; slots of m2_data.h */
};

typedef int (*m2_slot_fn)(void *handle, void *args, struct m2_error *err);

struct m2_slot {
    m2_slot_fn fn; /* NULL: not provided */
    size_t args_size;
};

/* Types of a plugin option, as in the experiment file. */
enum m2_option_type {
    M2_OPTION_STRING = 1,
    M2_OPTION_BOOL,
    M2_OPTION_INT,
    M2_OPTION_FLOAT,
    M2_OPTION_CHOICE,  /* one of choices */
    M2_OPTION_STRINGS, /* a string or a list of strings */
};

/* One key that a plugin accepts (under data.options for a data plugin).  The
 * runner checks type, range and spelling against this table, generates the
 * reference page and the JSON Schema from it, and passes only values that
 * passed the check.  The table ends with a NULL name. */
struct m2_option {
    const char *name;
    enum m2_option_type type;
    const char *initial;        /* default as text; NULL: no value */
    double low, high;           /* range of a number; low == high: any */
    const char *const *choices; /* M2_OPTION_CHOICE: NULL-terminated */
    const char *help;           /* one or two sentences */
};

/* A value handed to a plugin.  Every option of the table is handed over,
 * defaults included, in the order of the table; an option without a value has
 * n_texts 0. */
struct m2_value {
    const char *name;
    const char *const *texts; /* the value's canonical text, or list of them */
    size_t n_texts;
    int64_t integer; /* M2_OPTION_INT, M2_OPTION_BOOL (0, 1) */
    double number;   /* M2_OPTION_FLOAT, M2_OPTION_INT */
};

struct m2_plugin {
    size_t size; /* sizeof(struct m2_plugin) of the plugin's build */
    uint32_t abi;
    uint32_t kind;     /* enum m2_plugin_kind */
    const char *name;  /* as in the file name m2_NAME.so */
    const char *build; /* version, compiler, libraries: one line, recorded */
    uint32_t numerics; /* raised whenever results may change in any bit */
    uint32_t n_slots;
    const struct m2_slot *slots;
    const struct m2_option *options; /* NULL: none */
    const char *help;                /* one paragraph for the reference page */
};

/* What the runner offers.  All members are valid for the whole process. */
struct m2_host {
    size_t size;
    uint32_t abi;
    const char *version;
    /* A line for the log: level 0 info, 1 warning. */
    void (*log)(int level, const char *text);
};

#if defined(__GNUC__)
#define M2_EXPORT __attribute__((visibility("default")))
#else
#define M2_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The one exported symbol.  Returns a descriptor with static lifetime. */
M2_EXPORT const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *);

#ifdef __cplusplus
}
#endif

#endif
