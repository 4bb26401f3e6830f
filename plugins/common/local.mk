# plugins/common/local.mk: what the data plugins share; compiled into each.
plugin_common_sources = \
	plugins/common/bytes.h \
	plugins/common/civil.c plugins/common/civil.h \
	plugins/common/counts.c plugins/common/counts.h \
	plugins/common/input.c plugins/common/input.h \
	plugins/common/memory.c plugins/common/memory.h \
	plugins/common/rows.c plugins/common/rows.h \
	plugins/common/rows_held.c plugins/common/rows_internal.h \
	plugins/m2_data.h plugins/m2_plugin.h

unit_tests += tests/unit/test_civil
tests_unit_test_civil_SOURCES = tests/unit/test_civil.c \
	plugins/common/civil.c plugins/common/civil.h
tests_unit_test_civil_LDADD = $(CMOCKA_LIBS)

# The whole output of a data plugin, for tests.
data_plugin_test = tests/unit/data_plugin.c tests/unit/data_plugin.h

unit_tests += tests/unit/test_rows
tests_unit_test_rows_SOURCES = tests/unit/test_rows.c $(data_plugin_test) \
	$(dbn_writer) $(plugin_common_sources)
tests_unit_test_rows_LDADD = $(LDADD) $(ZSTD_LIBS)
