# plugins/local.mk: handshake and loader.
m2include_HEADERS += plugins/m2_plugin.h plugins/m2_data.h
