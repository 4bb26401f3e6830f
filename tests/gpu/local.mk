# tests/gpu/local.mk: what is run by hand on a machine with a GPU.
EXTRA_DIST += tests/gpu/README.md tests/gpu/run.sh tests/gpu/pack.sh \
	tests/gpu/gemm_rate.cu tests/gpu/small.yaml tests/gpu/6e.yaml \
	tests/gpu/width-768.yaml

# Sources, and m2run built here for the same processor: tests/gpu/README.md.
gpu_bundle = m2run-gpu-$(PACKAGE_VERSION)
GPU_BUNDLE_LIMIT = 62914560
gpu-bundle: all
	@rm -rf $(gpu_bundle) $(gpu_bundle).tar.xz
	$(MAKE) $(AM_MAKEFLAGS) distdir distdir=$(gpu_bundle)
	$(SHELL) $(top_srcdir)/tests/gpu/pack.sh '$(abs_top_builddir)' \
	    $(gpu_bundle)/prebuilt
	tar -cf - $(gpu_bundle) | xz -T 0 > $(gpu_bundle).tar.xz
	@rm -rf $(gpu_bundle)
	@size=`wc -c < $(gpu_bundle).tar.xz`; \
	    echo "$(gpu_bundle).tar.xz: $$size bytes"; \
	    test $$size -le $(GPU_BUNDLE_LIMIT) || \
	    { echo "more than $(GPU_BUNDLE_LIMIT)" >&2; exit 1; }
CLEANFILES += $(gpu_bundle).tar.xz
.PHONY: gpu-bundle
