# runner/sweep/local.mk: sweep block to an ordered list of runs.
