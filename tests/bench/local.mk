# tests/bench/local.mk: benchmarks; never run by `make check`.
EXTRA_PROGRAMS += tests/bench/bench_step tests/bench/bench_ops \
	tests/bench/make_runs
tests_bench_bench_step_SOURCES = tests/bench/bench_step.c
tests_bench_bench_ops_SOURCES = tests/bench/bench_ops.c
tests_bench_make_runs_SOURCES = tests/bench/make_runs.c
EXTRA_DIST += tests/bench/pytorch_step.py tests/bench/run.sh \
	tests/bench/many_runs.sh
