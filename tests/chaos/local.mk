# tests/chaos/local.mk: one sweep, many invocations, all of them disturbed.
check_PROGRAMS += tests/chaos/chaos
tests_chaos_chaos_SOURCES = tests/chaos/chaos.c tests/chaos/chaos.h \
	tests/chaos/chaos_compare.c tests/chaos/chaos_tools.c
script_tests += tests/chaos/test_chaos.sh

# At memory's speed where there is such a place: a kill at every call is some
# 2000 runs. Minutes; M2_CHAOS_SEED=N repeats the choice of victims.
check-chaos: all $(check_PROGRAMS) $(check_LTLIBRARIES)
	@$(AM_TESTS_ENVIRONMENT) \
	    test ! -w /dev/shm || { TMPDIR=$${TMPDIR-/dev/shm}; export TMPDIR; }; \
	    tests/chaos/chaos "$$M2RUN" && \
	    { M2_EACH_CALL=1 $(SHELL) \
	        $(top_srcdir)/tests/train/test_each_call.sh; \
	      echo "exit code $$?"; } | tee check-chaos.log; \
	    grep -q '^exit code 0' check-chaos.log && \
	    ! grep -q '^not ok' check-chaos.log
CLEANFILES += check-chaos.log
.PHONY: check-chaos
