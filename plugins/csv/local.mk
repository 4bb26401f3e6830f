# plugins/csv/local.mk: data plugin csv.
include $(top_srcdir)/plugins/common/local.mk
csv_sources = \
	plugins/csv/columns.c plugins/csv/columns.h \
	plugins/csv/csv.h \
	plugins/csv/encoding.c plugins/csv/encoding.h \
	plugins/csv/instruments.c plugins/csv/instruments.h \
	plugins/csv/numbers.c plugins/csv/numbers.h \
	plugins/csv/options.c plugins/csv/settings.h \
	plugins/csv/reader.c plugins/csv/reader.h \
	plugins/csv/record.c plugins/csv/record.h \
	plugins/csv/facts.c plugins/csv/row.c plugins/csv/series.c \
	plugins/csv/sample.c plugins/csv/sample.h \
	plugins/csv/source.c \
	plugins/csv/survey.c \
	plugins/csv/times.c plugins/csv/times.h \
	plugins/csv/pattern.c plugins/csv/pattern.h \
	plugins/csv/posix_zone.c plugins/csv/tzif.c \
	plugins/csv/zone.c plugins/csv/zone.h

plugin_LTLIBRARIES += m2_csv.la
m2_csv_la_SOURCES = plugins/csv/plugin.c $(csv_sources) \
	$(plugin_common_sources)
m2_csv_la_CFLAGS = $(BASE_CFLAGS) $(FP_CFLAGS)
m2_csv_la_LDFLAGS = $(AM_LDFLAGS) $(PLUGIN_LINK)

unit_tests += tests/unit/test_csv_reader
tests_unit_test_csv_reader_SOURCES = tests/unit/test_csv_reader.c \
	$(csv_sources) $(plugin_common_sources)
tests_unit_test_csv_reader_LDADD = $(CMOCKA_LIBS)

unit_tests += tests/unit/test_csv_numbers
tests_unit_test_csv_numbers_SOURCES = tests/unit/test_csv_numbers.c \
	plugins/csv/numbers.c plugins/csv/numbers.h
tests_unit_test_csv_numbers_LDADD = $(CMOCKA_LIBS)

csv_time_sources = \
	plugins/common/civil.c plugins/common/civil.h \
	plugins/common/input.c plugins/common/input.h \
	plugins/common/memory.c plugins/common/memory.h \
	plugins/csv/pattern.c plugins/csv/pattern.h \
	plugins/csv/posix_zone.c plugins/csv/tzif.c \
	plugins/csv/zone.c plugins/csv/zone.h

unit_tests += tests/unit/test_csv_times
tests_unit_test_csv_times_SOURCES = tests/unit/test_csv_times.c \
	plugins/csv/times.c plugins/csv/times.h $(csv_time_sources)
tests_unit_test_csv_times_LDADD = $(CMOCKA_LIBS)

unit_tests += tests/unit/test_csv_zone
tests_unit_test_csv_zone_SOURCES = tests/unit/test_csv_zone.c \
	$(csv_time_sources)
tests_unit_test_csv_zone_LDADD = $(CMOCKA_LIBS)

unit_tests += tests/unit/test_csv tests/unit/test_csv_files
tests_unit_test_csv_SOURCES = tests/unit/test_csv.c $(data_plugin_test)
tests_unit_test_csv_files_SOURCES = tests/unit/test_csv_files.c \
	$(data_plugin_test)

fuzz_targets += tests/fuzz/fuzz_csv
tests_fuzz_fuzz_csv_SOURCES = tests/fuzz/fuzz_csv.c $(csv_sources) \
	$(plugin_common_sources)
tests_fuzz_fuzz_csv_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_csv_LDADD =
EXTRA_DIST += tests/fuzz/corpus/csv
script_tests += tests/cli/test_csv.sh
