# docs/local.mk: manual pages, shell completion and other documents.

# Templates for authors of plugins; `make installcheck` builds them.
exampledir = $(docdir)/examples
dist_example_DATA = docs/examples/m2_minimal.c docs/examples/m2_ramp.c
