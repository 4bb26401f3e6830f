# plugins/synthetic/local.mk: data plugin synthetic.
