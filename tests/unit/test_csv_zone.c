/* Time zones of the csv plugin: files, rules, and changes of the clocks. */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "common/civil.h"
#include "csv/zone.h"
#include "unit.h"

/* A zone file in the making. */
struct zone_file {
    uint8_t bytes[4096];
    size_t n;
};

static void put(struct zone_file *file, uint64_t value, int size)
{
    for (int i = size - 1; i >= 0; i--)
        file->bytes[file->n++] = (uint8_t)(value >> (8 * i));
}

static void put_header(struct zone_file *file, char version, uint32_t n_times,
                       uint32_t n_types)
{
    memcpy(file->bytes + file->n, "TZif", 4);
    file->n += 4;
    put(file, (uint8_t)version, 1);
    for (int i = 0; i < 15; i++)
        put(file, 0, 1);
    put(file, 0, 4); /* UTC marks, standard marks, leap seconds */
    put(file, 0, 4);
    put(file, 0, 4);
    put(file, n_times, 4);
    put(file, n_types, 4);
    put(file, 4, 4);
}

/* Version 2: -5 h, from `change` on -4 h, and a rule. */
static void make_file(struct zone_file *file, int64_t change, const char *rule)
{
    file->n = 0;
    put_header(file, '2', 0, 1);
    put(file, 0, 4); /* a type */
    put(file, 0, 2);
    put(file, 0, 4); /* characters */
    put_header(file, '2', 1, 2);
    put(file, (uint64_t)change, 8);
    put(file, 1, 1);
    put(file, (uint64_t)-18000, 4);
    put(file, 0, 2);
    put(file, (uint64_t)-14400, 4);
    put(file, 256, 2);
    put(file, 0, 4);
    file->n +=
        (size_t)snprintf((char *)file->bytes + file->n, 200, "\n%s\n", rule);
}

static int parse(const struct zone_file *file, struct zone *zone,
                 struct m2_error *err)
{
    *zone = (struct zone){.name = strdup("Test/Zone")};
    return zone_parse(zone, file->bytes, file->n, err);
}

static void clear(struct zone *zone)
{
    free(zone->spans);
    free(zone->name);
}

static int64_t seconds(int year, int month, int day, int hour, int minute)
{
    return civil_days(year, month, day) * 86400 + hour * 3600 + minute * 60;
}

/* Offset of the zone from UTC at a local time, in minutes; 9999 when there is
 * no or no single answer. */
static int offset_at(struct zone *zone, int64_t local)
{
    struct m2_error err;
    int64_t utc;

    if (zone_to_utc(zone, local, &utc, &err) != 0) {
        assert_non_null(strstr(err.text, "daylight saving time"));
        return 9999;
    }
    return (int)((local - utc) / 60);
}

static void files_hold_changes_and_a_rule(void **state)
{
    struct zone_file file;
    struct zone zone;
    struct m2_error err;

    (void)state;
    make_file(&file, seconds(2000, 4, 2, 7, 0), "EST5EDT,M3.2.0,M11.1.0");
    assert_ok(parse(&file, &zone, &err), &err);
    assert_int_equal(offset_at(&zone, seconds(1950, 7, 1, 0, 0)), -300);
    assert_int_equal(offset_at(&zone, seconds(2000, 4, 2, 1, 59)), -300);
    assert_int_equal(offset_at(&zone, seconds(2000, 4, 2, 2, 0)), 9999);
    assert_int_equal(offset_at(&zone, seconds(2000, 4, 2, 3, 0)), -240);
    /* by the rule */
    assert_int_equal(offset_at(&zone, seconds(2100, 1, 15, 12, 0)), -300);
    assert_int_equal(offset_at(&zone, seconds(2100, 7, 15, 12, 0)), -240);
    assert_int_equal(offset_at(&zone, seconds(2024, 3, 10, 2, 30)), 9999);
    assert_int_equal(offset_at(&zone, seconds(2024, 11, 3, 0, 59)), -240);
    assert_int_equal(offset_at(&zone, seconds(2024, 11, 3, 1, 0)), 9999);
    assert_int_equal(offset_at(&zone, seconds(2024, 11, 3, 1, 59)), 9999);
    assert_int_equal(offset_at(&zone, seconds(2024, 11, 3, 2, 0)), -300);
    clear(&zone);
}

