# tests/train/local.mk: golden trainings.
