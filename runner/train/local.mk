# runner/train/local.mk: step loop, evaluation, checkpoints.
librunner_a_SOURCES += \
	runner/train/batch.c runner/train/batch.h \
	runner/train/checkpoint.c runner/train/checkpoint.h \
	runner/train/gradient_tree.c runner/train/gradient_tree.h \
	runner/train/lr_schedule.c runner/train/lr_schedule.h \
	runner/train/optimiser.c runner/train/optimiser.h \
	runner/train/order.c runner/train/order.h \
	runner/train/session.c runner/train/session.h \
	runner/train/trace.c runner/train/trace.h
