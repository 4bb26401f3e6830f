# runner/schedule/local.mk: runs -> worker processes, signals, progress.
librunner_a_SOURCES += \
	runner/schedule/child.c runner/schedule/child.h \
	runner/schedule/cores.c \
	runner/schedule/crash.c runner/schedule/crash.h \
	runner/schedule/events.c runner/schedule/events.h \
	runner/schedule/log_tail.c runner/schedule/log_tail.h \
	runner/schedule/policy.c runner/schedule/policy.h \
	runner/schedule/pool.c runner/schedule/pool.h \
	runner/schedule/pool_job.c runner/schedule/pool_private.h \
	runner/schedule/progress.c runner/schedule/progress.h \
	runner/schedule/signals.c runner/schedule/signals.h \
	runner/schedule/worker_process.c runner/schedule/worker_process.h

unit_tests += tests/unit/test_crash tests/unit/test_events \
	tests/unit/test_policy tests/unit/test_pool tests/unit/test_signals
tests_unit_test_pool_SOURCES = tests/unit/test_pool.c $(results_folder)
tests_unit_test_crash_SOURCES = tests/unit/test_crash.c $(results_folder)