static void a_change_is_told_with_its_zone(void **state)
{
    struct zone_file file;
    struct zone zone;
    struct m2_error err;
    int64_t utc;

    (void)state;
    make_file(&file, seconds(2000, 4, 2, 7, 0), "EST5EDT,M3.2.0,M11.1.0");
    assert_ok(parse(&file, &zone, &err), &err);
    assert_fails(
        zone_to_utc(&zone, seconds(2024, 3, 10, 2, 0), &utc, &err), M2_E_DATA,
        "in Test/Zone (daylight saving time) skips this local time", &err);
    assert_fails(zone_to_utc(&zone, seconds(2024, 11, 3, 1, 0), &utc, &err),
                 M2_E_DATA, "repeats this local time", &err);
    clear(&zone);
}

static void rules_are_those_of_posix(void **state)
{
    static const struct {
        const char *rule;
        int month, day, hour, minute; /* of 2023 */
        int offset;
    } cases[] = {
        {"CET-1CEST,M3.5.0,M10.5.0/3", 3, 26, 1, 59, 60},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 3, 26, 2, 0, 9999},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 3, 26, 3, 0, 120},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 10, 29, 2, 30, 9999},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 10, 29, 3, 0, 60},
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", 1, 15, 0, 0, 660},
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", 7, 15, 0, 0, 600},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", 1, 15, 0, 0, 0},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", 7, 15, 0, 0, 60},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 1, 15, 0, 0, 660},
        {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", 3, 25, 21, 59, -180},
        {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", 3, 25, 23, 0, -120},
        {"AAA0BBB,J60/0,J305/0", 3, 1, 1, 0, 60},
        {"AAA0BBB,J60/0,J305/0", 2, 28, 23, 59, 0},
        {"AAA0BBB,59/0,304/0", 3, 1, 1, 0, 60},
        {"<+0545>-5:45", 7, 15, 0, 0, 345},
        {"AAA0", 7, 15, 0, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct zone zone = {.name = strdup("Test/Rule")};
        struct m2_error err;
        int standard = cases[i].offset == 345 ? 345 * 60 : 0;
        int64_t local = seconds(2023, cases[i].month, cases[i].day,
                                cases[i].hour, cases[i].minute);
        assert_ok(zone_add_span(&zone, INT64_MIN, standard, &err), &err);
        assert_ok(zone_extend(&zone, cases[i].rule, &err), &err);
        if (offset_at(&zone, local) != cases[i].offset)
            fail_msg("%s %d-%d: %d", cases[i].rule, cases[i].month,
                     cases[i].day, offset_at(&zone, local));
        clear(&zone);
    }
}

static void broken_rules_are_refused(void **state)
{
    static const char *const rules[] = {"EST",
                                        "EST5EDT",
                                        "ES5",
                                        "<+05-5",
                                        "EST5EDT,M3.2",
                                        "EST5EDT,M13.2.0,M11.1.0",
                                        "EST5EDT,M3.6.0,M11.1.0",
                                        "EST5EDT,M3.2.7,M11.1.0",
                                        "EST5EDT,J0,J365",
                                        "EST5EDT,366,1",
                                        "EST168",
                                        "EST5EDT,M3.2.0,M11.1.0,",
                                        "EST5:60",
                                        "EST5EDT,M3.2.0/168,M11.1.0"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        struct zone zone = {.name = strdup("Test/Rule")};
        struct m2_error err;
        assert_ok(zone_add_span(&zone, INT64_MIN, 0, &err), &err);
        assert_fails(zone_extend(&zone, rules[i], &err), M2_E_CONFIG,
                     "Test/Rule", &err);
        clear(&zone);
    }
}

static void damaged_files_are_refused(void **state)
{
    struct zone_file whole, file;
    struct zone zone;
    struct m2_error err;

    (void)state;
    make_file(&whole, seconds(2000, 4, 2, 7, 0), "EST5EDT,M3.2.0,M11.1.0");
    for (size_t n = 0; n < whole.n; n++) {
        file = whole;
        file.n = n;
        assert_fails(parse(&file, &zone, &err), M2_E_CONFIG,
                     "the file of zone 'Test/Zone'", &err);
        clear(&zone);
    }
    file = whole;
    file.bytes[whole.n - 24 - 4 - 12 - 1] = 2; /* type of the change */
    assert_fails(parse(&file, &zone, &err), M2_E_CONFIG, "a type that it lacks",
                 &err);
    clear(&zone);
}

static void names_are_checked(void **state)
{
    static const struct {
        const char *name, *reason;
    } cases[] = {
        {"Mars/Olympus", "there is no zone 'Mars/Olympus'"},
        {"", "there is no zone ''"},
        {"/etc/passwd", "there is no zone"},
        {"..", "there is no zone"},
        {"+5", "there is no zone '+5'"},
        {"+05:00x", "there is no zone"},
        {"bad", "the file of zone 'bad' is no zone file"},
    };
    char *dir = unit_make_dir();
    struct zone *zone;
    struct m2_error err;

    (void)state;
    unit_write(unit_path(dir, "bad"), "not a zone");
    setenv("TZDIR", dir, 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fails(zone_open(cases[i].name, &zone, &err), M2_E_CONFIG,
                     cases[i].reason, &err);
    assert_ok(zone_open("+05:30", &zone, &err), &err);
    assert_int_equal(offset_at(zone, 0), 330);
    zone_free(zone);
    unsetenv("TZDIR");
    unit_remove_dir(dir);
}

static int64_t local_time(int64_t utc)
{
    time_t t = (time_t)utc;
    struct tm tm;

    localtime_r(&t, &tm);
    return utc + tm.tm_gmtoff;
}

/* Is there another instant with this local time? */
static bool is_repeated(int64_t utc)
{
    for (int64_t d = -26 * 3600; d <= 26 * 3600; d += 900)
        if (d != 0 && local_time(utc + d) == local_time(utc))
            return true;
    return false;
}

static void compare_with_libc(const char *name)
{
    struct zone *zone;
    struct m2_error err;
    size_t refused = 0;

    assert_ok(zone_open(name, &zone, &err), &err);
    setenv("TZ", name, 1);
    tzset();
    for (int64_t t = seconds(1950, 1, 1, 0, 0); t < seconds(2100, 1, 1, 0, 0);
         t += 35100) {
        int64_t found;
        if (zone_to_utc(zone, local_time(t), &found, &err) == 0) {
            if (found != t)
                fail_msg("%s: %" PRId64 " is not %" PRId64, name, found, t);
        } else {
            assert_true(is_repeated(t));
            refused++;
        }
    }
    assert_true(refused < 200);
    zone_free(zone);
}

static void zones_of_the_system_agree_with_libc(void **state)
{
    static const char *const names[] = {
        "America/New_York",    "Europe/London", "Asia/Kolkata",
        "Australia/Lord_Howe", "Europe/Dublin", "Africa/Casablanca",
        "America/St_Johns"};

    (void)state;
    if (access("/usr/share/zoneinfo/America/New_York", R_OK) != 0) {
        print_message("# there are no zone files in /usr/share/zoneinfo\n");
        skip();
    }
    for (size_t i = 0; i < COUNT_OF(names); i++)
        compare_with_libc(names[i]);
    unsetenv("TZ");
    tzset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_hold_changes_and_a_rule),
        cmocka_unit_test(a_change_is_told_with_its_zone),
        cmocka_unit_test(rules_are_those_of_posix),
        cmocka_unit_test(broken_rules_are_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(zones_of_the_system_agree_with_libc),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
