/* Drawing the moments of kills, and seeing them come. */
#include "prove/aim.h"

#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/path.h"
#include "util/timefmt.h"

/* The longest delay: a worker that begins is at work after that. */
#define BEGIN_S 0.02

/* Every draw has an index of its own: which worker, and which of its draws. */
static double draw(const struct aim *aim, uint64_t which)
{
    return random_uniform(aim->request.stream, 4 * aim->workers + which);
}

void aim_prepare(struct aim *aim, const struct aim_request *request)
{
    *aim = (struct aim){.request = *request, .target = -1};
}

/* ---- looking ------------------------------------------------------------- */

/* metrics.csv of the newest attempt; NULL when there is none.  *number_out is
 * the attempt's, 0: none. */
static char *newest_metrics(const struct run_place *place, int *number_out)
{
    struct string_list names = {0};
    struct text text = {0};
    char *active = store_active_path(place);

    *number_out = 0;
    if (active != NULL && file_is_dir(active))
        path_list(active, M2_E_RESULTS, &names, NULL);
    for (size_t i = names.count; *number_out == 0 && i-- > 0;) {
        *number_out = store_attempt_number(names.items[i]);
        if (*number_out > 0)
            text_addf(&text, "%s/%s/metrics.csv", active, names.items[i]);
    }
    free(active);
    string_list_free(&names);
    return text.length > 0 ? text_steal(&text, NULL) : NULL;
}

/* Bytes that the worker has written; those of an attempt before do not
 * count. */
static int64_t bytes_written(const struct aim *aim,
                             const struct run_place *place)
{
    struct file_facts facts = {0};
    int number;
    char *path = newest_metrics(place, &number);

    if (path != NULL && number > aim->before)
        file_get_facts(path, M2_E_RESULTS, &facts, NULL);
    free(path);
    return facts.size;
}

/* Has the file a row below its header? */
static bool has_rows(const char *path)
{
    struct text text = {0};
    const char *header;
    bool found = false;

    if (file_read(path, (size_t)1 << 28, M2_E_RESULTS, &text, NULL) == 0) {
        header = strchr(text_string(&text), '\n');
        found = header != NULL && strchr(header + 1, '\n') != NULL;
    }
    text_free(&text);
    return found;
}

/* ---- aiming -------------------------------------------------------------- */

/* The kills that are left share the rest of the file, so that the last one can
 * be anywhere and all of them find something to kill.  Every third kill is due
 * while a worker begins, the first one never: it must find rows. */
void aim_begin(struct aim *aim, const struct run_place *place)
{
    size_t left = aim->request.kills - aim->hits;
    int64_t rest = aim->request.final_bytes - aim->furthest;

    aim->workers++;
    aim->reached_s = 0;
    aim->target = -1;
    free(newest_metrics(place, &aim->before));
    if (left == 0 || rest <= 0)
        return;
    if (aim->hits % 3 == 2) {
        aim->target = 0;
        aim->delay_s = BEGIN_S * draw(aim, 0);
        return;
    }
    aim->target =
        1 + aim->furthest +
        (int64_t)((double)rest * (0.1 + 0.8 * draw(aim, 0)) / (double)left);
    aim->delay_s = 2 * aim->request.step_s * draw(aim, 1);
}

bool aim_is_due(struct aim *aim, const struct run_place *place)
{
    double now = time_monotonic();

    if (aim->target < 0)
        return false;
    if (aim->reached_s == 0) {
        if (aim->target > 0 && bytes_written(aim, place) < aim->target)
            return false;
        aim->reached_s = now;
    }
    return now - aim->reached_s >= aim->delay_s;
}

bool aim_hit(struct aim *aim, const struct run_place *place)
{
    int64_t bytes = bytes_written(aim, place);
    int number;
    char *path = newest_metrics(place, &number);
    bool midway = path != NULL && bytes > 0 &&
                  bytes < aim->request.final_bytes && has_rows(path);

    free(path);
    aim->hits++;
    if (bytes > aim->furthest)
        aim->furthest = bytes;
    return midway;
}
