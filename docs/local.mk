# docs/local.mk: manual pages, shell completion and other documents.
