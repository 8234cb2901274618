#!/usr/bin/env bash
# scripts/build_progress.sh: one line per 10% if stderr is no terminal, a forecast when a fifth of the work is done and not
# before, compiler messages passed on, ninja's exit code kept, nothing on stdout.
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

# A substitute for ninja that runs 50 steps, of which the first CHEAP ones are no C++ objects. It takes time at step 25 alone, and
# fails on request.
cat >"$place/ninja" <<'FAKE'
#!/bin/sh
echo "ninja: Entering directory \`somewhere'"
for i in $(seq 50); do
  what='Building CXX object'
  [ "$i" -gt "${CHEAP:-0}" ] || what=Generating
  case "$*:$what" in
    *-t\ commands*:Building*) echo "c++ -o file$i.o -c file$i.cpp" && continue ;;
    *-t\ commands*) echo "ar file$i.o" && continue ;;
  esac
  echo "@$i/50@ $what file$i.o"
  [ "$i" != 25 ] || { echo 'file25.cpp:3: error: a mistake' && sleep 2; }
done
exit "${NINJA_EXIT:-0}"
FAKE
chmod +x "$place/ninja"
export PATH=$place:$PATH

[[ -z $("$progress" hone -C x hone 2>"$place/said") ]] || fail "something went to stdout"
[[ $(grep -c '^hone: building, [0-9]*0% of 50 steps' "$place/said") == 10 ]] || fail "not one line each 10%"
grep -q '^hone: building, 10% of 50 steps$' "$place/said" || fail "a forecast from a tenth of the work"
grep -q '^hone: building, 20% of 50 steps, about 0 s left$' "$place/said" || fail "no forecast at 20%"
grep -q '^hone: building, 80% of 50 steps, about [01] s left$' "$place/said" || fail "no forecast"
grep -qx 'file25.cpp:3: error: a mistake' "$place/said" || fail "a compiler's words are lost"
if grep -q 'Building CXX\|Entering' "$place/said"; then fail "ninja's own lines are shown"; fi

# After 30 of 50 steps, 30 of 230 parts of the work are done; after 40 it is 130, and the rest takes 100/130 of 2 s.
CHEAP=30 "$progress" hone -C x hone 2>"$place/said"
grep -q '^hone: building, 60% of 50 steps$' "$place/said" || fail "a forecast from cheap steps"
grep -q '^hone: building, 80% of 50 steps, about [12] s left$' "$place/said" || fail "no forecast after cheap steps"

code=0
NINJA_EXIT=3 "$progress" hone -C x hone 2>"$place/said" || code=$?
((code == 3)) || fail "exit code $code instead of 3"

# On a terminal: one line, redrawn.
if command -v script >/dev/null; then
  script -qec "'$progress' hone -C x hone" /dev/null >"$place/said" </dev/null
  grep -q $'\rhone: building, 30 of 50 (60%' "$place/said" || fail "no line for a terminal"
fi
