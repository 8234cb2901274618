#!/usr/bin/env bash
# scripts/build_progress.sh: one line per 10% if stderr is no terminal, a forecast as soon as one is possible, compiler
# messages passed on, ninja's exit code kept, nothing on stdout.
# Usage: build_progress_test.sh SOURCE_ROOT
set -euo pipefail

progress=$1/scripts/build_progress.sh
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() {
  echo "FAILED: $*"
  cat "$place/said"
  exit 1
}

# A substitute for ninja that runs 50 steps and fails on request.
cat >"$place/ninja" <<'FAKE'
#!/bin/sh
echo "ninja: Entering directory \`somewhere'"
for i in $(seq 50); do
  echo "@$i/50@ Building CXX object file$i.o"
  [ "$i" != 25 ] || { echo 'file25.cpp:3: error: a mistake' && sleep 1; }
done
exit "${NINJA_EXIT:-0}"
FAKE
chmod +x "$place/ninja"
export PATH=$place:$PATH

[[ -z $("$progress" hone -C x hone 2>"$place/said") ]] || fail "something went to stdout"
[[ $(grep -c '^hone: building, [0-9]*0% of 50 steps' "$place/said") == 10 ]] || fail "not one line each 10%"
grep -q '^hone: building, 80% of 50 steps, about [0-9]* s left$' "$place/said" || fail "no forecast"
grep -qx 'file25.cpp:3: error: a mistake' "$place/said" || fail "a compiler's words are lost"
if grep -q 'Building CXX\|Entering' "$place/said"; then fail "ninja's own lines are shown"; fi

code=0
NINJA_EXIT=3 "$progress" hone 2>"$place/said" || code=$?
((code == 3)) || fail "exit code $code instead of 3"

# On a terminal: one line, redrawn.
if command -v script >/dev/null; then
  script -qec "'$progress' hone" /dev/null >"$place/said" </dev/null
  grep -q $'\rhone: building, 30 of 50 (60%' "$place/said" || fail "no line for a terminal"
fi
