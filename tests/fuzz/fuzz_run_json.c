/* libFuzzer: any bytes as the files of a results folder.
 *
 * The first byte chooses: 'r' run.json of one run or more, with a byte 0xff
 * between them, read as by ls, best and show; 'o' owner.json; 'm' metrics.csv;
 * 's' the record of a sweep. */
#include <stdlib.h>
#include <string.h>

#include "cli/ls_table.h"
#include "cli/show.h"
#include "results/csvlog.h"
#include "results/leaderboard.h"
#include "results/owner.h"
#include "results/query.h"
#include "results/record_reader.h"
#include "sweep/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MAX_RUNS = 4 };

static char *copy_of(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        abort();
    return copy;
}

/* The entry of a run whose folder is not there. */
static void read_run(struct run_entry *out, const char *bytes, size_t size)
{
    const char *state;

    *out = (struct run_entry){
        .path = copy_of("/nowhere"),
        .experiment = copy_of("fuzz"),
        .run = copy_of("run-0123456789ab"),
        .published = size % 2 == 0,
    };
    run_entry_parse(out, bytes, size);
    if ((out->record == NULL) == (out->damage == NULL))
        abort();
    state = json_string_value(run_value(out, NULL, "state"));
    snprintf(out->state, sizeof out->state, "%s",
             state != NULL ? state : "damaged");
}

static void list_runs(struct run_list *list, const char *bytes, size_t size)
{
    const char *end = bytes + size;

    list->entries = calloc(MAX_RUNS, sizeof *list->entries);
    while (list->n < MAX_RUNS) {
        const char *next = memchr(bytes, 0xff, (size_t)(end - bytes));
        const char *stop = next != NULL ? next : end;

        read_run(&list->entries[list->n++], bytes, (size_t)(stop - bytes));
        if (next == NULL)
            break;
        bytes = next + 1;
    }
}

/* A reader of many records finds in each what the JSON library finds. */
static void check_readers(const char *bytes, size_t size)
{
    struct record_reader together = {0}, apart = {.settings_apart = true};
    const char *end = bytes + size;

    for (;;) {
        const char *next = memchr(bytes, 0xff, (size_t)(end - bytes));
        size_t length = (size_t)((next != NULL ? next : end) - bytes);
        struct run_entry a = {.path = copy_of("/nowhere")}, b = a;
        struct run_entry alone = a;
        struct m2_error err;

        if (record_reader_parse(&together, bytes, length, &a, &err) != 0 ||
            record_reader_parse(&apart, bytes, length, &b, &err) != 0)
            abort();
        run_entry_parse(&alone, bytes, length);
        if ((alone.record == NULL) != (b.record == NULL) ||
            (alone.record != NULL && !json_equal(alone.record, a.record)))
            abort();
        for (size_t i = 0; b.settings != NULL && i < b.settings->n; i++)
            if (!json_equal(
                    b.settings->items[i].value,
                    run_value(&alone, "config",
                              json_string_value(b.settings->items[i].key))))
                abort();
        b.path = alone.path = NULL;
        run_entry_free(&a);
        run_entry_free(&b);
        run_entry_free(&alone);
        if (next == NULL)
            break;
        bytes = next + 1;
    }
    record_reader_free(&together);
    record_reader_free(&apart);
}

static void show_tables(const struct run_list *list)
{
    struct text text = {0};
    struct m2_error err;

    for (int format = LS_TEXT; format <= LS_CSV; format++)
        if (ls_table_write(list, (enum ls_format)format, 0, &text, &err) != 0)
            abort();
    text_clear(&text);
    if (ls_table_write(list, LS_JSON, 0, &text, &err) == 0) {
        json_t *again =
            json_loadb(text_string(&text), text.length, JSON_ALLOW_NUL, NULL);

        if (again == NULL) /* what is written must be read again */
            abort();
        json_decref(again);
    }
    for (size_t i = 0; i < list->n; i++)
        if (show_report(&list->entries[i], &text, &err) != 0)
            abort();
    text_free(&text);
}

static void rank_runs(const struct run_list *list)
{
    struct leaderboard board;
    struct m2_error err;
    volatile double sum = 0;

    if (leaderboard_make(list, &board, &err) != 0)
        abort();
    for (size_t i = 0; i < board.n; i++)
        sum += statistic_mean(&board.rows[i].metric) +
               statistic_std(&board.rows[i].metric);
    (void)sum;
    leaderboard_free(&board);
}

/* Conditions and orders as a user may ask for them. */
static void ask_runs(struct run_list *list)
{
    static const char *const orders[] = {"best", "progress", "lr", "val/mse"};
    static const char *const texts[] = {"best<1", "state=d*", "lr!=0.1"};
    struct run_condition conditions[3];
    struct run_key key;
    struct m2_error err;
    size_t n = 0;

    for (size_t i = 0; i < 4; i++)
        if (run_key_find(list, orders[i], &key, &err) == 0)
            run_list_sort(list, &key, i % 2 == 1, &err);
    for (size_t i = 0; i < 3; i++)
        n += run_condition_parse(list, texts[i], &conditions[n], &err) == 0;
    run_list_filter(list, conditions, n);
}

static void test_runs(const char *bytes, size_t size)
{
    struct run_list list = {0};

    check_readers(bytes, size);
    list_runs(&list, bytes, size);
    show_tables(&list);
    rank_runs(&list);
    ask_runs(&list);
    run_list_free(&list);
}

static void test_owner(const char *bytes, size_t size)
{
    struct owner_watch watch = {0};
    struct owner owner = {0};
    struct m2_error err;

    if (owner_parse(bytes, size, &owner, &err) != 0)
        return;
    owner_judge(&owner, false, NULL);
    owner_judge(&owner, false, &watch);
}

static void test_table(const char *bytes, size_t size)
{
    struct csv_table table;
    struct m2_error err;
    volatile size_t length = 0;

    if (csv_table_parse("metrics.csv", bytes, size, &table, &err) != 0)
        return;
    csv_table_column(&table, "step");
    for (size_t i = 0; i < table.n_rows * table.n_columns; i++)
        length += strlen(table.cells[i]);
    (void)length;
    csv_table_free(&table);
}

static void test_sweep(const char *bytes)
{
    const struct record_text record = {"sweep.yaml", bytes};
    struct record_run run;
    struct text base = {0};
    struct m2_error err;

    for (size_t i = 0; i < MAX_RUNS; i++) {
        if (sweep_record_parse(&record, i, &base, &run, &err) == 0)
            record_run_free(&run);
        text_clear(&base);
    }
    text_free(&base);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size);
    memcpy(text, bytes + 1, size - 1);
    text[size - 1] = '\0';
    if (bytes[0] == 'r')
        test_runs(text, size - 1);
    else if (bytes[0] == 'o')
        test_owner(text, size - 1);
    else if (bytes[0] == 'm')
        test_table(text, size - 1);
    else if (bytes[0] == 's')
        test_sweep(text);
    free(text);
    return 0;
}
