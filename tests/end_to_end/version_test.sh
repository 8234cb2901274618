#!/usr/bin/env bash
# The program, CMakeLists.txt and the Python package have one version. pyproject.toml takes the package's own (python/hone/_version.py).
# Usage: version_test.sh ROOT BINARY
set -euo pipefail

root=$1 binary=$2
program=$("$binary" --version | awk '{ print $2 }')
cmake=$(sed -n 's/^project(hone VERSION \([^ ]*\) .*/\1/p' "$root/CMakeLists.txt")
package=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/python/hone/_version.py")
if [[ -z $package || $package != "$program" || $package != "$cmake" ]]; then
  printf 'the versions differ: CMakeLists.txt %s, hone --version %s, python/hone/_version.py %s\n' "$cmake" "$program" "$package"
  exit 1
fi
if ! grep -q '^input = "python/hone/_version.py"$' "$root/pyproject.toml"; then
  echo 'pyproject.toml does not take its version from python/hone/_version.py'
  exit 1
fi
