# tests/fuzz/local.mk: libFuzzer targets and their corpora.
EXTRA_DIST += tests/fuzz/run.sh

FUZZ_SECONDS = 60
if FUZZING
fuzz: $(fuzz_targets)
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
	    $(SHELL) $(top_srcdir)/tests/fuzz/run.sh $(FUZZ_SECONDS)
else
fuzz:
	@echo "make fuzz: configure with CC=clang-14 --enable-fuzzing" >&2
	@false
endif
.PHONY: fuzz
