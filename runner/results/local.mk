# runner/results/local.mk: run directories: claim, publish, listing.
librunner_a_SOURCES += \
	runner/results/attempt.c runner/results/attempt.h \
	runner/results/attempt_private.h \
	runner/results/claim.c \
	runner/results/condition.c \
	runner/results/csvlog.c runner/results/csvlog.h \
	runner/results/driver.c runner/results/driver.h \
	runner/results/leaderboard.c runner/results/leaderboard.h \
	runner/results/listing.c runner/results/listing.h \
	runner/results/owner.c runner/results/owner.h \
	runner/results/publish.c \
	runner/results/query.c runner/results/query.h \
	runner/results/store.c runner/results/store.h

unit_tests += tests/unit/test_query
