# runner/util/local.mk: strings, files, numbers, random numbers.
librunner_a_SOURCES += \
	runner/util/build.c runner/util/build.h
runner/util/librunner_a-build.$(OBJEXT): build-info.h

unit_tests += \
	tests/unit/test_build
