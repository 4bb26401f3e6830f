# docs/local.mk: manual pages, shell completion and other documents.

# Templates for authors of plugins; `make installcheck` builds them.
exampledir = $(docdir)/examples
dist_example_DATA = docs/examples/m2_minimal.c docs/examples/m2_ramp.c

# Manual pages go to dist_man_MANS; the completion file must be named m2run.
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA =
