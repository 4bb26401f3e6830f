# tests/local.mk: what is tested; unit tests are listed by the room they test.
EXTRA_DIST += tests/tap.sh
include $(top_srcdir)/tests/ops/local.mk
include $(top_srcdir)/tests/train/local.mk
include $(top_srcdir)/tests/cli/local.mk
include $(top_srcdir)/tests/bad_plugins/local.mk
include $(top_srcdir)/tests/mock/local.mk
include $(top_srcdir)/tests/cuda_emu/local.mk
include $(top_srcdir)/tests/gpu/local.mk
include $(top_srcdir)/tests/faults/local.mk
include $(top_srcdir)/tests/chaos/local.mk
include $(top_srcdir)/tests/golden/local.mk
include $(top_srcdir)/tests/fuzz/local.mk
include $(top_srcdir)/tests/bench/local.mk
