# tests/bad_plugins/local.mk: modules the loader must refuse.
