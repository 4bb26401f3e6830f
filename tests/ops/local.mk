# tests/ops/local.mk: conformance suite of the ops.
unit_tests += tests/ops/test_conformance \
	tests/ops/test_conformance_faults
