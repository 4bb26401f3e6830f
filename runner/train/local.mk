# runner/train/local.mk: step loop, evaluation, checkpoints.
