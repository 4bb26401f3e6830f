# tests/fuzz/local.mk: libFuzzer targets and their corpora.
