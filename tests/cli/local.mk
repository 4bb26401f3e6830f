# tests/cli/local.mk: the program on real files (shell scripts that print TAP).
script_tests += tests/cli/test_version.sh
