#!/usr/bin/env bash
# Compiles compare.cu to PTX: build_ptx.sh OUTPUT [nvcc flags]. Needs nvcc. The result is committed, so building Hone
# needs no CUDA. PTX for compute_75 runs on Turing and everything newer; the driver compiles it for its chip.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
output=$1
shift
# No contraction: the host twin of these kernels has no fused multiply-add and must give the same bits.
"${NVCC:-nvcc}" -ptx -arch=compute_75 -std=c++17 -fmad=false -I "$here/../.." "$@" -o "$output" "$here/compare.cu"
# nvcc writes its own newest version of the language, which older drivers refuse; nothing here needs more than 7.0.
sed -i -e 's/^\.version .*/.version 7.0/' -e 's/[ \t]*$//' -e '${/^$/d}' "$output"
