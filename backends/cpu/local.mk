# backends/cpu/local.mk: the CPU backend.
#
# The ops are compiled once per real type and instruction set (cpu.h).
cpu_ops_sources = \
	backends/cpu/cpu.h backends/cpu/real.h backends/cpu/simd.h \
	backends/cpu/vector_math.h backends/cpu/columns.h \
	backends/cpu/gemm.h backends/cpu/ssd.h \
	backends/cpu/table.c backends/cpu/self_test.c \
	backends/cpu/gemm.c backends/cpu/tile.c backends/cpu/blas.c \
	backends/cpu/transpose.c \
	backends/cpu/linear.c backends/cpu/norm.c backends/cpu/layernorm.c \
	backends/cpu/conv.h backends/cpu/conv.c \
	backends/cpu/conv_backward.c backends/cpu/dt.c backends/cpu/ssd.c \
	backends/cpu/ssd_forward.c backends/cpu/ssd_backward.h \
	backends/cpu/ssd_backward.c backends/cpu/ssd_head.c \
	backends/cpu/elementwise.c backends/cpu/mean_time.c \
	backends/cpu/embed.c backends/cpu/loss.c backends/cpu/xent.c \
	backends/cpu/optimiser.c backends/cpu/windows.c \
	backends/cpu/inference.c

# Neither fusing nor reordering of operations is left to the compiler; errno
# and trapping of floating-point exceptions would only forbid vectors.
CPU_CFLAGS = $(BASE_CFLAGS) -ffp-contract=off -fno-math-errno \
	-fno-trapping-math -fopenmp-simd -ftree-vectorize -Wno-pass-failed
CPU_AVX2 = -mavx2 -mfma -mprfchw
CPU_AVX512 = $(CPU_AVX2) -mavx512f -mavx512dq -mavx512vl -mavx512bw

cpu_variants = libcpu_f32_base.la libcpu_f64_base.la
libcpu_f32_base_la_SOURCES = $(cpu_ops_sources)
libcpu_f32_base_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS) \
	-DM2_REAL=32 -DM2_ISA=0 -DM2_VARIANT=f32_base
libcpu_f32_base_la_CFLAGS = $(CPU_CFLAGS)
libcpu_f64_base_la_SOURCES = $(cpu_ops_sources)
libcpu_f64_base_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS) \
	-DM2_REAL=64 -DM2_ISA=0 -DM2_VARIANT=f64_base
libcpu_f64_base_la_CFLAGS = $(CPU_CFLAGS)

if X86_64
cpu_variants += libcpu_f32_avx2.la libcpu_f64_avx2.la \
	libcpu_f32_avx512.la libcpu_f64_avx512.la
libcpu_f32_avx2_la_SOURCES = $(cpu_ops_sources)
libcpu_f32_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DM2_REAL=32 -DM2_ISA=1 -DM2_VARIANT=f32_avx2
libcpu_f32_avx2_la_CFLAGS = $(CPU_CFLAGS) $(CPU_AVX2)
libcpu_f64_avx2_la_SOURCES = $(cpu_ops_sources)
libcpu_f64_avx2_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DM2_REAL=64 -DM2_ISA=1 -DM2_VARIANT=f64_avx2
libcpu_f64_avx2_la_CFLAGS = $(CPU_CFLAGS) $(CPU_AVX2)
libcpu_f32_avx512_la_SOURCES = $(cpu_ops_sources)
libcpu_f32_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DM2_REAL=32 -DM2_ISA=2 -DM2_VARIANT=f32_avx512
libcpu_f32_avx512_la_CFLAGS = $(CPU_CFLAGS) $(CPU_AVX512)
libcpu_f64_avx512_la_SOURCES = $(cpu_ops_sources)
libcpu_f64_avx512_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DM2_REAL=64 -DM2_ISA=2 -DM2_VARIANT=f64_avx512
libcpu_f64_avx512_la_CFLAGS = $(CPU_CFLAGS) $(CPU_AVX512)
endif

noinst_LTLIBRARIES += $(cpu_variants)

plugin_LTLIBRARIES += m2_cpu.la
m2_cpu_la_SOURCES = backends/cpu/cpu.h backends/cpu/plugin.c \
	backends/cpu/handle.c backends/cpu/facts.c backends/cpu/parallel.c
m2_cpu_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENBLAS_CFLAGS)
m2_cpu_la_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
m2_cpu_la_LDFLAGS = $(PLUGIN_LINK) $(OPENMP_CFLAGS)
m2_cpu_la_LIBADD = $(cpu_variants) $(OPENBLAS_LIBS) -lm

unit_tests += tests/ops/test_cpu_variants tests/unit/test_cpu_math
valgrind_skips += tests/ops/test_cpu_variants tests/unit/test_cpu_math
tests_unit_test_cpu_math_CPPFLAGS = $(AM_CPPFLAGS) \
	-DM2_REAL=32 -DM2_ISA=0 -DM2_VARIANT=f32_base
tests_unit_test_cpu_math_CFLAGS = $(CPU_CFLAGS) $(CMOCKA_CFLAGS)
if X86_64
unit_tests += tests/unit/test_cpu_math_avx2
valgrind_skips += tests/unit/test_cpu_math_avx2
tests_unit_test_cpu_math_avx2_SOURCES = tests/unit/test_cpu_math.c
tests_unit_test_cpu_math_avx2_CPPFLAGS = $(AM_CPPFLAGS) \
	-DM2_REAL=64 -DM2_ISA=1 -DM2_VARIANT=f64_avx2
tests_unit_test_cpu_math_avx2_CFLAGS = $(CPU_CFLAGS) $(CPU_AVX2) \
	$(CMOCKA_CFLAGS)
endif
