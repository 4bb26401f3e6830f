# backends/local.mk: the op table and its checked fronts.
m2include_HEADERS += backends/m2_backend.h
