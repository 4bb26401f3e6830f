# runner/schedule/local.mk: runs to worker processes.
