# runner/model/local.mk: parameters and Mamba-2 forward and backward.
