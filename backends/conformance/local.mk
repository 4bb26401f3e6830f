# backends/conformance/local.mk: the suite behind `m2run selftest`.
librunner_a_SOURCES += \
	backends/conformance/bench.c \
	backends/conformance/case.c backends/conformance/case.h \
	backends/conformance/cases_data.c \
	backends/conformance/cases_layers.c \
	backends/conformance/cases_scan.c \
	backends/conformance/cases_training.c \
	backends/conformance/compare.c backends/conformance/compare.h \
	backends/conformance/concurrent.c \
	backends/conformance/conformance.c \
	backends/conformance/conformance.h \
	backends/conformance/generator.c backends/conformance/generator.h \
	backends/conformance/golden.c backends/conformance/golden.h \
	backends/conformance/golden_generated.c \
	backends/conformance/golden_ops.c \
	backends/conformance/golden_special.c \
	backends/conformance/golden_table.c \
	backends/conformance/golden_table.h \
	backends/conformance/gradient.c backends/conformance/gradient.h \
	backends/conformance/grid.c backends/conformance/order.c \
	backends/conformance/mirror.c backends/conformance/mirror.h \
	backends/conformance/mirror_private.h \
	backends/conformance/mirror_response.c \
	backends/conformance/pairs.c backends/conformance/pairs.h \
	backends/conformance/suite.h \
	backends/conformance/trial.c backends/conformance/trial.h

unit_tests += tests/unit/test_mirror
tests_unit_test_mirror_SOURCES = tests/unit/test_mirror.c $(op_call_sources)
