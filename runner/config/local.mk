# runner/config/local.mk: experiment file to resolved configuration.
librunner_a_SOURCES += \
	runner/config/binding.c runner/config/binding.h \
	runner/config/config.c runner/config/config.h \
	runner/config/identity.c runner/config/identity.h \
	runner/config/include.c runner/config/include.h \
	runner/config/load.c runner/config/load.h \
	runner/config/lookup_plugin.c \
	runner/config/messages.c runner/config/messages.h \
	runner/config/override.c runner/config/override.h \
	runner/config/override_value.c runner/config/override_value.h \
	runner/config/parse.c \
	runner/config/parse_error.c \
	runner/config/parse_reader.h \
	runner/config/reference.c runner/config/reference.h \
	runner/config/reference_json.c runner/config/reference_man.c \
	runner/config/reference_markdown.c runner/config/reference_sweep.c \
	runner/config/rules.c runner/config/rules_model.c \
	runner/config/rules_split.c \
	runner/config/scalar.c runner/config/scalar.h \
	runner/config/schema.c runner/config/schema.h \
	runner/config/schema_data.c runner/config/schema_model.c \
	runner/config/schema_top.c runner/config/schema_train.c \
	runner/config/tree.c runner/config/tree.h \
	runner/config/value.c runner/config/value.h \
	runner/config/value_bound.c runner/config/value_number.c \
	runner/config/value_option.c runner/config/value_string.c \
	runner/config/value_parts.h runner/config/value_write.c

unit_tests += \
	tests/unit/test_broken tests/unit/test_config tests/unit/test_reference \
	tests/unit/test_scalar tests/unit/test_tree
EXTRA_DIST += tests/golden/identities.txt tests/unit/option_tables.h tests/cli/broken

fuzz_targets += tests/fuzz/fuzz_yaml
tests_fuzz_fuzz_yaml_LDFLAGS = $(AM_LDFLAGS) -fsanitize=fuzzer
EXTRA_DIST += tests/fuzz/yaml.dict tests/fuzz/corpus/yaml

# Documents made from the tables; tests/cli/test_schema.sh compares them.
dist_man_MANS += docs/m2run-config.5
EXTRA_DIST += docs/config-reference.md
script_tests += tests/cli/test_schema.sh
update-docs: m2run$(EXEEXT) $(plugin_LTLIBRARIES)
	./m2run$(EXEEXT) schema --format markdown \
	    > $(srcdir)/docs/config-reference.md
	./m2run$(EXEEXT) schema --format man > $(srcdir)/docs/m2run-config.5
.PHONY: update-docs
