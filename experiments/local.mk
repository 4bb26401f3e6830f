# experiments/local.mk: experiment files.
