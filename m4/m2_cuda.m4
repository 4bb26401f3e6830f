dnl m2_cuda.m4: the CUDA compiler, and what runs its sources on the processor.

dnl M2_CUDA: --with-cuda, --with-cuda-arch.  Sets NVCC, NVCCFLAGS, CUDA_GENCODE,
dnl CUDA_ARCHS, CUDA_LDFLAGS, cuda_summary and the conditional HAVE_CUDA.
dnl The GPU of this machine is never looked at: what is built depends on the
dnl compiler and on the options alone.
AC_DEFUN([M2_CUDA], [
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda=guess|yes|DIR|no],
    [build the CUDA backend with DIR/bin/nvcc; guess: if nvcc works [guess]])],
  [], [with_cuda=guess])
AC_ARG_WITH([cuda-arch],
  [AS_HELP_STRING([--with-cuda-arch=LIST],
    [compute capabilities, e.g. "80 90" [those that nvcc knows of
     75 80 86 89 90 100 120]])],
  [CUDA_ARCHS=$withval])
AC_ARG_VAR([NVCC], [CUDA compiler])
AC_ARG_VAR([NVCCFLAGS], [flags for the CUDA compiler])
AC_ARG_VAR([CUDA_ARCHS], [the same as --with-cuda-arch])
dnl -lineinfo would triple the size: for those who look at kernels only.
: ${NVCCFLAGS=-O3}
cuda_reason=
AS_CASE([$with_cuda],
  [no], [cuda_reason="--with-cuda=no"],
  [guess|yes],
    [AS_IF([test -z "$NVCC"],
       [AC_PATH_PROG([NVCC], [nvcc], [],
         [$PATH$PATH_SEPARATOR/usr/local/cuda/bin$PATH_SEPARATOR/opt/cuda/bin])])
     AS_IF([test -z "$NVCC"], [cuda_reason="nvcc not found"])],
  [AS_IF([test -x "$with_cuda/bin/nvcc"],
     [NVCC=$with_cuda/bin/nvcc],
     [cuda_reason="$with_cuda/bin/nvcc not found"])])
AS_IF([test -z "$cuda_reason"], [_M2_CUDA_ARCHS])
AS_IF([test -z "$cuda_reason"], [_M2_CUDA_LIBRARY])
AS_IF([test -z "$cuda_reason"], [_M2_CUDA_WORKS])
AS_CASE([$with_cuda], [guess|no], [],
  [AS_IF([test -n "$cuda_reason"],
     [AC_MSG_ERROR([--with-cuda=$with_cuda: $cuda_reason])])])
AS_IF([test -z "$cuda_reason"],
  [cuda_summary="$NVCC, for $CUDA_ARCHS"],
  [cuda_summary="no ($cuda_reason)"])
AC_SUBST([cuda_reason])
AC_SUBST([CUDA_GENCODE])
AC_SUBST([CUDA_LDFLAGS])
AM_CONDITIONAL([HAVE_CUDA], [test -z "$cuda_reason"])
])

dnl One cubin for each architecture, and PTX of the last for those to come.
AC_DEFUN([_M2_CUDA_ARCHS], [
  AC_MSG_CHECKING([for GPU architectures])
  cuda_known=`$NVCC --list-gpu-arch 2>&AS_MESSAGE_LOG_FD | tr '\n' ' '`
  cuda_asked=`AS_ECHO(["$CUDA_ARCHS"]) | tr ',' ' ' | sed 's/ *PTX//'`
  CUDA_ARCHS=
  CUDA_GENCODE=
  cuda_last=
  for arch in ${cuda_asked:-75 80 86 89 90 100 120}; do
    AS_CASE([" $cuda_known "],
      [*" compute_$arch "*],
        [AS_VAR_APPEND([CUDA_ARCHS], ["$arch "])
         AS_VAR_APPEND([CUDA_GENCODE],
           ["-gencode=arch=compute_$arch,code=sm_$arch "])
         cuda_last=$arch],
      [AS_IF([test -n "$cuda_asked"],
         [cuda_reason="$NVCC does not know the architecture $arch"])])
  done
  AS_IF([test -n "$cuda_last"],
    [AS_VAR_APPEND([CUDA_ARCHS], [PTX])
     AS_VAR_APPEND([CUDA_GENCODE],
       ["-gencode=arch=compute_$cuda_last,code=compute_$cuda_last"])],
    [test -n "$cuda_reason" || cuda_reason="$NVCC --list-gpu-arch names none"])
  AC_MSG_RESULT([${CUDA_ARCHS:-none}])
])

