# docs/local.mk: manual pages, shell completion and other documents.

# Templates for authors of plugins; `make installcheck` builds them.
exampledir = $(docdir)/examples
dist_example_DATA = docs/examples/m2_minimal.c docs/examples/m2_ramp.c

dist_man_MANS += docs/m2run.1

# The completion file must be named as the program.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = docs/bash-completion/m2run
EXTRA_DIST += docs/cuda-kernels.md docs/benchmarks.md docs/guarantees.md
