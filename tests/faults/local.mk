# tests/faults/local.mk: a preloaded library in which calls fail on order. It
# is built without sanitizers: it has to stand before them.
check_LTLIBRARIES += tests/faults/m2_faults.la
tests_faults_m2_faults_la_SOURCES = tests/faults/faults.c
tests_faults_m2_faults_la_CFLAGS = $(STD_CFLAGS) $(WARN_CFLAGS) \
	-U_FORTIFY_SOURCE
tests_faults_m2_faults_la_LDFLAGS = -module -avoid-version -shared \
	-rpath /nowhere
