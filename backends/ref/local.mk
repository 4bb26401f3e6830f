# backends/ref/local.mk: the reference backend (linked in, and loadable).
ref_sources = \
	backends/ref/ref.c backends/ref/ref.h backends/ref/internal.h \
	backends/ref/access.c backends/ref/conv.c backends/ref/device.c \
	backends/ref/elementwise.c backends/ref/linear.c \
	backends/ref/loss.c backends/ref/norm.c backends/ref/optimiser.c \
	backends/ref/ssd.c backends/ref/ssd_backward.c \
	backends/ref/windows.c backends/ref/workspace.c

librunner_a_SOURCES += $(ref_sources)

plugin_LTLIBRARIES += m2_ref.la
m2_ref_la_SOURCES = $(ref_sources) backends/ref/plugin.c
m2_ref_la_CFLAGS = $(AM_CFLAGS)
m2_ref_la_LDFLAGS = $(PLUGIN_LINK)

unit_tests += tests/unit/test_ref
