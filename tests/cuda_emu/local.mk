# tests/cuda_emu/local.mk: the CUDA backend's own sources on the processor, in
# two builds: fast, and check with a look at every access. Only for tests.
#   X.emu.o  compiled for fast     X.emuck.o  compiled for check
# The runtime is the same in both.
emu_runtime =
emu_headers =
# Shell tests that need the modules; they lie in $M2_EMU_DIR.
emu_tests = tests/gpu/test_run.sh
emu_left_out = tests/cuda_emu/test_left_out.sh
EXTRA_DIST += $(emu_runtime) $(emu_headers) $(emu_tests) $(emu_left_out)

AM_V_CXX = $(am__v_CXX_@AM_V@)
am__v_CXX_ = $(am__v_CXX_@AM_DEFAULT_V@)
am__v_CXX_0 = @echo "  CXX     " $@;
am__v_CXX_1 =

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
	$(AM_V_CXX)$(EMU_COMMAND) $(CUDA_DEPENDS) -c -o $@ $<
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

AM_V_CXXLD = $(am__v_CXXLD_@AM_V@)
am__v_CXXLD_ = $(am__v_CXXLD_@AM_DEFAULT_V@)
am__v_CXXLD_0 = @echo "  CXXLD   " $@;
am__v_CXXLD_1 =

emu_modules = tests/cuda_emu/m2_cuda_emu.so tests/cuda_emu/m2_cuda_emu_check.so
emu_objects = $(emu_runtime_objects) $(emu_fast_objects) $(emu_check_objects)
if HAVE_CUDA_EMU
# check_DATA += $(emu_modules), with the runtime
# script_tests += $(emu_tests)
-include $(emu_objects:=.d)
else
script_tests += $(emu_left_out)
endif
CLEANFILES += $(emu_modules) $(emu_objects) $(emu_objects:=.d)
