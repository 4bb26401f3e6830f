# tests/train/local.mk: golden trainings.
unit_tests += tests/train/test_golden_models

# Whole runs, through the program.
script_tests += \
	tests/train/test_attempts.sh \
	tests/train/test_bits.sh \
	tests/train/test_devices.sh \
	tests/train/test_each_call.sh \
	tests/train/test_failures.sh \
	tests/train/test_honest.sh \
	tests/train/test_interrupt.sh \
	tests/train/test_policies.sh \
	tests/train/test_prove.sh \
	tests/train/test_results_doc.sh \
	tests/train/test_loop.sh \
	tests/train/test_numerics.sh \
	tests/train/test_frozen.sh \
	tests/train/test_sharing.sh \
	tests/train/test_stale.sh \
	tests/train/test_start.sh
EXTRA_DIST += tests/train/example.sh tests/train/faults.sh

# A whole model under valgrind takes many minutes and finds what the small
# ones find.
valgrind_skips += tests/train/test_golden_models
