# runner/config/local.mk: experiment file to resolved configuration.
