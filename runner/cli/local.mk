# runner/cli/local.mk: one file per subcommand.
