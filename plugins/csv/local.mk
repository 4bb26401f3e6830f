# plugins/csv/local.mk: data plugin csv.
