# runner/util/local.mk: strings, files, numbers, random numbers.
librunner_a_SOURCES += \
	runner/util/build.c runner/util/build.h \
	runner/util/file.c runner/util/file.h \
	runner/util/log.c runner/util/log.h \
	runner/util/memory.c runner/util/memory.h \
	runner/util/number.c runner/util/number.h \
	runner/util/path.c runner/util/path.h \
	runner/util/random.c runner/util/random.h \
	runner/util/sha256.c runner/util/sha256.h \
	runner/util/terminal.c runner/util/terminal.h \
	runner/util/text.c runner/util/text.h \
	runner/util/timefmt.c runner/util/timefmt.h
runner/util/librunner_a-build.$(OBJEXT): build-info.h

unit_tests += \
	tests/unit/test_build
