# backends/cuda/local.mk: the CUDA backend, by nvcc. Without libtool, which
# knows no CUDA. tests/cuda_emu compiles the same sources once more.
cuda_sources = \
	backends/cuda/conv.cu backends/cuda/conv_backward.cu \
	backends/cuda/dt.cu backends/cuda/elementwise.cu \
	backends/cuda/embed.cu backends/cuda/error.cu backends/cuda/facts.cu \
	backends/cuda/handle.cu backends/cuda/inference.cu \
	backends/cuda/layernorm.cu backends/cuda/linear.cu \
	backends/cuda/loss.cu backends/cuda/mean_time.cu \
	backends/cuda/memory.cu backends/cuda/optimiser.cu \
	backends/cuda/query.cu backends/cuda/rmsnorm.cu \
	backends/cuda/ssd_backward.cu backends/cuda/ssd_forward.cu \
	backends/cuda/ssd_gradients.cu backends/cuda/ssd_pairs.cu \
	backends/cuda/ssd_states.cu \
	backends/cuda/step.cu backends/cuda/table.cu \
	backends/cuda/windows.cu backends/cuda/xent.cu
cuda_headers = \
	backends/cuda/columns.cuh backends/cuda/conv.cuh \
	backends/cuda/cuda.cuh backends/cuda/launch.cuh \
	backends/cuda/members.cuh backends/cuda/norm.cuh \
	backends/cuda/real.cuh backends/cuda/reduce.cuh \
	backends/cuda/slots.h backends/cuda/ssd.cuh \
	backends/cuda/ssd_backward.cuh backends/cuda/walk.cuh
EXTRA_DIST += $(cuda_sources) $(cuda_headers) backends/cuda/plugin.c

AM_V_NVCC = $(am__v_NVCC_@AM_V@)
am__v_NVCC_ = $(am__v_NVCC_@AM_DEFAULT_V@)
am__v_NVCC_0 = @echo "  NVCC    " $@;
am__v_NVCC_1 =

# What nvcc, and the compilers of tests/cuda_emu, are told alike.
CUDA_CPPFLAGS = -I$(top_srcdir) -I$(top_srcdir)/plugins \
	-I$(top_srcdir)/backends -DPACKAGE_VERSION='"$(PACKAGE_VERSION)"'
CUDA_HOST_FLAGS = -fPIC -fvisibility=hidden -Wall -Wextra
# FILE.d beside FILE: what it was made from.
CUDA_DEPENDS = -MMD -MP -MF $@.d -MT $@

cuda_objects = $(cuda_sources:.cu=.nv.o) backends/cuda/plugin.nv.o
cuda_module = .libs/m2_cuda.so
NVCC_COMMAND = $(NVCC) $(NVCCFLAGS) -std=c++17 $(CUDA_WERROR) \
	-forward-unknown-to-host-compiler $(CUDA_HOST_FLAGS) $(CUDA_CPPFLAGS) \
	-DM2_CUDA_ARCHS='"$(CUDA_ARCHS)"'

%.nv.o: %.cu
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC_COMMAND) $(CUDA_GENCODE) $(CUDA_DEPENDS) \
	    -c -o $@ $<
%.nv.o: %.c
	@$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CC) $(STD_CFLAGS) $(WARN_CFLAGS) $(CFLAGS) \
	    -fPIC -fvisibility=hidden $(CUDA_CPPFLAGS) $(CUDA_DEPENDS) \
	    -c -o $@ $<
$(cuda_module): $(cuda_objects)
	@$(MKDIR_P) $(@D)
	$(AM_V_NVCC)$(NVCC) -shared -cudart=static -Xlinker=-z,defs \
	    -o $@ $(cuda_objects) $(CUDA_LDFLAGS) -lcublas

# Installed as data: a module is loaded, not run.
cudadir = $(plugindir)
if HAVE_CUDA
cuda_DATA = $(cuda_module)
cuda: $(cuda_module)
	@echo "$(cuda_module) is ready"
-include $(cuda_objects:=.d)
else
cuda:
	@echo 'the CUDA backend is not built here: $(cuda_reason)' >&2
	@false
endif

# The table of docs/cuda-kernels.md; fails when a kernel spills registers.
cuda-resources:
	NVCC='$(NVCC)' CXXFILT='$(CXXFILT)' AWK='$(AWK)' $(SHELL) \
	    $(top_srcdir)/build-aux/cuda-resources '$(top_srcdir)' \
	    $(NVCCFLAGS) -std=c++17 $(CUDA_CPPFLAGS) \
	    -DM2_CUDA_ARCHS='"90"' -- $(cuda_sources)
CLEANFILES += $(cuda_objects) $(cuda_objects:=.d)
.PHONY: cuda cuda-resources
