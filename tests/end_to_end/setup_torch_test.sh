#!/usr/bin/env bash
# Tests which build of torch scripts/setup.sh installs: the CPU build without an NVIDIA device, PyPI's build with one or if the CPU build is
# unavailable. pip is real and gets a wheel of a fake uv, which logs its requests and installs a torch of three lines.
# Usage: setup_torch_test.sh SOURCE_ROOT
set -euo pipefail

setup=$1/scripts/setup.sh
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset VIRTUAL_ENV HONE_PYTHON PYTHONPATH
export HOME=$place/home PIP_NO_INDEX=1 PIP_FIND_LINKS=$place/wheels PIP_CONFIG_FILE=/dev/null
unset XDG_DATA_HOME
mkdir -p "$HOME" "$place/wheels" "$place/bin"

# No interpreter on PATH has torch. (Environments are made with /usr/bin/python3.)
printf '#!/bin/sh\nexit 1\n' >"$place/bin/python3"
chmod +x "$place/bin/python3"

/usr/bin/python3 - "$setup" "$place/wheels" <<'WHEEL'
import re, sys, zipfile

version = re.search(r"^uv_spec=uv==(\S+)$", open(sys.argv[1]).read(), re.M)[1]
code = '''import os, pathlib, sys


def main():
    with open(os.environ["ASKED"], "a") as asked:
        print(*sys.argv[1:], file=asked)
    if "cpu" in sys.argv and os.environ["CPU_BUILD"] != "there":
        sys.exit("error: the index of CPU builds does not answer")
    python = pathlib.Path(sys.argv[sys.argv.index("--python") + 1])
    (folder,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    (folder / "torch").mkdir()
    (folder / "torch" / "__init__.py").write_text("class ones:\\n    def __init__(self, n): pass\\n    def __matmul__(self, other): return 2\\n")
'''
info = "uv-%s.dist-info/" % version
files = {
    "uv_stand_in.py": code,
    info + "METADATA": "Metadata-Version: 2.1\nName: uv\nVersion: %s\n" % version,
    info + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    info + "entry_points.txt": "[console_scripts]\nuv = uv_stand_in:main\n",
}
with zipfile.ZipFile("%s/uv-%s-py3-none-any.whl" % (sys.argv[2], version), "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
    wheel.writestr(info + "RECORD", "".join("%s,,\n" % name for name in [*files, info + "RECORD"]))
WHEEL

has_gpu() { compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/dxg ]]; }
check() {
  "$@" || {
    echo "FAILED: $*"
    cat "$place/log" "$ASKED"
    exit 1
  }
}
# set_up CASE: the first set-up of a user without torch.
set_up() {
  export HONE_DATA=$place/data-$1 ASKED=$place/asked-$1
  : >"$ASKED"
  PATH=$place/bin:$PATH "$setup" python >"$place/log" 2>&1 || { cat "$place/log" && exit 1; }
  check test -x "$HONE_DATA/python/bin/python3"
}

CPU_BUILD=there set_up with_cpu_build
if has_gpu; then
  check test "$(grep -c -- '--torch-backend cpu' "$ASKED")" = 0
  exit 0
fi
check grep -q 'asking for the CPU build' "$place/log"
check grep -q -- '--torch-backend cpu' "$ASKED"
check test "$(wc -l <"$ASKED")" = 1
check grep -q '(CPU)' "$HONE_DATA/python/hone-made"
# The second time there is nothing to do.
PATH=$place/bin:$PATH "$setup" python >"$place/log" 2>&1
check test ! -s "$place/log"
check test "$(wc -l <"$ASKED")" = 1

CPU_BUILD=missing set_up without_cpu_build
check grep -q 'the index of CPU builds does not answer' "$place/log"
check grep -q 'installing its CUDA build' "$place/log"
check test "$(grep -vc -- '--torch-backend cpu' "$ASKED")" = 1
check test "$(grep -c '(CPU)' "$HONE_DATA/python/hone-made")" = 0
