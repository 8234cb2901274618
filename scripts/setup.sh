#!/usr/bin/env bash
# Installs what Hone needs on this machine: Debian packages to build and test it, and a Python with torch if the user has none. It can be
# run again at any time (well under a second if nothing is missing) and interrupted safely: Hone's own Python is built under a temporary
# name and renamed when complete.
#
#   scripts/setup.sh            what a build needs, then a Python with torch
#   scripts/setup.sh build      only what a build needs
#   scripts/setup.sh test       what a build and the tests need
#   scripts/setup.sh python     only a Python with torch
#   scripts/setup.sh package    a Python for the tests of the Python package, beside the one with torch, and a Python 3.9
set -euo pipefail

root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
usual_data=${XDG_DATA_HOME:-${HOME:?HOME is not set}/.local/share}/hone
data=${HONE_DATA:-$usual_data}

build_packages=(g++ cmake ninja-build libcli11-dev nlohmann-json3-dev libfmt-dev libsqlite3-dev libseccomp-dev
  libmd-dev libtree-sitter-dev libtomlplusplus-dev libboost-dev libssl-dev libarchive-dev zlib1g-dev bubblewrap python3 python3-venv python3-dev)
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev clang clang-format clang-tidy shellcheck openssl
  chromium chromium-driver)

torch_spec=(torch==2.11.0 numpy)
# For tests of the Python package: the wheel builder, and the libraries of its extras.
package_spec=(scikit-build-core==1.1.1 mcp==2.3.0 "ray[default]==2.60.0" ipython==9.18.1 ipykernel==7.4.0)
uv_spec=uv==0.13.7

say() { printf 'setup: %s\n' "$*"; }
fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

missing_packages() {
  local package installed
  installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
  for package in "$@"; do
    [[ $installed == *" installed=$package "* ]] || printf '%s\n' "$package"
  done
}

need_packages() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    command -v g++ >/dev/null && command -v cmake >/dev/null && command -v ninja >/dev/null && return
    fail "this is not Debian or Ubuntu; install what these packages hold and run again: $*"
  fi
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }; then
      as_root=(sudo)
    else
      fail "these packages are missing and only root can install them: apt-get install ${missing[*]}"
    fi
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}"
}

# Checks as Hone does (src/process/python.cpp): isolated first, then with what isolation hides.
has_torch() {
  "$1" -I -c '
import importlib.util, os, site, sys
hidden = os.environ.get("PYTHONPATH", "").split(os.pathsep) + [site.getusersitepackages()]
sys.path += [path for path in hidden if path]
spec = importlib.util.find_spec("torch")
sys.exit(sys.version_info < (3, 8) or spec is None or spec.origin is None)' >/dev/null 2>&1
}

# An NVIDIA device that programs of this machine can open; /dev/dxg is WSL's.
has_gpu() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]]; }

# Hone looks for its Python in HONE_DATA and in the usual data folder. A CPU build is up to date as long as there is no GPU.
own_python_is_current() {
  local folder made
  for folder in "$data" "$usual_data"; do
    [[ -x $folder/python/bin/python3 ]] || continue
    made=$(cat "$folder/python/hone-made" 2>/dev/null)
    [[ $made != "${torch_spec[*]}" ]] || return 0
    [[ $made != "${torch_spec[*]} (CPU)" ]] || has_gpu || return 0
  done
  return 1
}

# The interpreter that need_python found or installed: the user's choice, Hone's own, or one of the machine with torch.
python_in_use() {
  local interpreter
  for interpreter in ${HONE_PYTHON:+"$HONE_PYTHON"} "$data/python/bin/python3" "$usual_data/python/bin/python3" ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python3"} python3; do
    if command -v "$interpreter" >/dev/null && has_torch "$interpreter"; then
      command -v "$interpreter"
      return
    fi
  done
  return 1
}

need_python() {
  if [[ -n ${HONE_PYTHON:-} ]]; then
    has_torch "$HONE_PYTHON" || say "HONE_PYTHON=$HONE_PYTHON has no torch; Hone will not run candidates with it"
    return 0
  fi
  own_python_is_current && return
  local interpreter
  for interpreter in ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin/python3"} python3; do
    if command -v "$interpreter" >/dev/null && has_torch "$interpreter"; then
      say "using the torch of $(command -v "$interpreter")"
      return
    fi
  done
  mkdir -p "$data"
  exec 8>"$data/.setup.lock"
  flock -n 8 || { say "waiting for another set-up to finish" && flock 8; }
  own_python_is_current || make_python
  exec 8>&-
}

