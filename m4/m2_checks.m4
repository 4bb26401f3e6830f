dnl m2_checks.m4: small checks used by configure.ac (no autoconf-archive).

dnl M2_CHECK_CFLAGS(VARIABLE, FLAGS): substitute those FLAGS the compiler knows.
dnl clang only warns about an unknown -W flag, hence the -Werror.
AC_DEFUN([M2_CHECK_CFLAGS], [
  m2_save_CFLAGS=$CFLAGS
  $1=
  for m2_flag in m4_normalize([$2]); do
    AC_MSG_CHECKING([whether $CC accepts $m2_flag])
    CFLAGS="$m2_save_CFLAGS -Werror $m2_flag"
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int main(void) { return 0; }]])],
      [AC_MSG_RESULT([yes])
       AS_VAR_APPEND([$1], [" $m2_flag"])],
      [AC_MSG_RESULT([no])])
  done
  CFLAGS=$m2_save_CFLAGS
  AC_SUBST([$1])
])

dnl M2_TRY_LINK(FLAGS, IF-YES, IF-NO): does a program link with FLAGS?
dnl It calls into libc through a checked access, so that a sanitizer has work.
AC_DEFUN([M2_TRY_LINK], [
  m2_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS $1"
  AC_MSG_CHECKING([whether $CC links with $1])
  AC_LINK_IFELSE([AC_LANG_SOURCE([[
    int m2_element(int *array, int i);
    int m2_element(int *array, int i) { return array[i] + 1; }
    int main(int argc, char **argv)
    { (void)argv; return m2_element(&argc, 0) == 0; }]])],
    [AC_MSG_RESULT([yes])
     CFLAGS=$m2_save_CFLAGS
     $2],
    [AC_MSG_RESULT([no])
     CFLAGS=$m2_save_CFLAGS
     $3])
])

dnl M2_NEED_HEADER(HEADER, DEBIAN-PACKAGE): a library without a .pc file.
AC_DEFUN([M2_NEED_HEADER], [
  AC_CHECK_HEADER([$1], [],
    [AC_MSG_ERROR([$1 not found (Debian: $2)])])
])
