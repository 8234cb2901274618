#!/usr/bin/env bash
# Runs a ninja build and reports its progress and the remaining time. On a terminal it redraws one line; elsewhere
# it prints one line per 10%. Compiler messages are passed on. All output goes to stderr.
#
#   scripts/build_progress.sh NAME -C FOLDER NINJA-ARGUMENTS...      NAME begins every line: "hone", "test"
set -euo pipefail

name=$1
shift

remaining() { # SECONDS, in words
  if (($1 < 90)); then printf '%d s' "$1"; else printf '%d min' $((($1 + 30) / 60)); fi
}

# A C++ object counts as ten other steps (measured: 6.5 s and 0.6 s on average).
follow() { # NUMBER of C++ objects in the whole build
  local line began=$SECONDS told=0 finished total percent left rewriting=0 objects=$1 made=0 ahead weight
  [[ -t 2 ]] && rewriting=1
  while IFS= read -r line; do
    if [[ $line =~ ^@([0-9]+)/([0-9]+)@ ]]; then
      finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
      percent=$((100 * finished / total))
      weight=1
      [[ $line != *"Building CXX object"* ]] || weight=10 objects=$((objects - 1))
      made=$((made + weight))
      ahead=$((total - finished))
      ahead=$((ahead + 9 * (objects < ahead ? objects : ahead)))
      # Early steps predict the rest poorly, so there is no forecast before a fifth of the work is done.
      left=''
      ((4 * made < ahead)) || left=", about $(remaining $(((SECONDS - began) * ahead / made))) left"
      if ((rewriting)); then
        printf '\r%s: building, %d of %d (%d%%%s)\e[K' "$name" "$finished" "$total" "$percent" "$left" >&2
      elif ((percent / 10 > told)); then
        told=$((percent / 10))
        printf '%s: building, %d%% of %d steps%s\n' "$name" $((told * 10)) "$total" "$left" >&2
      fi
    elif [[ $line != "ninja: no work to do." && $line != "ninja: Entering directory"* ]]; then
      ((rewriting == 0)) || printf '\r\e[K' >&2
      printf '%s\n' "$line" >&2
    fi
  done
  ((rewriting == 0)) || printf '\r\e[K' >&2
}

# Ninja writes a line for every step when its output is a pipe.
export NINJA_STATUS='@%f/%t@ '
objects=$(ninja "${@:1:2}" -t commands "${@:3}" 2>/dev/null | grep -c '\.o -c .*\.c[px][px]$' || true)
ninja "$@" 2>&1 | follow "$objects"