# A base interpreter that can create environments; the system's is preferred, because it stays in place.
base_python() {
  local interpreter
  for interpreter in /usr/bin/python3 python3; do
    if "$interpreter" -c 'import ensurepip, venv' >/dev/null 2>&1; then
      printf '%s\n' "$interpreter"
      return
    fi
  done
  return 1
}

# uv_install ENV CACHE ARGUMENTS...: uv takes seconds where pip takes minutes. Its cache is beside the environment, so that files are
# linked rather than copied, and is deleted with the temporary folder.
uv_install() {
  local env=$1 cache=$2
  shift 2
  UV_CACHE_DIR=$cache UV_HTTP_TIMEOUT=${UV_HTTP_TIMEOUT:-180} \
    "$env/bin/uv" pip install -q --compile-bytecode --python "$env/bin/python3" "$@"
}

# PyPI has one build of torch for Linux on x86-64, which needs 3 GB of NVIDIA's libraries. Without a GPU, uv first tries PyTorch's own
# index of CPU builds. If that cannot be reached, PyPI's build works on a CPU too.
install_torch() {
  local env=$1 cache=$2
  if "$env/bin/python3" -m pip install -q --disable-pip-version-check --no-cache-dir "$uv_spec"; then
    if ! has_gpu; then
      say "no NVIDIA device here: asking for the CPU build of torch"
      if UV_HTTP_RETRIES=0 uv_install "$env" "$cache" --torch-backend cpu "${torch_spec[@]}" 2>"$env/cpu-build.log"; then
        built_for_cpu=1
        return
      fi
      say "no CPU build from PyTorch's own index ($(sed 's/^[^[:alnum:]]*//' "$env/cpu-build.log" | awk 'NF' | tail -n 1 | cut -c 1-160))"
      say "PyPI has no CPU build for this platform: installing its CUDA build (about 5 GB)"
    fi
    uv_install "$env" "$cache" "${torch_spec[@]}" && return
  fi
  say "uv could not install torch; trying pip, which takes some minutes"
  "$env/bin/python3" -m pip install -q --no-cache-dir "${torch_spec[@]}" && return
  say "the pinned version of torch is not available for this Python; installing the newest one that is"
  "$env/bin/python3" -m pip install -q --no-cache-dir torch numpy
}

make_python() {
  local base temporary began=$SECONDS built_for_cpu=0
  base=$(base_python) || fail "no python3 that can make environments; install python3-venv and run again"
  rm -rf "$data"/.setup-python.*
  temporary=$(mktemp -d "$data/.setup-python.XXXXXX")
  # shellcheck disable=SC2064  # the folder of this call
  trap "rm -rf '$temporary'" EXIT
  trap 'exit 130' INT TERM HUP
  say "making Hone's own Python with ${torch_spec[*]} in $data/python"
  "$base" -m venv "$temporary/python"
  install_torch "$temporary/python" "$temporary/cache" ||
    fail "torch could not be installed; give Hone another interpreter with HONE_PYTHON or --python"
  "$temporary/python/bin/python3" -I -c 'import torch; torch.ones(2) @ torch.ones(2)' ||
    fail "the installed torch does not work on this machine"
  # Scripts contain the folder that they were installed into.
  { grep -rlIF "$temporary/python" "$temporary/python/bin" "$temporary/python/pyvenv.cfg" || true; } |
    xargs -r sed -i "s|$temporary/python|$data/python|g"
  printf '%s\n' "${torch_spec[*]}$( ((built_for_cpu == 0)) || printf ' (CPU)')" >"$temporary/python/hone-made"
  [[ ! -e $data/python ]] || mv "$data/python" "$temporary/old"
  mv "$temporary/python" "$data/python"
  rm -rf "$temporary"
  say "made $data/python in $((SECONDS - began)) s ($(du -sh "$data/python" | cut -f1))"
}

