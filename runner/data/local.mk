# runner/data/local.mk: series to features, windows and batches.
