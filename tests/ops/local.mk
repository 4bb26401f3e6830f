# tests/ops/local.mk: conformance suite of the ops.
unit_tests += tests/ops/test_conformance \
	tests/ops/test_conformance_faults \
	tests/ops/test_conformance_small \
	tests/ops/test_no_allocation

# Too slow; the last one brings its own malloc.
valgrind_skips += tests/ops/test_conformance \
	tests/ops/test_conformance_faults \
	tests/ops/test_no_allocation
