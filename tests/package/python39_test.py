"""The package in Python 3.9, the oldest version that it supports. Debian 11's interpreter has no torch, so modules that need torch are imported
with a fake one: every definition of the package runs, its calls into torch do not. All else runs for real, with the program.

The interpreter is the one that `scripts/setup.sh package` unpacks, or $HONE_PYTHON39; without it the test is skipped.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# hone.mcp needs the package mcp, which needs Python 3.10.
EVERY = sorted(str(path.relative_to(ROOT / "python").with_suffix("")).replace("/", ".") for path in (ROOT / "python" / "hone").rglob("*.py")
               if "mcp" not in path.parts and path.stem not in ("__main__", "__init__"))

MADE_UP = """
import importlib, sys, types

class Anything(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = self.__name__ + "." + name
        made = Anything(full) if name.islower() and name not in ("dtype", "device", "layout", "memory_format") else type(name, (), {})
        setattr(self, name, made)
        sys.modules[full] = made
        return made
    def __call__(self, *args, **kwargs):
        return args[0] if args and callable(args[0]) else self
    def __or__(self, other):
        raise TypeError("a union of types in an expression needs Python 3.10")

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ("torch", "verifiers", "datasets"):
            return None
        return importlib.util.spec_from_loader(name, self)
    def create_module(self, spec):
        made = Anything(spec.name)
        made.__path__ = []
        return made
    def exec_module(self, module):
        pass

import importlib.util
sys.meta_path.insert(0, Finder())
for name in sys.argv[1:]:
    importlib.import_module(name)
print(len(sys.argv) - 1)
"""

USE = """
import json, sys
assert sys.version_info[:2] == (3, 9), sys.version
import hone
finding, = hone.lint("def f(:\\n")
assert finding.rule == "syntax" and finding.line == 1, finding
assert hone.runs() == [], hone.runs()
from hone import _run
assert _run.seconds_of("5m") == 300
try:
    hone.explain("R999")
except hone.HoneError as error:
    assert "R999" in str(error), error
else:
    raise AssertionError("a run that is not there")
try:
    hone.judge("no/such/task.py", "class ModelNew: pass")
except hone.HoneError as error:
    assert str(error), error
else:
    raise AssertionError("a task that is not there")
from hone.rewards import Client, JudgeUnavailable, Shaping, reward
done = {"state": "done", "result": {"stage": "faster", "has_code": True, "builds": True, "runs": True, "correct": True, "verdict": "accepted", "reason": "faster",
                                    "vs_best": 2.0, "ci95": [1.9, 2.1], "cheat": False, "trials_right": 1.0}}
assert 1.4 < reward(done, Shaping()) < 1.6, reward(done, Shaping())
from hone.rewards import verl
assert callable(verl.compute_score)
print("all of it")
"""


class Python39(unittest.TestCase):
    program = interpreter = ""

    def run_in_it(self, code: str, *arguments: str) -> str:
        with tempfile.TemporaryDirectory() as data:
            env = {"PATH": os.environ["PATH"], "HOME": data, "PYTHONPATH": str(ROOT / "python"), "HONE_BINARY": self.program, "HONE_DATA": data, "HONE_CACHE": data}
            done = subprocess.run([self.interpreter, "-B", "-c", code, *arguments], capture_output=True, text=True, env=env, cwd=data, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout

    def test_every_file_is_imported(self) -> None:
        self.assertEqual(self.run_in_it(MADE_UP, *EVERY).strip(), str(len(EVERY)))
        self.assertGreater(len(EVERY), 25)

    def test_the_program_is_used_from_it(self) -> None:
        self.assertIn("all of it", self.run_in_it(USE))

    def test_it_sees_what_newer_versions_brought(self) -> None:
        """The fake torch must not hide an expression that 3.9 lacks."""
        with self.assertRaises(AssertionError):
            self.run_in_it("import torch\nx = int | None\n")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    args, rest = parser.parse_known_args()
    data = pathlib.Path(sys.executable).parent.parent.parent  # next to the environment that runs this file
    found = [path for path in (os.environ.get("HONE_PYTHON39", ""), str(data / "python39" / "python3.9")) if path and os.access(path, os.X_OK)]
    if not found:
        print("skipped: there is no Python 3.9 (scripts/setup.sh package, or HONE_PYTHON39)")
        return 77
    Python39.program, Python39.interpreter = os.path.realpath(args.hone), found[0]
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
