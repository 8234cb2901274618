#!/usr/bin/env bash
# Checks that the committed PTX is nvcc's output for src/evaluation/kernels. Usage: ptx_test.sh SOURCE_DIR. Skipped
# without nvcc. Another release of nvcc generates other code for the same source. Then this only checks that the
# source compiles and that the assembler, if there is one, accepts the committed text.
set -euo pipefail

kernels=$1/src/evaluation/kernels
nvcc=${NVCC:-$(command -v nvcc || true)}
if [[ -z $nvcc ]]; then
  echo "skipped: no nvcc"
  exit 77
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
NVCC=$nvcc "$kernels/build_ptx.sh" "$made/compare.ptx"
code() { grep -v '^//' "$1" | grep -v '^\.version'; }
release() { grep -o 'release [0-9.]*, V[0-9.]*' "$1"; }
if [[ $(release "$made/compare.ptx") == "$(release "$kernels/compare.ptx")" ]]; then
  if ! diff <(code "$kernels/compare.ptx") <(code "$made/compare.ptx") >"$made/difference"; then
    echo "compare.ptx is not what nvcc makes of its sources; run $kernels/build_ptx.sh $kernels/compare.ptx"
    head -20 "$made/difference"
    exit 1
  fi
else
  echo "another nvcc ($(release "$made/compare.ptx")) than that of the committed file: not compared"
fi
ptxas=${nvcc%nvcc}ptxas
for chip in sm_75 sm_90a; do
  if [[ -x $ptxas ]]; then "$ptxas" -arch="$chip" -o "$made/$chip.cubin" "$kernels/compare.ptx"; fi
done
