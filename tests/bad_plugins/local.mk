# tests/bad_plugins/local.mk: modules the loader must refuse, and three it must
# take: a good one, an older one (short) and a newer one.

# Without the check for undefined and for exported symbols.
BAD_LINK = -module -avoid-version -shared -rpath /nowhere

check_LTLIBRARIES += tests/bad_plugins/m2_good.la \
	tests/bad_plugins/m2_newer.la \
	tests/bad_plugins/m2_slotsize.la \
	tests/bad_plugins/m2_missingslot.la \
	tests/bad_plugins/m2_smallsize.la \
	tests/bad_plugins/m2_wrongabi.la \
	tests/bad_plugins/m2_wrongkind.la \
	tests/bad_plugins/m2_othername.la \
	tests/bad_plugins/m2_nobuild.la \
	tests/bad_plugins/m2_notable.la \
	tests/bad_plugins/m2_nodescriptor.la \
	tests/bad_plugins/m2_nosymbol.la \
	tests/bad_plugins/m2_borrowed.la \
	tests/bad_plugins/m2_unresolved.la \
	tests/bad_plugins/m2_short.la

tests_bad_plugins_m2_good_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_good_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"good"'
tests_bad_plugins_m2_good_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_newer_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_newer_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"newer"' -DBAD_NEWER
tests_bad_plugins_m2_newer_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_slotsize_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_slotsize_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"slotsize"' -DBAD_SLOT_SIZE
tests_bad_plugins_m2_slotsize_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_missingslot_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_missingslot_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"missingslot"' -DBAD_MISSING_SLOT
tests_bad_plugins_m2_missingslot_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_smallsize_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_smallsize_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"smallsize"' -DBAD_SIZE
tests_bad_plugins_m2_smallsize_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_wrongabi_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_wrongabi_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"wrongabi"' -DBAD_ABI
tests_bad_plugins_m2_wrongabi_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_wrongkind_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_wrongkind_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"wrongkind"' -DBAD_KIND
tests_bad_plugins_m2_wrongkind_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_othername_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_othername_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"someone_else"'
tests_bad_plugins_m2_othername_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_nobuild_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_nobuild_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"nobuild"' -DBAD_BUILD
tests_bad_plugins_m2_nobuild_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_notable_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_notable_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"notable"' -DBAD_TABLE
tests_bad_plugins_m2_notable_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_nodescriptor_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_nodescriptor_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_NAME='"nodescriptor"' -DBAD_DESCRIPTOR
tests_bad_plugins_m2_nodescriptor_la_LDFLAGS = $(TEST_PLUGIN_LINK)

tests_bad_plugins_m2_nosymbol_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_nosymbol_la_CPPFLAGS = $(AM_CPPFLAGS) -DBAD_SYMBOL
tests_bad_plugins_m2_nosymbol_la_LDFLAGS = $(BAD_LINK)

# A symbol that nobody defines; found by the loader, not by the linker.
tests_bad_plugins_m2_unresolved_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_unresolved_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DBAD_NAME='"unresolved"' -DBAD_UNRESOLVED
tests_bad_plugins_m2_unresolved_la_LDFLAGS = $(BAD_LINK)

# The symbol is there, but in a library that the module is linked with.
check_LTLIBRARIES += tests/bad_plugins/libdonor.la
tests_bad_plugins_libdonor_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_libdonor_la_LDFLAGS = -avoid-version -shared \
	-rpath /nowhere
tests_bad_plugins_m2_borrowed_la_SOURCES = tests/bad_plugins/bad.c
tests_bad_plugins_m2_borrowed_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DBAD_SYMBOL -DBAD_OTHER_SYMBOL
tests_bad_plugins_m2_borrowed_la_LDFLAGS = $(BAD_LINK) -Wl,-rpath,'$$ORIGIN'
tests_bad_plugins_m2_borrowed_la_LIBADD = tests/bad_plugins/libdonor.la

tests_bad_plugins_m2_short_la_SOURCES = $(ref_sources) \
	tests/bad_plugins/short_backend.c
tests_bad_plugins_m2_short_la_CFLAGS = $(AM_CFLAGS)
tests_bad_plugins_m2_short_la_LDFLAGS = $(TEST_PLUGIN_LINK)
