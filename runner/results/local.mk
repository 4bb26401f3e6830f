# runner/results/local.mk: run directories: claim, publish, listing.
librunner_a_SOURCES += \
	runner/results/aside.c runner/results/aside.h \
	runner/results/attempt.c runner/results/attempt.h \
	runner/results/attempt_private.h \
	runner/results/claim.c \
	runner/results/condition.c \
	runner/results/csvlog.c runner/results/csvlog.h \
	runner/results/driver.c runner/results/driver.h \
	runner/results/entry.c \
	runner/results/facts.c runner/results/facts.h \
	runner/results/json_cursor.c runner/results/json_cursor.h \
	runner/results/leaderboard.c runner/results/leaderboard.h \
	runner/results/listing.c runner/results/listing.h \
	runner/results/metric.c runner/results/metric.h \
	runner/results/owner.c runner/results/owner.h \
	runner/results/publish.c \
	runner/results/query.c runner/results/query.h \
	runner/results/record_reader.c runner/results/record_reader.h \
	runner/results/scratch.c runner/results/scratch.h \
	runner/results/segments.c runner/results/segments.h \
	runner/results/settings.c runner/results/settings.h \
	runner/results/statistic.c runner/results/statistic.h \
	runner/results/store.c runner/results/store.h

EXTRA_DIST += docs/results.md

# A results folder for tests.
results_folder = tests/unit/results_folder.c tests/unit/results_folder.h
unit_tests += tests/unit/test_aside tests/unit/test_query tests/unit/test_owner \
	tests/unit/test_attempt tests/unit/test_attempt_files \
	tests/unit/test_claim_race \
	tests/unit/test_listing tests/unit/test_csvlog \
	tests/unit/test_leaderboard tests/unit/test_driver \
	tests/unit/test_results_damage tests/unit/test_facts \
	tests/unit/test_scratch \
	tests/unit/test_segments tests/unit/test_record_reader \
	tests/unit/test_statistic tests/unit/test_settings
tests_unit_test_aside_SOURCES = tests/unit/test_aside.c $(results_folder)
tests_unit_test_listing_SOURCES = tests/unit/test_listing.c $(results_folder)
tests_unit_test_attempt_SOURCES = tests/unit/test_attempt.c $(results_folder)
tests_unit_test_attempt_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=rename
tests_unit_test_attempt_files_SOURCES = tests/unit/test_attempt_files.c \
	$(results_folder)
tests_unit_test_claim_race_SOURCES = tests/unit/test_claim_race.c \
	$(results_folder)
tests_unit_test_driver_SOURCES = tests/unit/test_driver.c $(results_folder)
tests_unit_test_scratch_SOURCES = tests/unit/test_scratch.c $(results_folder)

fuzz_targets += tests/fuzz/fuzz_run_json
tests_fuzz_fuzz_run_json_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_DIST += tests/fuzz/corpus/run_json
