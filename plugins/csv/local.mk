# plugins/csv/local.mk: data plugin csv.
include $(top_srcdir)/plugins/common/local.mk
