# plugins/local.mk: handshake and loader.
m2include_HEADERS += plugins/m2_plugin.h plugins/m2_data.h

librunner_a_SOURCES += plugins/loader.c plugins/loader.h \
	plugins/builtin.c \
	plugins/search.c plugins/search.h \
	plugins/handshake.c plugins/handshake.h \
	plugins/module_file.c plugins/module_file.h

unit_tests += tests/unit/test_loader
