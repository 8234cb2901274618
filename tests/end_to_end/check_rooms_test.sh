#!/usr/bin/env bash
# check_rooms.py accepts this tree and detects violations. Usage: check_rooms_test.sh SOURCE_ROOT
set -euo pipefail

check=$1/tests/check_rooms.py
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/src/early/inner" "$tree/src/late"
printf 'hone_room(early)\n# hone_room(commented)\nhone_room(late DEPENDS early)\n' >"$tree/src/CMakeLists.txt"
echo '#include "early/a.h"' >"$tree/src/late/b.h"
printf '#include <vector>\n#include "early/a.h"\n#include "elsewhere/x.h"\n' >"$tree/src/early/inner/a.cpp"

expect() {
  local said
  if said=$(python3 "$check" "$tree") || ! grep -qF "$1" <<<"$said"; then
    printf 'FAILED: expected a violation with "%s", got:\n%s\n' "$1" "$said"
    exit 1
  fi
}

python3 "$check" "$1"
python3 "$check" "$tree"

echo '  #  include "late/b.h"' >"$tree/src/early/inner/c.h"
expect 'early/inner/c.h:1: room early includes "late/b.h" of the later room late'
rm "$tree/src/early/inner/c.h"

echo '#include "../early/a.h"' >"$tree/src/late/d.cpp"
expect 'late/d.cpp:1: "../early/a.h" should be named from src/'
rm "$tree/src/late/d.cpp"

mkdir "$tree/src/commented"
touch "$tree/src/commented/e.cpp"
expect 'commented: has sources but no hone_room line'