# An interpreter of the same version that uses torch from Hone's own Python and has package_spec in a separate folder.
need_package_python() {
  local env=$data/package-python temporary torch_folder
  local interpreter
  [[ $(cat "$env/hone-made" 2>/dev/null) != "${package_spec[*]}" ]] || return 0
  interpreter=$(python_in_use) || fail "no Python with torch; run scripts/setup.sh python first"
  torch_folder=$("$interpreter" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))') ||
    fail "$interpreter has no torch; run scripts/setup.sh python first"
  exec 8>"$data/.setup.lock"
  flock 8
  if [[ $(cat "$env/hone-made" 2>/dev/null) != "${package_spec[*]}" ]]; then
    say "making a Python with ${package_spec[*]} in $env"
    rm -rf "$data"/.setup-package.*
    temporary=$(mktemp -d "$data/.setup-package.XXXXXX")
    # shellcheck disable=SC2064  # the folder of this call
    trap "rm -rf '$temporary'" EXIT
    trap 'exit 130' INT TERM HUP
    # Environments cannot be moved, so it is created in place and named in hone-made when complete. A working one is updated.
    if ! "$env/bin/python3" -c '' 2>/dev/null || [[ ! -x $env/bin/uv ]]; then
      rm -rf "$env"
      "$interpreter" -m venv "$env"
      "$env/bin/python3" -m pip install -q --disable-pip-version-check --no-cache-dir "$uv_spec"
    fi
    printf '%s\n' "$torch_folder" >"$("$env/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/hone-torch.pth"
    uv_install "$env" "$temporary/cache" "${package_spec[@]}"
    rm -rf "$temporary"
    printf '%s\n' "${package_spec[*]}" >"$env/hone-made"
  fi
  exec 8>&-
}

# The oldest Python that the package supports, from Debian 11, unpacked and not installed, because Debian 12 has none. Only one test
# needs it.
need_python39() {
  local place=$data/python39 root temporary site
  local packages=(python3.9-minimal libpython3.9-minimal libpython3.9-stdlib libffi7 libssl1.1)
  [[ ! -x $place/python3.9 ]] || return 0
  [[ $(uname -m) == x86_64 ]] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
  # Downloads from the mirror that this machine uses for its own release.
  # shellcheck disable=SC2016  # a variable of apt
  site=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 '/debian/*$') || return 0
  say "unpacking Debian 11's Python 3.9 in $place"
  temporary=$(mktemp -d "$data/.setup-python39.XXXXXX")
  root=$temporary/made
  mkdir -p "$temporary"/{lists/partial,cache/archives/partial} "$root"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site bullseye main" >"$temporary/sources.list"
  local apt=(apt-get -q -o "Dir::Etc::sourcelist=$temporary/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$temporary/lists"
    -o "Dir::Cache=$temporary/cache" -o APT::Sandbox::User=root)
  if (cd "$temporary" && "${apt[@]}" update && "${apt[@]}" download "${packages[@]}" &&
    for package in ./*.deb; do dpkg-deb -x "$package" "$root" || exit 1; done) >"$temporary/log" 2>&1; then
    # shellcheck disable=SC2016  # for the script that is written here
    printf '#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\nexec env LD_LIBRARY_PATH="$here/usr/lib/x86_64-linux-gnu" "$here/usr/bin/python3.9" "$@"\n' >"$root/python3.9"
    chmod +x "$root/python3.9"
    rm -rf "$place"
    mv "$root" "$place"
  else
    say "no Python 3.9 ($(tail -n 1 "$temporary/log" | cut -c 1-160)); its test is skipped"
  fi
  rm -rf "$temporary"
}

need_grammars() {
  [[ ! -x $root/scripts/fetch_grammars.sh ]] || "$root/scripts/fetch_grammars.sh"
}

case ${1:-all} in
  all)
    need_packages "${build_packages[@]}"
    need_grammars
    need_python
    ;;
  build)
    need_packages "${build_packages[@]}"
    need_grammars
    ;;
  test)
    need_packages "${build_packages[@]}" "${test_packages[@]}"
    need_grammars
    ;;
  python) need_python ;;
  package)
    need_package_python
    need_python39
    ;;
  -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" ;;
  *) fail "unknown request '$1'; see scripts/setup.sh --help" ;;
esac
