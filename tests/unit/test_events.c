/* Events between a worker and its parent. */
#include "schedule/events.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "tests/unit/unit.h"

/* What a reader of the pipe gets. */
static void pass(const struct event *event, char *line, size_t size)
{
    int ends[2];
    ssize_t n;

    assert_int_equal(pipe(ends), 0);
    event_send(ends[1], event);
    n = read(ends[0], line, size - 1);
    assert_true(n > 0);
    line[n] = '\0';
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(line[n - 1], '\n');
    line[n - 1] = '\0';
    assert_null(strchr(line, '\n'));
}

static void events_are_read_as_sent(void **state)
{
    static const struct event events[] = {
        {.kind = EVENT_PROGRESS,
         .step = 12,
         .total = 400,
         .saved = 10,
         .loss = 0.125,
         .rate = 1e6,
         .eta = 31},
        {.kind = EVENT_END,
         .state = "diverged",
         .path = "/a \"b\"/c",
         .reason = "step 3:\nthe loss \\ \x01 \xc3\xa4"},
        {.kind = EVENT_HELD},
        {.kind = EVENT_ERROR, .code = -5, .reason = "x.csv:3: no number"},
    };
    char line[8192];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        struct event read;

        pass(&events[i], line, sizeof line);
        event_parse(line, &read);
        assert_int_equal(read.kind, events[i].kind);
        assert_int_equal(read.step, events[i].step);
        assert_int_equal(read.total, events[i].total);
        assert_int_equal(read.saved, events[i].saved);
        assert_int_equal(read.code, events[i].code);
        assert_string_equal(read.state, events[i].state);
        assert_string_equal(read.path, events[i].path);
        assert_string_equal(read.reason, events[i].reason);
        if (events[i].kind == EVENT_PROGRESS) {
            assert_true(read.loss == events[i].loss);
            assert_true(read.rate == events[i].rate);
            assert_true(read.eta == events[i].eta);
        }
    }
}

static void numbers_that_json_lacks_are_unknown(void **state)
{
    const struct event event = {
        .kind = EVENT_PROGRESS, .loss = NAN, .rate = INFINITY, .eta = -NAN};
    struct event read;
    char line[8192];

    (void)state;
    pass(&event, line, sizeof line);
    event_parse(line, &read);
    assert_int_equal(read.kind, EVENT_PROGRESS);
    assert_true(isnan(read.loss));
    assert_true(isnan(read.rate));
    assert_true(isnan(read.eta));
}

static void other_lines_are_no_events(void **state)
{
    static const char *const lines[] = {
        "",
        "Segmentation fault",
        "{}",
        "[1, 2]",
        "{\"event\": 3}",
        "{\"event\": \"news\"}",
        "{\"event\": \"end\"",
        "null",
        "{\"event\": \"\"}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct event read;

        event_parse(lines[i], &read);
        if (read.kind != EVENT_NONE)
            fail_msg("'%s' is an event", lines[i]);
    }
}

static void members_of_another_type_are_as_missing(void **state)
{
    struct event read;

    (void)state;
    event_parse("{\"event\": \"end\", \"state\": 3, \"reason\": [], \"step\":"
                " \"x\", \"loss\": \"1\"}",
                &read);
    assert_int_equal(read.kind, EVENT_END);
    assert_string_equal(read.state, "");
    assert_string_equal(read.reason, "");
    assert_int_equal(read.step, 0);
    assert_true(isnan(read.loss));
}

static void texts_that_are_too_long_are_cut(void **state)
{
    char line[8192] = "{\"event\": \"error\", \"reason\": \"";
    size_t length = strlen(line);
    struct event read;

    (void)state;
    memset(line + length, 'x', 4000);
    strcpy(line + length + 4000, "\"}");
    event_parse(line, &read);
    assert_int_equal(read.kind, EVENT_ERROR);
    assert_int_equal(strlen(read.reason), sizeof read.reason - 1);
}

static void a_reader_that_is_gone_is_no_error(void **state)
{
    const struct event event = {.kind = EVENT_HELD};
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    close(ends[0]);
    event_send(ends[1], &event);
    close(ends[1]);
    event_send(-1, &event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_read_as_sent),
        cmocka_unit_test(numbers_that_json_lacks_are_unknown),
        cmocka_unit_test(other_lines_are_no_events),
        cmocka_unit_test(members_of_another_type_are_as_missing),
        cmocka_unit_test(texts_that_are_too_long_are_cut),
        cmocka_unit_test(a_reader_that_is_gone_is_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
