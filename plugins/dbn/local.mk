# plugins/dbn/local.mk: data plugin dbn.
