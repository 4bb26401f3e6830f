# plugins/dbn/local.mk: data plugin dbn.
dbn_sources = \
	plugins/dbn/bars.c plugins/dbn/dbn.h \
	plugins/dbn/front.c plugins/dbn/front.h \
	plugins/dbn/id_map.c plugins/dbn/interval.c \
	plugins/dbn/metadata.c plugins/dbn/metadata.h \
	plugins/dbn/options.c \
	plugins/dbn/reader.c plugins/dbn/reader.h \
	plugins/dbn/scan.c plugins/dbn/select.c plugins/dbn/source.c \
	plugins/dbn/stream.c plugins/dbn/stream.h \
	plugins/dbn/survey.c plugins/dbn/symbols.c plugins/dbn/symbols.h

plugin_LTLIBRARIES += m2_dbn.la
m2_dbn_la_SOURCES = plugins/dbn/plugin.c $(dbn_sources) \
	$(plugin_common_sources)
m2_dbn_la_CFLAGS = $(BASE_CFLAGS) $(FP_CFLAGS) $(ZSTD_CFLAGS)
m2_dbn_la_LDFLAGS = $(AM_LDFLAGS) $(PLUGIN_LINK)
m2_dbn_la_LIBADD = $(ZSTD_LIBS)

dbn_writer = tests/unit/dbn_writer.c tests/unit/dbn_writer.h \
	tests/unit/dbn_fixture.h
unit_tests += tests/unit/test_dbn tests/unit/test_dbn_select
tests_unit_test_dbn_SOURCES = tests/unit/test_dbn.c $(data_plugin_test) \
	$(dbn_writer)
tests_unit_test_dbn_LDADD = $(LDADD) $(ZSTD_LIBS)
tests_unit_test_dbn_select_SOURCES = tests/unit/test_dbn_select.c \
	$(data_plugin_test) $(dbn_writer) \
	plugins/dbn/front.c plugins/common/civil.c plugins/common/memory.c
tests_unit_test_dbn_select_LDADD = $(LDADD) $(ZSTD_LIBS)

unit_tests += tests/unit/test_dbn_sums
tests_unit_test_dbn_sums_SOURCES = tests/unit/test_dbn_sums.c \
	$(data_plugin_test)

unit_tests += tests/unit/test_bad_files
tests_unit_test_bad_files_SOURCES = tests/unit/test_bad_files.c \
	$(data_plugin_test)

fuzz_targets += tests/fuzz/fuzz_dbn
tests_fuzz_fuzz_dbn_SOURCES = tests/fuzz/fuzz_dbn.c $(dbn_sources) \
	$(plugin_common_sources)
tests_fuzz_fuzz_dbn_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_fuzz_fuzz_dbn_LDADD = $(ZSTD_LIBS)
EXTRA_DIST += tests/fuzz/corpus/dbn

EXTRA_PROGRAMS += tests/bench/bench_dbn
tests_bench_bench_dbn_SOURCES = tests/bench/bench_dbn.c \
	plugins/dbn/plugin.c $(dbn_sources) $(plugin_common_sources)
tests_bench_bench_dbn_LDADD = $(ZSTD_LIBS)
CLEANFILES += tests/bench/bench_dbn$(EXEEXT)
