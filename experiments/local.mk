# experiments/local.mk: experiment files.
experimentsdir = $(pkgdatadir)/experiments
dist_experiments_DATA = \
	experiments/6e-mamba2.yaml \
	experiments/etth1.yaml \
	experiments/eurusd-csv.yaml \
	experiments/hft.yaml \
	experiments/lr-width-sweep.yaml \
	experiments/mackey-glass.yaml \
	experiments/quickstart.yaml
