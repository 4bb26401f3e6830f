# runner/sweep/local.mk: sweep block to an ordered list of runs.
librunner_a_SOURCES += \
	runner/sweep/axis.c runner/sweep/axis.h \
	runner/sweep/label.c runner/sweep/label.h \
	runner/sweep/record.c runner/sweep/record.h \
	runner/sweep/sweep.c runner/sweep/sweep.h

unit_tests += tests/unit/test_sweep tests/unit/test_record
