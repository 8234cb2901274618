#!/usr/bin/env bash
# scripts/setup.sh does nothing, quickly, if nothing is missing, and leaves an interpreter with torch alone.
# Usage: setup_test.sh SOURCE_ROOT (exit 77: packages are missing here, so this cannot be tested)
set -euo pipefail

setup=$1/scripts/setup.sh
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export HONE_DATA=$place/data
unset VIRTUAL_ENV

# Substitutes for apt. If they are called, something is missing.
mkdir "$place/bin"
printf '#!/bin/sh\necho "apt-get was asked: $*"\nexit 1\n' | tee "$place/bin/apt-get" "$place/bin/sudo" >/dev/null
# An interpreter that answers yes to every question.
printf '#!/bin/sh\nexit 0\n' >"$place/bin/python3"
chmod +x "$place/bin/"*
export PATH=$place/bin:$PATH

"$setup" || exit 77
# Processor time does not depend on other load.
TIMEFORMAT='%3U %3S'
ms=$({ time "$setup" >/dev/null; } 2>&1 | awk '{ printf "%d", 1000 * ($1 + $2) }')
echo "nothing to do: $ms ms of processor time"
((ms < 1000)) || exit 1
[[ ! -e $HONE_DATA ]] || exit 1

# The user's choice is kept, with a remark.
printf '#!/bin/sh\nexit 1\n' >"$place/bin/bare"
chmod +x "$place/bin/bare"
HONE_PYTHON=$place/bin/bare "$setup" python | grep -q 'has no torch'
[[ ! -e $HONE_DATA ]] || exit 1

if "$setup" nonsense 2>/dev/null; then exit 1; fi
