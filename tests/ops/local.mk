# tests/ops/local.mk: conformance suite of the ops.
