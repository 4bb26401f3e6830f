# runner/cli/local.mk: one file per subcommand.
librunner_a_SOURCES += \
	runner/cli/bench.c \
	runner/cli/best.c runner/cli/best_order.c \
	runner/cli/best_scores.c runner/cli/best_scores.h \
	runner/cli/best_table.c runner/cli/best_table.h \
	runner/cli/check.c \
	runner/cli/command.h runner/cli/commands.c runner/cli/common.c \
	runner/cli/compare.c runner/cli/compare.h runner/cli/compare_print.c \
	runner/cli/compare_rows.c runner/cli/compare_scores.c \
	runner/cli/compare_backends.c runner/cli/compare_backends.h \
	runner/cli/compare_backends_print.c \
	runner/cli/data.c \
	runner/cli/device_ask.c runner/cli/device_ask.h \
	runner/cli/devices.c \
	runner/cli/json_output.c runner/cli/json_output.h \
	runner/cli/ls.c runner/cli/ls_table.c runner/cli/ls_table.h \
	runner/cli/options.c runner/cli/options.h \
	runner/cli/plan.c runner/cli/plan.h runner/cli/plan_fit.c \
	runner/cli/plan_print.c runner/cli/plan_time.c \
	runner/cli/predict.c \
	runner/cli/prove.c runner/cli/prove.h runner/cli/prove_report.c \
	runner/cli/reproduce.c \
	runner/cli/reproduce_data.c runner/cli/reproduce_data.h \
	runner/cli/reproduce_report.c runner/cli/reproduce_report.h \
	runner/cli/reproduce_run.c runner/cli/reproduce_run.h \
	runner/cli/run.c runner/cli/run.h \
	runner/cli/run_devices.c \
	runner/cli/run_list.c runner/cli/run_list.h \
	runner/cli/run_memory.c \
	runner/cli/run_report.c runner/cli/run_tasks.c \
	runner/cli/run_select.c runner/cli/run_select.h \
	runner/cli/schema.c \
	runner/cli/screen.c runner/cli/screen.h \
	runner/cli/selftest.c \
	runner/cli/show.c runner/cli/show.h runner/cli/show_files.c \
	runner/cli/show_follow.c \
	runner/cli/show_report.c runner/cli/show_scores.c \
	runner/cli/stop.c \
	runner/cli/worker.c

unit_tests += tests/unit/test_compare tests/unit/test_plan_fit \
	tests/unit/test_screen
