/* Modules with one mistake each, chosen by BAD_...; without a choice it is a
 * valid module, a data source without series. */
#include "m2_data.h"

#ifndef BAD_NAME
#define BAD_NAME "good"
#endif

#if !defined(BAD_SYMBOL)

static int nothing(void *handle, void *args, struct m2_error *err)
{
    (void)handle;
    (void)args;
    (void)err;
    return M2_OK;
}

static const struct m2_slot slots[] = {
#ifdef BAD_SLOT_SIZE
    [M2_DATA_OPEN] = {nothing, sizeof(struct m2_data_open) + 8},
#else
    [M2_DATA_OPEN] = {nothing, sizeof(struct m2_data_open)},
#endif
    [M2_DATA_INFO] = {nothing, sizeof(struct m2_data_info)},
#ifndef BAD_MISSING_SLOT
    [M2_DATA_NEXT] = {nothing, sizeof(struct m2_data_next)},
#endif
    [M2_DATA_COUNTS] = {nothing, sizeof(struct m2_data_counts)},
    [M2_DATA_CLOSE] = {nothing, 0},
#ifdef BAD_NEWER
    [M2_DATA_N_SLOTS] = {nothing, 4096}, /* a slot that is not known yet */
#endif
};

static const struct m2_plugin descriptor = {
#ifdef BAD_SIZE
    .size = offsetof(struct m2_plugin, options),
#else
    .size = sizeof(struct m2_plugin),
#endif
#ifdef BAD_ABI
    .abi = M2_PLUGIN_ABI + 1,
#else
    .abi = M2_PLUGIN_ABI,
#endif
#ifdef BAD_KIND
    .kind = 7,
#else
    .kind = M2_PLUGIN_DATA,
#endif
    .name = BAD_NAME,
#ifndef BAD_BUILD
    .build = "for tests",
#endif
    .n_slots = sizeof slots / sizeof slots[0],
#ifndef BAD_TABLE
    .slots = slots,
#endif
};

#ifdef BAD_UNRESOLVED
int m2_function_that_nobody_defines(void);
#endif

const struct m2_plugin *m2_plugin_query_v1(const struct m2_host *host)
{
#ifdef BAD_UNRESOLVED
    if (m2_function_that_nobody_defines())
        return NULL;
#endif
#ifdef BAD_DESCRIPTOR
    if (host != NULL)
        return NULL;
#endif
    (void)host;
    return &descriptor;
}

#elif defined(BAD_OTHER_SYMBOL)

/* Keeps the link to the library that has the symbol. */
M2_EXPORT const void *m2_borrowed_symbol(void);
M2_EXPORT const void *m2_borrowed_symbol(void)
{
    return (const void *)(uintptr_t)m2_plugin_query_v1;
}

#else

M2_EXPORT int m2_some_other_symbol(void);
M2_EXPORT int m2_some_other_symbol(void)
{
    return 0;
}

#endif
