# plugins/common/local.mk: what the data plugins share; compiled into each.
plugin_common_sources = \
	plugins/common/bytes.h \
	plugins/common/civil.c plugins/common/civil.h \
	plugins/common/counts.c plugins/common/counts.h \
	plugins/common/input.c plugins/common/input.h \
	plugins/common/memory.c plugins/common/memory.h \
	plugins/common/rows.c plugins/common/rows.h \
	plugins/common/rows_held.c plugins/common/rows_internal.h \
	plugins/m2_data.h plugins/m2_plugin.h
