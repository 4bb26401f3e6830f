# runner/data/local.mk: series to features, windows and batches.
librunner_a_SOURCES += \
	runner/data/assemble.h \
	runner/data/baseline.c runner/data/baseline.h \
	runner/data/columns.c runner/data/columns.h \
	runner/data/dataset.c runner/data/dataset.h \
	runner/data/dataset_scaling.c \
	runner/data/digest_cache.c runner/data/digest_cache.h \
	runner/data/evaluate.c \
	runner/data/expression.c runner/data/expression.h \
	runner/data/expression_tree.h \
	runner/data/facts.c runner/data/facts.h \
	runner/data/fingerprint.c runner/data/fingerprint.h \
	runner/data/functions.c runner/data/functions.h \
	runner/data/metrics.c runner/data/metrics.h \
	runner/data/repair.c \
	runner/data/report.c runner/data/report.h \
	runner/data/report_json.c runner/data/report_text.c \
	runner/data/rolling.c runner/data/rolling.h \
	runner/data/rows.c \
	runner/data/scaling.c runner/data/scaling.h \
	runner/data/source.c runner/data/source.h \
	runner/data/split.c runner/data/split.h \
	runner/data/stack.c \
	runner/data/store.c runner/data/store.h \
	runner/data/target.c runner/data/target.h \
	runner/data/windows.c runner/data/windows.h

table_source = tests/unit/table_source.c tests/unit/table_source.h
unit_tests += tests/unit/test_dataset
tests_unit_test_dataset_SOURCES = tests/unit/test_dataset.c $(table_source)
unit_tests += tests/unit/test_score
tests_unit_test_score_SOURCES = tests/unit/test_score.c $(table_source)
unit_tests += tests/unit/test_data_report
tests_unit_test_data_report_SOURCES = \
	tests/unit/test_data_report.c $(table_source)
unit_tests += tests/unit/test_gather_target
tests_unit_test_gather_target_SOURCES = \
	tests/unit/test_gather_target.c $(table_source)
unit_tests += tests/unit/test_split
tests_unit_test_split_SOURCES = tests/unit/test_split.c $(table_source)
unit_tests += \
	tests/unit/test_data_files \
	tests/unit/test_expression \
	tests/unit/test_rolling \
	tests/unit/test_scaling \
	tests/unit/test_windows

fuzz_targets += tests/fuzz/fuzz_expression
tests_fuzz_fuzz_expression_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_DIST += tests/fuzz/expression.dict tests/fuzz/corpus/expression
