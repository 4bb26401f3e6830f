# runner/sweep/local.mk: sweep block to an ordered list of runs.
librunner_a_SOURCES += \
	runner/sweep/axis.c runner/sweep/axis.h \
	runner/sweep/block.c \
	runner/sweep/draw.c runner/sweep/draw.h \
	runner/sweep/exclude.c runner/sweep/exclude.h \
	runner/sweep/groups.c \
	runner/sweep/label.c runner/sweep/label.h \
	runner/sweep/predicate.c runner/sweep/predicate.h \
	runner/sweep/record.c runner/sweep/record.h \
	runner/sweep/sweep.c runner/sweep/sweep.h \
	runner/sweep/token.c runner/sweep/token.h \
	runner/sweep/trials.c

unit_tests += tests/unit/test_predicate tests/unit/test_record \
	tests/unit/test_sweep tests/unit/test_sweep_groups \
	tests/unit/test_trials
EXTRA_DIST += tests/unit/sweep_fixture.h tests/golden/draws.txt

fuzz_targets += tests/fuzz/fuzz_predicate
tests_fuzz_fuzz_predicate_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_DIST += tests/fuzz/predicate.dict tests/fuzz/corpus/predicate
