#!/bin/sh
# The emulator's headers name only what CUDA has, with the same values and
# signatures: parity.cu is compiled against both.
. "$top_srcdir/tests/tap.sh"

here=$top_srcdir/tests/cuda_emu
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}

# every call that the headers declare is in parity.cu
grep -ho 'cu\(da\|blas\)[A-Z][A-Za-z0-9]*(' "$here"/include/*.h |
    tr -d '(' | sort -u >declared
for call in $(cat declared); do
    grep -q "[^A-Za-z]$call[^A-Za-z]" "$here/parity.cu" || echo "$call"
done >missing
equal "parity.cu has every call" "$(tr '\n' ' ' <missing)" ""
equal "there are calls" "$([ "$(wc -l <declared)" -gt 40 ] && echo yes)" yes

if command -v "${CXX:-g++}" >/dev/null 2>&1; then
    runs "it compiles against the emulator" 0 "${CXX:-g++}" -std=gnu++17 \
        -Wall -Werror -I"$here/include" -x c++ -c "$here/parity.cu" -o emu.o
    sed 's/VALUE(cudaErrorNoDevice, 100)/VALUE(cudaErrorNoDevice, 99)/' \
        "$here/parity.cu" >wrong.cu
    runs "and does not with a wrong value" 1 "${CXX:-g++}" -std=gnu++17 \
        -I"$here/include" -x c++ -c wrong.cu -o wrong.o
else
    skip "it compiles against the emulator" "no C++ compiler"
fi
if [ -x "$nvcc" ]; then
    runs "it compiles against CUDA" 0 "$nvcc" -std=c++17 -c "$here/parity.cu" \
        -o cuda.o
else
    skip "it compiles against CUDA" "no nvcc"
fi
finish
