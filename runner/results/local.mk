# runner/results/local.mk: run directories.
