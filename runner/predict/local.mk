# runner/predict/local.mk: trained runs at work, plans and benchmarks.
librunner_a_SOURCES += \
	runner/predict/batch_predict.c runner/predict/batch_predict.h \
	runner/predict/bench.c runner/predict/bench.h \
	runner/predict/latency.c runner/predict/latency.h \
	runner/predict/lines.c runner/predict/lines.h \
	runner/predict/planner.c runner/predict/planner.h \
	runner/predict/predict_stream.c runner/predict/predict_stream.h \
	runner/predict/predictor.c runner/predict/predictor.h \
	runner/predict/row_reader.c runner/predict/row_reader.h \
	runner/predict/stream.c runner/predict/stream.h \
	runner/predict/stream_instruments.c \
	runner/predict/stream_model.c runner/predict/stream_model.h \
	runner/predict/stream_series.c runner/predict/stream_series.h

predict_fixture = \
	tests/unit/predict_fixture.c tests/unit/predict_fixture.h \
	tests/unit/table_source.c tests/unit/table_source.h
unit_tests += tests/unit/test_prices
tests_unit_test_prices_SOURCES = tests/unit/test_prices.c $(predict_fixture)
unit_tests += tests/unit/test_stream
tests_unit_test_stream_SOURCES = tests/unit/test_stream.c $(predict_fixture)
unit_tests += tests/unit/test_lines tests/unit/test_row_reader
EXTRA_DIST += docs/predict.md
