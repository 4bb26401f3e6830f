# plugins/synthetic/local.mk: data plugin synthetic.
synthetic_sources = \
	plugins/synthetic/generator.c plugins/synthetic/noise.c \
	plugins/synthetic/options.c plugins/synthetic/synthetic.c \
	plugins/synthetic/synthetic.h plugins/m2_data.h plugins/m2_plugin.h

plugin_LTLIBRARIES += m2_synthetic.la
m2_synthetic_la_SOURCES = $(synthetic_sources)
m2_synthetic_la_CFLAGS = $(BASE_CFLAGS) $(FP_CFLAGS)
m2_synthetic_la_LDFLAGS = $(AM_LDFLAGS) $(PLUGIN_LINK)

unit_tests += tests/unit/test_synthetic
tests_unit_test_synthetic_SOURCES = \
	tests/unit/test_synthetic.c $(synthetic_sources)
tests_unit_test_synthetic_LDADD = $(CMOCKA_LIBS)
