# runner/reproduce/local.mk: running a run again, and comparing the two.
librunner_a_SOURCES += \
	runner/reproduce/cells.c \
	runner/reproduce/checkpoint_pairs.c \
	runner/reproduce/difference.c runner/reproduce/difference.h \
	runner/reproduce/difference_private.h \
	runner/reproduce/difference_record.c \
	runner/reproduce/difference_rows.c \
	runner/reproduce/difference_tensors.c \
	runner/reproduce/rerun.c runner/reproduce/rerun.h \
	runner/reproduce/rerun_folder.c runner/reproduce/rerun_private.h \
	runner/reproduce/row_pairs.c \
	runner/reproduce/trace_file.c runner/reproduce/trace_file.h

unit_tests += tests/unit/test_difference
