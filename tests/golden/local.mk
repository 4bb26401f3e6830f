# tests/golden/local.mk: golden vectors.
