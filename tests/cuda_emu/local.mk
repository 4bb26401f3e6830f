# tests/cuda_emu/local.mk: the CUDA backend's own sources on the processor, in
# two builds: fast, and check with a look at every access. Only for tests.
#   X.emu.o  compiled for fast     X.emuck.o  compiled for check
# The runtime is the same in both.
emu_runtime = \
	tests/cuda_emu/api.cpp tests/cuda_emu/blas.cpp \
	tests/cuda_emu/block.cpp tests/cuda_emu/cells.cpp \
	tests/cuda_emu/config.cpp tests/cuda_emu/copy.cpp \
	tests/cuda_emu/fault.cpp tests/cuda_emu/fiber.cpp \
	tests/cuda_emu/graph.cpp tests/cuda_emu/kernel.cpp \
	tests/cuda_emu/memory.cpp tests/cuda_emu/pages.cpp \
	tests/cuda_emu/shadow.cpp tests/cuda_emu/shared.cpp \
	tests/cuda_emu/stream.cpp tests/cuda_emu/warp.cpp
emu_headers = \
	tests/cuda_emu/cells.h tests/cuda_emu/emu.h \
	tests/cuda_emu/include/cublas_v2.h \
	tests/cuda_emu/include/cuda_runtime.h \
	tests/cuda_emu/include/emu_device.h tests/cuda_emu/include/emu_launch.h
# Shell tests that need the modules; they lie in $M2_EMU_DIR.
emu_tests = tests/cuda_emu/test_conformance.sh \
	tests/cuda_emu/test_faults.sh tests/cuda_emu/test_faults_suite.sh \
	tests/cuda_emu/test_parity.sh tests/gpu/test_run.sh
emu_left_out = tests/cuda_emu/test_left_out.sh
# The emulator's own tests: its calls, and mistakes planted in kernels.
emu_host_tests = tests/cuda_emu/host_blas.cpp tests/cuda_emu/host_device.cpp \
	tests/cuda_emu/host_memory.cpp tests/cuda_emu/host_stream.cpp
emu_mistakes = tests/cuda_emu/mistakes/blas.cu \
	tests/cuda_emu/mistakes/blocks.cu tests/cuda_emu/mistakes/correct.cu \
	tests/cuda_emu/mistakes/graphs.cu tests/cuda_emu/mistakes/launches.cu \
	tests/cuda_emu/mistakes/memory.cu tests/cuda_emu/mistakes/streams.cu
EXTRA_DIST += $(emu_runtime) $(emu_headers) $(emu_tests) $(emu_left_out) \
	tests/cuda_emu/README.md tests/cuda_emu/parity.cu \
	tests/cuda_emu/delete_barriers.sh tests/cuda_emu/faults.sh \
	tests/cuda_emu/cases.cpp tests/cuda_emu/cases.h $(emu_host_tests) \
	tests/cuda_emu/mistakes/mistakes.cpp \
	tests/cuda_emu/mistakes/mistakes.h $(emu_mistakes)

AM_V_CXX = $(am__v_CXX_@AM_V@)
am__v_CXX_ = $(am__v_CXX_@AM_DEFAULT_V@)
am__v_CXX_0 = @echo "  CXX     " $@;
am__v_CXX_1 =

AM_V_CXXLD = $(am__v_CXXLD_@AM_V@)
am__v_CXXLD_ = $(am__v_CXXLD_@AM_DEFAULT_V@)
am__v_CXXLD_0 = @echo "  CXXLD   " $@;
am__v_CXXLD_1 =

EMU_COMMAND = $(CXX) -std=gnu++17 -O2 -g $(CUDA_HOST_FLAGS) $(EMU_WERROR) \
	-Wno-unknown-pragmas -I$(top_srcdir)/tests/cuda_emu/include \
	-I$(top_srcdir)/tests/cuda_emu $(CUDA_CPPFLAGS) $(OPENBLAS_CFLAGS) \
	-DM2_CUDA_ARCHS='"emulation"' $(CXXFLAGS)
EMU_FAST = -DM2_CUDA_NAME='"cuda_emu"'
EMU_CHECK = -DM2_CUDA_NAME='"cuda_emu_check"' -fsanitize=thread,alignment
EMU_C = $(CC) $(STD_CFLAGS) $(WARN_CFLAGS) -O2 -g -fPIC -fvisibility=hidden \
	$(CUDA_CPPFLAGS)

