# tests/mock/local.mk: the reference backend with faults on order.
check_LTLIBRARIES += tests/mock/m2_mock.la
tests_mock_m2_mock_la_SOURCES = $(ref_sources) \
	tests/mock/mock.c tests/mock/mock.h tests/mock/queue.c \
	tests/mock/settings.c backends/ops_contract.c
tests_mock_m2_mock_la_CFLAGS = $(AM_CFLAGS)
tests_mock_m2_mock_la_LDFLAGS = $(TEST_PLUGIN_LINK)
