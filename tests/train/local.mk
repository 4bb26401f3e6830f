# tests/train/local.mk: golden trainings.
unit_tests += tests/train/test_golden_models
