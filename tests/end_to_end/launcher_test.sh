#!/usr/bin/env bash
# ./hone in a scratch tree with a fake binary and fake build tools: it takes under 100 ms of processor time if there is nothing
# to do, builds if anything changed that the program is made of, keeps stdout clean, and two at once build only once.
# Usage: launcher_test.sh SOURCE_ROOT BUILD_FOLDER
set -euo pipefail

source_root=$1
build_folder=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fail() {
  echo "FAILED: $*"
  exit 1
}

# The source files that ninja reads to make the program, and those that CMake reads to configure its build. bench/ and tests/ are
# configured in the same folder here, but the program has nothing of them.
{
  ninja -C "$build_folder" -t inputs hone
  ninja -C "$build_folder" -t query build.ninja
} | sed 's/^[ |]*//' | sed -n "s|^$source_root/||p" | grep -v '^\(build\|bench\|tests\)/' | sort -u >"$tree/inputs"
grep -q '^src/.*\.cpp$' "$tree/inputs" || fail "ninja names no sources of the program"

# Uses the real source folders, so that scanning them takes the real time.
for name in $(cut -d/ -f1 "$tree/inputs" | sort -u) scripts; do
  cp -r "$source_root/$name" "$tree/"
done
cp "$source_root/hone" "$source_root/CMakePresets.json" "$tree/"
mkdir -p "$tree/tools" "$tree/elsewhere"
cat >"$tree/scripts/setup.sh" <<'FAKE'
#!/bin/sh
echo "set-up of $1"
FAKE
cat >"$tree/tools/cmake" <<'FAKE'
#!/bin/sh
mkdir -p build/release && touch build/release/build.ninja
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" >build/release/CMakeCache.txt
FAKE
cat >"$tree/tools/ninja" <<'FAKE'
#!/bin/sh
case " $* " in *' -t '*) exit 0 ;; esac # asked about the build, not for one
echo built >>"$2/../builds"
sleep "${BUILD_S:-0.3}"
[ ! -e "$2/../broken" ] || exit 1
printf '#!/bin/sh\necho "args:$*"\n' >"$2/hone"
chmod +x "$2/hone"
FAKE
chmod +x "$tree/tools/"* "$tree/scripts/setup.sh"
export PATH=$tree/tools:$PATH
unset HONE_NO_BUILD
ln -s "$tree/hone" "$tree/elsewhere/hone"
builds() { wc -l <"$tree/build/builds"; }

if HONE_NO_BUILD=1 "$tree/hone" 2>/dev/null; then fail "ran without a binary"; fi
[[ $("$tree/elsewhere/hone" 'a b' 2>"$tree/said") == 'args:a b' ]] || fail "stdout is not the command's own"
grep -q 'set-up of build' "$tree/said" || fail "no set-up before the first build"
[[ $(builds) == 1 ]] || fail "the first call builds once"

# Processor time does not depend on other load.
best_ms=1000000
TIMEFORMAT='%3U %3S'
for _ in 1 2 3 4 5 6 7 8 9 10; do
  used=$({ time "$tree/hone" >/dev/null; } 2>&1)
  ms=$(awk '{ printf "%d", 1000 * ($1 + $2) }' <<<"$used")
  ((ms >= best_ms)) || best_ms=$ms
done
[[ $(builds) == 1 ]] || fail "built again with nothing to do"
echo "overhead: $best_ms ms of processor time"
((best_ms < 100)) || fail "used $best_ms ms of processor time with nothing to do"

# One input of each folder; a folder within a folder stands for those below it.
last_folder=
expected=1
while read -r input; do
  folder=$(dirname "$input" | cut -d/ -f1,2)
  [[ $folder != "$last_folder" ]] || continue
  last_folder=$folder
  touch "$tree/$input"
  BUILD_S=0 "$tree/hone" >/dev/null 2>&1
  expected=$((expected + 1))
  [[ $(builds) == "$expected" ]] || fail "$input is part of the program, but an edit of it did not build"
done <"$tree/inputs"
((expected > 10)) || fail "only $((expected - 1)) folders were tried"
echo one >"$tree/build/builds"

touch "$tree/src/changed.cpp"
"$tree/hone" >"$tree/one" 2>/dev/null &
"$tree/hone" >"$tree/two" 2>/dev/null &
wait
[[ $(cat "$tree/one" "$tree/two") == $'args:\nargs:' ]] || fail "two at once did not both run"
[[ $(builds) == 2 ]] || fail "two at once built $(($(builds) - 1)) times"

rm "$tree/src/changed.cpp"
touch "$tree/build/broken"
code=0
"$tree/hone" >"$tree/one" 2>/dev/null || code=$?
[[ $code == 3 && ! -s $tree/one ]] || fail "a broken build must exit 3 and run nothing"
[[ $(HONE_NO_BUILD=1 "$tree/hone" x) == 'args:x' ]] || fail "HONE_NO_BUILD=1 must run what is there"
rm "$tree/build/broken"
[[ $("$tree/hone" 2>/dev/null) == 'args:' ]] || fail "did not recover from a broken build"
