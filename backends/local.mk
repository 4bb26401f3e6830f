# backends/local.mk: the op table and its checked fronts.
m2include_HEADERS += backends/m2_backend.h

librunner_a_SOURCES += backends/select.c backends/select.h \
	backends/ops.c backends/ops.h \
	backends/ops_contract.c backends/ops_contract.h \
	backends/ops_shape.c backends/ops_shape.h \
	backends/ops_check.c backends/ops_flops.c \
	backends/view_check.c backends/buffer.c backends/device.c \
	backends/device_internal.h

# Valid calls of every op, for the tests of the fronts.
op_call_sources = tests/unit/op_calls.c tests/unit/op_calls.h
unit_tests += tests/unit/test_ops_check tests/unit/test_device \
	tests/unit/test_mock tests/unit/test_select
tests_unit_test_ops_check_SOURCES = tests/unit/test_ops_check.c \
	$(op_call_sources)
tests_unit_test_device_SOURCES = tests/unit/test_device.c $(op_call_sources)
tests_unit_test_mock_SOURCES = tests/unit/test_mock.c $(op_call_sources)
EXTRA_DIST += tests/golden/op_messages.txt