dnl The folder of libcublas.so, for the linker and for the loader.  Where the
dnl system looks anyway, nothing is said to either.
AC_DEFUN([_M2_CUDA_LIBRARY], [
  AC_MSG_CHECKING([for the CUDA libraries])
  dnl NVCC may be "ccache nvcc"
  cuda_bin=`AS_ECHO(["$NVCC"]) | sed 's/.* //'`
  cuda_bin=`command -v "$cuda_bin"`
  cuda_bin=`readlink -f "$cuda_bin"`
  cuda_prefix=`AS_DIRNAME([$cuda_bin])`
  cuda_prefix=`AS_DIRNAME([$cuda_prefix])`
  cuda_libdir=
  for dir in "$cuda_prefix/lib64" "$cuda_prefix/targets/$host_cpu-linux/lib" \
      "$cuda_prefix/lib"; do
    AS_IF([test -z "$cuda_libdir" && test -e "$dir/libcublas.so"],
      [cuda_libdir=$dir])
  done
  CUDA_LDFLAGS=
  AS_IF([test -n "$cuda_libdir"],
    [CUDA_LDFLAGS="-L$cuda_libdir -Xlinker=-rpath,$cuda_libdir \
-Xlinker=--enable-new-dtags"])
  AC_MSG_RESULT([${cuda_libdir:-where the system looks}])
])

dnl A kernel and a cuBLAS call, compiled and linked as the backend will be; for
dnl one architecture only, which is what takes the time.
AC_DEFUN([_M2_CUDA_WORKS], [
  AC_MSG_CHECKING([whether $NVCC compiles and links])
  cat > conftest.cu <<_M2EOF
#include <cuda_runtime.h>
#include <cublas_v2.h>
#include <utility>
template <class R> __global__ void kernel(R *p) { *p = 1; }
extern "C" int m2_function(void);
int m2_function(void)
{
    cublasHandle_t handle;
    kernel<float><<<1, 1>>>(nullptr);
    return (int)cublasCreate(&handle) + (int)cudaGetLastError();
}
_M2EOF
  AS_IF([$NVCC $NVCCFLAGS -std=c++17 -arch=compute_$cuda_last \
      -forward-unknown-to-host-compiler -fPIC -fvisibility=hidden \
      -c -o conftest.cuda.o conftest.cu >conftest.cuda.log 2>&1 &&
      $NVCC -shared -cudart=static -Xlinker=-z,defs -o conftest.cuda.so \
      conftest.cuda.o $CUDA_LDFLAGS -lcublas >>conftest.cuda.log 2>&1],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     cuda_reason="$NVCC does not work: `sed -n 1p conftest.cuda.log`"])
  cat conftest.cuda.log >&AS_MESSAGE_LOG_FD
  rm -f conftest.cu conftest.cuda.*
])

dnl M2_CUDA_EMU: can tests/cuda_emu be built?  Sets CXX, emu_reason and the
dnl conditional HAVE_CUDA_EMU.  No AC_PROG_CXX: automake and libtool would ask
dnl a C++ compiler of everyone.
AC_DEFUN([M2_CUDA_EMU], [
AC_ARG_VAR([CXX], [C++ compiler, for tests of the CUDA backend only])
AC_ARG_VAR([CXXFLAGS], [flags for the C++ compiler])
AC_CHECK_PROGS([CXX], [g++ c++ clang++])
emu_reason=
AS_CASE([$host],
  [x86_64-*-linux*|aarch64-*-linux*], [],
  [emu_reason="not made for $host"])
AS_IF([test "x$enable_sanitizers" != xno],
  [emu_reason="fibers of the emulator do not go with sanitizers"])
AS_IF([test -z "$emu_reason" && test -z "$CXX"],
  [emu_reason="no C++ compiler"])
AS_IF([test -z "$emu_reason"],
  [AC_MSG_CHECKING([whether $CXX builds the CUDA emulator])
   cat > conftest.cpp <<_M2EOF
#include <sys/mman.h>
#include <tuple>
int line = __builtin_LINE();
int main()
{
    return std::get<0>(std::make_tuple(line)) + MAP_FIXED_NOREPLACE == 0;
}
_M2EOF
   AS_IF([$CXX $CXXFLAGS -std=gnu++17 -fPIC -fsanitize=thread,alignment \
       -c -o conftest.emu.o conftest.cpp >&AS_MESSAGE_LOG_FD 2>&1],
     [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      emu_reason="no C++ compiler that knows C++17 and -fsanitize=thread"])
   rm -f conftest.cpp conftest.emu.o])
AC_SUBST([EMU_REASON], [$emu_reason])
AM_CONDITIONAL([HAVE_CUDA_EMU], [test -z "$emu_reason"])
])
