# tests/cli/local.mk: the program on real files (shell scripts that print TAP).
script_tests += \
	tests/cli/test_check.sh \
	tests/cli/test_compare.sh \
	tests/cli/test_compare_backends.sh \
	tests/cli/test_completion.sh \
	tests/cli/test_damage.sh \
	tests/cli/test_guarantees.sh \
	tests/cli/test_machine.sh \
	tests/cli/test_manual.sh \
	tests/cli/test_plan.sh \
	tests/cli/test_predict.sh \
	tests/cli/test_reproduce.sh \
	tests/cli/test_reproduce_elsewhere.sh \
	tests/cli/test_resume.sh \
	tests/cli/test_runs.sh \
	tests/cli/test_stop.sh \
	tests/cli/test_usage.sh \
	tests/cli/test_version.sh
EXTRA_DIST += tests/cli/example.sh

# Reads the JSON that the program prints.
check_PROGRAMS += tests/cli/json_check
tests_cli_json_check_SOURCES = tests/cli/json_check.c
