# runner/prove/local.mk: the same runs with kills, other threads, other jobs.
librunner_a_SOURCES += \
	runner/prove/agreement.c runner/prove/agreement.h \
	runner/prove/aim.c runner/prove/aim.h \
	runner/prove/pass.c runner/prove/pass.h \
	runner/prove/proof.c runner/prove/proof.h

unit_tests += tests/unit/test_aim
