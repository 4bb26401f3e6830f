/* Deterministic numbers in one file, times in another. */
#include "train/rows.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "util/file.h"
#include "util/memory.h"
#include "util/number.h"
#include "util/path.h"

enum { FIXED_COLUMNS = 5, MAX_COLUMNS = FIXED_COLUMNS + SCORE_MAX + 1 };

struct rows {
    struct csvlog *metrics, *timing;
    size_t n_scores;
    char names[SCORE_MAX][32];
};

static const char *const timing_columns[] = {"step", "seconds", "samples_per_s",
                                             "peak_bytes"};
enum { N_TIMING = sizeof timing_columns / sizeof *timing_columns };

static size_t metric_columns(const struct rows *rows, const char **columns)
{
    static const char *const fixed[FIXED_COLUMNS] = {
        "step", "epoch", "lr", "train/loss", "train/grad_norm"};
    size_t n = 0;

    for (; n < FIXED_COLUMNS; n++)
        columns[n] = fixed[n];
    for (size_t i = 0; i < rows->n_scores; i++)
        columns[n++] = rows->names[i];
    columns[n++] = "trace";
    return n;
}

static int create_timing(struct rows *rows, int dirfd, struct m2_error *err)
{
    return csvlog_create(dirfd, "timing.csv", timing_columns, N_TIMING,
                         &rows->timing, err);
}

/* Times are not compared: a torn last line of an earlier attempt is cut, and
 * a file that cannot be used is begun anew. */
static int continue_timing(struct rows *rows, int dirfd, const char *resume_dir,
                           struct m2_error *err)
{
    struct text text = {0};
    char *path = path_join(resume_dir, "timing.csv", err);
    const char *end;
    int code = path == NULL ? M2_E_MEMORY
                            : file_check_regular(path, M2_E_RESULTS, NULL);

    if (code == 0)
        code = file_read(path, (size_t)1 << 30, M2_E_RESULTS, &text, NULL);
    if (code == 0) {
        end = strrchr(text_string(&text), '\n');
        code = csvlog_continue(dirfd, "timing.csv", path,
                               end == NULL ? 0 : end + 1 - text.bytes,
                               timing_columns, N_TIMING, &rows->timing, NULL);
    }
    if (code == M2_E_RESULTS)
        code = create_timing(rows, dirfd, err);
    text_free(&text);
    free(path);
    return code;
}

static int continue_metrics(struct rows *rows, int dirfd,
                            const char *resume_dir, int64_t bytes,
                            struct m2_error *err)
{
    const char *columns[MAX_COLUMNS];
    size_t n = metric_columns(rows, columns);
    char *path = path_join(resume_dir, "metrics.csv", err);
    int code = path == NULL ? M2_E_MEMORY
                            : csvlog_continue(dirfd, "metrics.csv", path, bytes,
                                              columns, n, &rows->metrics, err);

    free(path);
    return code;
}

int rows_open(int dirfd, const char *resume_dir,
              const struct train_state *state, const struct score *names,
              struct rows **out, struct m2_error *err)
{
    struct rows *rows = memory_zeroed(1, sizeof *rows, err);
    const char *columns[MAX_COLUMNS];
    int code;

    if (rows == NULL)
        return M2_E_MEMORY;
    rows->n_scores = names->n;
    for (size_t i = 0; i < names->n; i++)
        snprintf(rows->names[i], sizeof rows->names[i], "val/%s",
                 names->items[i].name);
    if (resume_dir != NULL) {
        code = continue_metrics(rows, dirfd, resume_dir, state->metrics_bytes,
                                err);
        if (code == 0)
            code = continue_timing(rows, dirfd, resume_dir, err);
    } else {
        size_t n = metric_columns(rows, columns);

        code = csvlog_create(dirfd, "metrics.csv", columns, n, &rows->metrics,
                             err);
        if (code == 0)
            code = create_timing(rows, dirfd, err);
    }
    if (code != 0) {
        rows_close(rows);
        return code;
    }
    *out = rows;
    return 0;
}

void rows_close(struct rows *rows)
{
    if (rows == NULL)
        return;
    csvlog_close(rows->metrics);
    csvlog_close(rows->timing);
    free(rows);
}

/* A number that is not defined is an empty cell. */
static const char *number_cell(double value, char out[NUMBER_TEXT_SIZE])
{
    return isnan(value) ? "" : number_print_double(value, out);
}

int rows_write(struct rows *rows, const struct train_state *state, double lr,
               const struct score *score, struct m2_error *err)
{
    char text[MAX_COLUMNS][NUMBER_TEXT_SIZE];
    const char *cells[MAX_COLUMNS];
    char trace[TRACE_TEXT];
    double steps = (double)state->row_steps;
    size_t n = 0;

    snprintf(text[0], sizeof text[0], "%" PRId64, state->step);
    snprintf(text[1], sizeof text[1], "%" PRId64, state->epoch);
    cells[n++] = text[0];
    cells[n++] = text[1];
    cells[n] = number_cell(lr, text[n]);
    n++;
    cells[n] = number_cell(state->row_loss / steps, text[n]);
    n++;
    cells[n] = number_cell(state->row_norm / steps, text[n]);
    n++;
    for (size_t i = 0; i < rows->n_scores; i++, n++)
        cells[n] =
            score == NULL ? "" : number_cell(score->items[i].value, text[n]);
    trace_print(state->trace, trace);
    cells[n++] = trace;
    return csvlog_row(rows->metrics, cells, err);
}

int rows_sync(struct rows *rows, int64_t *bytes_out, struct m2_error *err)
{
    *bytes_out = csvlog_bytes(rows->metrics);
    return csvlog_sync(rows->metrics, err);
}

int rows_write_timing(struct rows *rows, int64_t step, double seconds,
                      int64_t samples, struct m2_error *err)
{
    struct rusage usage = {0};
    char text[N_TIMING][NUMBER_TEXT_SIZE];
    const char *cells[N_TIMING] = {text[0], text[1], text[2], text[3]};

    getrusage(RUSAGE_SELF, &usage);
    snprintf(text[0], sizeof text[0], "%" PRId64, step);
    snprintf(text[1], sizeof text[1], "%.6f", seconds);
    snprintf(text[2], sizeof text[2], "%.3f",
             seconds > 0 ? (double)samples / seconds : 0.0);
    snprintf(text[3], sizeof text[3], "%ld", usage.ru_maxrss * 1024L);
    return csvlog_row(rows->timing, cells, err);
}
