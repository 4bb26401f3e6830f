# backends/ref/local.mk: the reference backend (linked in, and loadable).
