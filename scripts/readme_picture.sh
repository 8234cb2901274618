#!/usr/bin/env bash
# Makes the README's picture: the head of a run's report in a browser, with real figures.
#
#   scripts/readme_picture.sh [RUN] [FILE]     default: the last run, docs/images/run.png
#
# Needs Chromium (scripts/setup.sh test). HONE says which program to ask, else ./hone.
set -euo pipefail

root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
run=${1:-last}
file=${2:-$root/docs/images/run.png}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

"${HONE:-$root/hone}" report "$run" --html "$place/run.html"
mkdir -p -- "$(dirname -- "$file")"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$place/profile" \
  --window-size=1000,1040 --screenshot="$place/run.png" "file://$place/run.html" 2>/dev/null
mv -- "$place/run.png" "$file"
printf '%s\n' "$file"
