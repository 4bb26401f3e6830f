/* Growing a list of facts. */
#include "data/facts.h"

#include <stdlib.h>

#include "util/memory.h"

int fact_add(struct fact_list *list, struct fact fact, const char *format, ...)
{
    struct text what = {0};
    struct dataset_fact item = {.n = fact.n, .warning = fact.warning};
    va_list arguments;

    va_start(arguments, format);
    text_addv(&what, format, arguments);
    va_end(arguments);
    item.what = text_steal(&what, fact.err);
    if (item.what == NULL)
        return M2_E_MEMORY;
    if (fact.where != NULL) {
        item.where = memory_string(fact.where, fact.err);
        if (item.where == NULL)
            goto err_free;
    }
    if (array_reserve(&list->items, &list->capacity, list->count + 1,
                      sizeof *list->items, fact.err) != 0)
        goto err_free;
    list->items[list->count++] = item;
    return M2_OK;

err_free:
    free(item.what);
    free(item.where);
    return M2_E_MEMORY;
}

void fact_list_free(struct fact_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].what);
        free(list->items[i].where);
    }
    free(list->items);
    *list = (struct fact_list){0};
}
