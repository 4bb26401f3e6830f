# backends/cpu/local.mk: the OpenBLAS backend.
