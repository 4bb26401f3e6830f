# backends/local.mk: the op table and its checked fronts.
m2include_HEADERS += backends/m2_backend.h

librunner_a_SOURCES += backends/select.c backends/select.h \
	backends/ops.c backends/ops.h \
	backends/ops_contract.c backends/ops_contract.h \
	backends/ops_shape.c backends/ops_shape.h \
	backends/ops_check.c backends/ops_flops.c \
	backends/view_check.c backends/buffer.c backends/device.c \
	backends/device_internal.h
