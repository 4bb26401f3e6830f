# runner/util/local.mk: strings, files, numbers, random numbers.
librunner_a_SOURCES += \
	runner/util/build.c runner/util/build.h \
	runner/util/capacity.c runner/util/capacity.h \
	runner/util/file.c runner/util/file.h \
	runner/util/fma_peak.c runner/util/fma_peak.h \
	runner/util/interrupt.c runner/util/interrupt.h \
	runner/util/json.c runner/util/json.h \
	runner/util/log.c runner/util/log.h \
	runner/util/machine.c runner/util/machine.h \
	runner/util/memory.c runner/util/memory.h \
	runner/util/number.c runner/util/number.h \
	runner/util/path.c runner/util/path.h \
	runner/util/process.c runner/util/process.h \
	runner/util/random.c runner/util/random.h \
	runner/util/sha256.c runner/util/sha256.h \
	runner/util/suggest.c runner/util/suggest.h \
	runner/util/terminal.c runner/util/terminal.h \
	runner/util/text.c runner/util/text.h \
	runner/util/timefmt.c runner/util/timefmt.h
runner/util/librunner_a-build.$(OBJEXT): build-info.h

EXTRA_DIST += tests/unit/unit.h
unit_tests += \
	tests/unit/test_build \
	tests/unit/test_capacity \
	tests/unit/test_file \
	tests/unit/test_interrupt \
	tests/unit/test_json \
	tests/unit/test_log \
	tests/unit/test_machine \
	tests/unit/test_memory \
	tests/unit/test_number \
	tests/unit/test_path \
	tests/unit/test_process \
	tests/unit/test_random \
	tests/unit/test_sha256 \
	tests/unit/test_terminal \
	tests/unit/test_text \
	tests/unit/test_timefmt
