# runner/model/local.mk: parameters and Mamba-2 forward and backward.
librunner_a_SOURCES += \
	runner/model/activations.c runner/model/activations.h \
	runner/model/golden.h runner/model/golden_private.h \
	runner/model/golden_block.c runner/model/golden_model.c \
	runner/model/golden_setup.c \
	runner/model/graph.c runner/model/graph.h \
	runner/model/import.c runner/model/import.h \
	runner/model/import_names.c \
	runner/model/inspect.c \
	runner/model/mamba2_backward.c \
	runner/model/mamba2_forward.c \
	runner/model/model.c runner/model/model.h \
	runner/model/names.c \
	runner/model/golden_file.c runner/model/golden_file.h \
	runner/model/parameters.c runner/model/parameters.h \
	runner/model/program.c runner/model/program.h \
	runner/model/sizes.c runner/model/sizes.h \
	runner/model/stepper.c \
	runner/model/safetensors.c runner/model/safetensors.h \
	runner/model/st_seal.c \
	runner/model/st_values.c runner/model/st_writer.c

unit_tests += \
	tests/unit/test_import \
	tests/unit/test_model \
	tests/unit/test_model_faults \
	tests/unit/test_model_gradients \
	tests/unit/test_parameters \
	tests/unit/test_safetensors

small_model_sources = tests/unit/small_model.c tests/unit/small_model.h
tests_unit_test_model_SOURCES = tests/unit/test_model.c $(small_model_sources)
tests_unit_test_model_faults_SOURCES = \
	tests/unit/test_model_faults.c $(small_model_sources)
tests_unit_test_model_gradients_SOURCES = \
	tests/unit/test_model_gradients.c $(small_model_sources)

fuzz_targets += tests/fuzz/fuzz_safetensors
tests_fuzz_fuzz_safetensors_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_DIST += \
	tests/fuzz/corpus/safetensors/empty \
	tests/fuzz/corpus/safetensors/escapes \
	tests/fuzz/corpus/safetensors/narrow \
	tests/fuzz/corpus/safetensors/overflow \
	tests/fuzz/corpus/safetensors/overlap \
	tests/fuzz/corpus/safetensors/scalar-and-empty \
	tests/fuzz/corpus/safetensors/two-tensors
