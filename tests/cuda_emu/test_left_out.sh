#!/bin/sh
# Stands in the list of tests for those of the emulated CUDA backend, where they
# cannot be built.
echo "1..0 # SKIP skipped: $M2_EMU_REASON"