%.emu.o: %.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(EMU_COMMAND) $(EMU_FAST) $(CUDA_DEPENDS) \
	    -x c++ -c -o $@ $<
%.emuck.o: %.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(EMU_COMMAND) $(EMU_CHECK) $(CUDA_DEPENDS) \
	    -x c++ -c -o $@ $<
%.emu.o: %.cpp
	@$(MKDIR_P) $(@D)
	$(AM_V_CXX)$(EMU_COMMAND) -ftls-model=initial-exec $(CUDA_DEPENDS) \
	    -c -o $@ $<
%.emu.o: %.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(EMU_C) $(EMU_FAST) $(CUDA_DEPENDS) -c -o $@ $<
%.emuck.o: %.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(EMU_C) -DM2_CUDA_NAME='"cuda_emu_check"' $(CUDA_DEPENDS) \
	    -c -o $@ $<

emu_runtime_objects = $(emu_runtime:.cpp=.emu.o)
emu_fast_objects = $(cuda_sources:.cu=.emu.o) backends/cuda/plugin.emu.o
emu_check_objects = $(cuda_sources:.cu=.emuck.o) backends/cuda/plugin.emuck.o
EMU_LIBS = $(OPENBLAS_LIBS) $(OPENMP_CFLAGS) -ldl -lpthread
EMU_LINK = $(CXX) -shared -Wl,-z,defs -Wl,-Bsymbolic

tests/cuda_emu/m2_cuda_emu.so: $(emu_fast_objects) $(emu_runtime_objects)
	$(AM_V_CXXLD)$(EMU_LINK) -o $@ $(emu_fast_objects) \
	    $(emu_runtime_objects) $(EMU_LIBS)
tests/cuda_emu/m2_cuda_emu_check.so: $(emu_check_objects) \
		$(emu_runtime_objects)
	$(AM_V_CXXLD)$(EMU_LINK) -o $@ $(emu_check_objects) \
	    $(emu_runtime_objects) $(EMU_LIBS)


# Programs that print TAP; run as the unit tests are.
emu_case_objects = tests/cuda_emu/cases.emu.o $(emu_runtime_objects)
emu_host_objects = $(emu_host_tests:.cpp=.emu.o)
emu_mistake_objects = $(emu_mistakes:.cu=.emu.o) $(emu_mistakes:.cu=.emuck.o) \
	tests/cuda_emu/mistakes/mistakes.emu.o
EMU_LINK_TEST = $(CXX) -o $@ $(filter %.o,$^) $(EMU_LIBS)
tests/cuda_emu/test_host: $(emu_host_objects) $(emu_case_objects)
	$(AM_V_CXXLD)$(EMU_LINK_TEST)
tests/cuda_emu/test_mistakes: $(emu_mistakes:.cu=.emu.o) \
		tests/cuda_emu/mistakes/mistakes.emu.o $(emu_case_objects)
	$(AM_V_CXXLD)$(EMU_LINK_TEST)
tests/cuda_emu/test_mistakes_check: $(emu_mistakes:.cu=.emuck.o) \
		tests/cuda_emu/mistakes/mistakes.emu.o $(emu_case_objects)
	$(AM_V_CXXLD)$(EMU_LINK_TEST)

emu_modules = tests/cuda_emu/m2_cuda_emu.so tests/cuda_emu/m2_cuda_emu_check.so
emu_programs = tests/cuda_emu/test_host tests/cuda_emu/test_mistakes \
	tests/cuda_emu/test_mistakes_check
emu_objects = tests/cuda_emu/cases.emu.o $(emu_runtime_objects) \
	$(emu_fast_objects) $(emu_check_objects) $(emu_host_objects) \
	$(emu_mistake_objects)
if HAVE_CUDA_EMU
check_DATA += $(emu_modules) $(emu_programs)
program_tests += $(emu_programs)
script_tests += $(emu_tests)
-include $(emu_objects:=.d)
else
script_tests += $(emu_left_out)
endif
CLEANFILES += $(emu_modules) $(emu_programs) $(emu_objects) $(emu_objects:=.d)
