# runner/equality/local.mk: training steps on two backends.
librunner_a_SOURCES += \
	runner/equality/free_run.c runner/equality/free_run.h \
	runner/equality/op_by_op.c runner/equality/op_by_op.h \
	runner/equality/side.c runner/equality/side.h

unit_tests += tests/unit/test_equality
tests_unit_test_equality_SOURCES = tests/unit/test_equality.c \
	$(small_experiment_sources)
