# tests/cli/local.mk: the program on real files (shell scripts that print TAP).
