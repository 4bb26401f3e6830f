# build-aux/local.mk: build facts, the test harness and targets for developers.
EXTRA_DIST += bootstrap CONTRIBUTING.md .clang-format .editorconfig .ci/run .ci/long \
	results/README.md \
	build-aux/build-info build-aux/cmocka-tap build-aux/test-summary \
	build-aux/check-headers build-aux/check-style \
	build-aux/check-listed build-aux/valgrind.supp \
	build-aux/cppcheck.cfg build-aux/cuda-resources \
	tests/installcheck/run.sh

# ---- build facts: rewritten only when they change, so nothing recompiles ----
build-info.h: FORCE
	@$(SHELL) $(top_srcdir)/build-aux/build-info '$(top_srcdir)' \
	    '$(PACKAGE_VERSION)' '$(CC)' '$(CFLAGS)' $@
FORCE:
BUILT_SOURCES += build-info.h
CLEANFILES += build-info.h

AM_DISTCHECK_CONFIGURE_FLAGS = CC='$(CC)'

# A tarball has no .git: it carries the commit in a file instead.
dist-hook:
	$(SHELL) $(top_srcdir)/build-aux/build-info --commit '$(top_srcdir)' \
	    > $(distdir)/.tarball-commit

# ---- tests ----
if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS = $(unit_tests) $(program_tests) $(script_tests)
else
TESTS =
check-local:
	@echo "make check needs cmocka: install libcmocka-dev, configure again" >&2
	@false
endif
EXTRA_DIST += $(script_tests)
TEST_EXTENSIONS = .sh
TAP_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
	$(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_DRIVER)
LOG_COMPILER = $(SHELL) $(top_srcdir)/build-aux/cmocka-tap
SH_LOG_DRIVER = $(TAP_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	M2RUN='$(abs_top_builddir)/m2run'; export M2RUN; \
	M2RUN_PLUGIN_PATH='$(abs_top_builddir)/.libs'; \
	export M2RUN_PLUGIN_PATH; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	M2_EMU_DIR='$(abs_top_builddir)/tests/cuda_emu'; export M2_EMU_DIR; \
	M2_EMU_REASON='$(EMU_REASON)'; export M2_EMU_REASON; \
	ASAN_OPTIONS=allocator_may_return_null=1; export ASAN_OPTIONS; \
	LC_ALL=C; export LC_ALL; TZ=UTC; export TZ;

# The line `N passed, N failed, N skipped` over the last `make check`.
test-summary:
	@$(SHELL) $(top_srcdir)/build-aux/test-summary \
	    $(TEST_LOGS:.log=.trs)

valgrind_command = $(VALGRIND) -q --error-exitcode=99 --leak-check=full \
	--suppressions=$(abs_top_srcdir)/build-aux/valgrind.supp
check-valgrind:
	@test '$(VALGRIND)' != no || { echo "install valgrind" >&2; exit 1; }
	M2_TEST_WRAPPER='$(valgrind_command)' \
	    $(MAKE) $(AM_MAKEFLAGS) check \
	    TESTS='$(filter-out $(valgrind_skips),$(unit_tests))'

# Needs a build with --enable-coverage.
coverage: check
	@test '$(GCOVR)' != no || { echo "install gcovr" >&2; exit 1; }
	$(GCOVR) --root $(top_srcdir) --exclude '.*tests/.*' .

# ---- source checks ----
# Every header compiles alone, with the flags of the rooms that use it.
check-headers:
	@cd $(top_srcdir) && $(SHELL) build-aux/check-headers \
	    $(CC) $(DEFS) -Irunner -I. -Iplugins -Ibackends \
	    -I$(abs_top_builddir) $(BASE_CFLAGS) -fopenmp-simd \
	    $(RUNNER_CFLAGS) $(OPENBLAS_CFLAGS)
	@test -n '$(EMU_REASON)' || { cd $(top_srcdir) && \
	    $(SHELL) build-aux/check-headers --cuda \
	    $(CXX) -std=gnu++17 $(CUDA_HOST_FLAGS) -Wno-unknown-pragmas \
	    -Itests/cuda_emu/include -Itests/cuda_emu -I. -Iplugins \
	    -Ibackends $(OPENBLAS_CFLAGS); }

find_sources = find runner backends plugins tests docs -name '*.[ch]' \
	-o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp'
format:
	@cd $(top_srcdir) && $(find_sources) | xargs $(CLANG_FORMAT) -i
format-check:
	@test '$(CLANG_FORMAT)' != no || \
	    { echo "install clang-format-14" >&2; exit 1; }
	@cd $(top_srcdir) && status=0; \
	for file in `$(find_sources) | LC_ALL=C sort`; do \
	    $(CLANG_FORMAT) "$$file" | cmp -s - "$$file" || \
	        { echo "$$file: run make format" >&2; status=1; }; \
	done; exit $$status
check-style:
	@cd $(top_srcdir) && $(SHELL) build-aux/check-style '$(AWK)' \
	    `$(find_sources) | LC_ALL=C sort`
	@cd $(top_srcdir) && $(SHELL) build-aux/check-listed \
	    `$(find_sources) | LC_ALL=C sort`
# invalidFunctionArg takes every loop for one that may run no time at all.
lint:
	@test '$(CPPCHECK)' != no || { echo "install cppcheck" >&2; exit 1; }
	@cd $(top_srcdir) && $(CPPCHECK) --quiet --std=c11 --inline-suppr \
	    --enable=warning,performance,portability --error-exitcode=1 \
	    --suppress=missingIncludeSystem --suppress=missingInclude \
	    --suppress=invalidFunctionArg --max-configs=4 -j 2 -D_GNU_SOURCE \
	    --library=build-aux/cppcheck.cfg \
	    -Irunner -I. -Iplugins -Ibackends runner backends plugins

if FUZZING
noinst_PROGRAMS += $(fuzz_targets)
endif

# dlopen needs no .la files; without them uninstall must name the modules.
install-data-hook:
	cd '$(DESTDIR)$(plugindir)' && rm -f $(plugin_LTLIBRARIES)
uninstall-hook:
	test ! -d '$(DESTDIR)$(plugindir)' || { \
	    cd '$(DESTDIR)$(plugindir)' && \
	    rm -f $(plugin_LTLIBRARIES:.la=.so); }

installcheck-local:
	CC='$(CC)' PKG_CONFIG='$(PKG_CONFIG)' $(SHELL) \
	    $(top_srcdir)/tests/installcheck/run.sh \
	    '$(DESTDIR)$(bindir)' '$(DESTDIR)$(libdir)' \
	    '$(abs_top_srcdir)/docs/examples'

.PHONY: FORCE coverage test-summary check-valgrind check-headers check-style \
	format format-check lint
