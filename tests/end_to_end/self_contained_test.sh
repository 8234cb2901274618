#!/usr/bin/env bash
# The binary can be copied alone to another machine: it needs only the C and C++ runtimes, and works with an
# empty environment. Usage: self_contained_test.sh BINARY
set -euo pipefail

binary=$1
allowed='^(linux-vdso|linux-gate|ld-linux[a-z0-9-]*|libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|librt)\.so'
needed=$(ldd "$binary" | awk '{ name = $1; sub(/.*\//, "", name); print name }')
extra=$(grep -Ev "$allowed" <<<"$needed" || true)
if [[ -n $extra ]]; then
  printf 'needs more than the C and C++ runtimes:\n%s\n' "$extra"
  exit 1
fi

alone=$(mktemp -d)
trap 'rm -rf "$alone"' EXIT
cp "$binary" "$alone/hone"
cd "$alone"
env -i ./hone --version
