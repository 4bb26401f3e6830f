# runner/train/local.mk: step loop, evaluation, checkpoints.
librunner_a_SOURCES += \
	runner/train/batch.c runner/train/batch.h \
	runner/train/checkpoint.c runner/train/checkpoint.h \
	runner/train/golden_kinds.h runner/train/golden_private.h \
	runner/train/golden_seed_model.c runner/train/golden_train.c \
	runner/train/evaluate.c runner/train/evaluate.h \
	runner/train/fact_sheet.c runner/train/fact_sheet.h \
	runner/train/gradient_tree.c runner/train/gradient_tree.h \
	runner/train/job.c runner/train/job.h \
	runner/train/lr_schedule.c runner/train/lr_schedule.h \
	runner/train/optimiser.c runner/train/optimiser.h \
	runner/train/order.c runner/train/order.h \
	runner/train/record.c runner/train/record.h \
	runner/train/resume.c runner/train/resume.h \
	runner/train/rows.c runner/train/rows.h \
	runner/train/scores.c runner/train/scores.h \
	runner/train/session.c runner/train/session.h \
	runner/train/stale.c runner/train/stale.h \
	runner/train/tell.c runner/train/tell.h \
	runner/train/trace.c runner/train/trace.h \
	runner/train/trainer.c runner/train/trainer.h \
	runner/train/update.c runner/train/update.h

unit_tests += tests/unit/test_trace tests/unit/test_order \
	tests/unit/test_gradient_tree tests/unit/test_optimiser \
	tests/unit/test_checkpoint tests/unit/test_session \
	tests/unit/test_evaluate tests/unit/test_fact_sheet
tests_unit_test_optimiser_SOURCES = tests/unit/test_optimiser.c \
	$(small_model_sources)
tests_unit_test_checkpoint_SOURCES = tests/unit/test_checkpoint.c \
	$(small_model_sources)
small_experiment_sources = tests/unit/small_experiment.c \
	tests/unit/small_experiment.h
tests_unit_test_evaluate_SOURCES = tests/unit/test_evaluate.c \
	$(small_experiment_sources)
tests_unit_test_session_SOURCES = tests/unit/test_session.c \
	$(small_experiment_sources)
tests_unit_test_fact_sheet_SOURCES = tests/unit/test_fact_sheet.c \
	$(small_experiment_sources)
