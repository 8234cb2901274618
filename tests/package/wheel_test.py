"""The wheel: `pip wheel .` makes one file that contains the program. Installed without a network into an empty environment, everything works.

The program is the one under test (HONE_PREBUILT), so that nothing is compiled. The environment finds torch through a .pth file.
"""

from __future__ import annotations

import argparse
import configparser
import email
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from typing import Any, Dict

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = ROOT / "tasks" / "small_gemm_bias_relu.py"
VERSION = next(line.split('"')[1] for line in (ROOT / "python/hone/_version.py").read_text().splitlines() if line.startswith("__version__"))

# A user's actions; each line must succeed. One process, because importing torch takes seconds.
USE = """
import sys, warnings
import hone
assert "torch" not in sys.modules, "import hone must not import torch"
assert hone.__version__ == %(version)r, hone.__version__
from hone import _binary
assert _binary.path() == %(program)r, _binary.path()
for name in hone.__all__:
    try:
        getattr(hone, name)
    except ImportError as error:
        assert "mcp" in str(error) or "ray" in str(error), error  # an extra that is not installed
finding, = hone.lint("def f(:\\n")
assert finding.rule == "syntax", finding
candidate = open(%(task)r).read().replace("class Model(", "class ModelNew(")
verdict = hone.judge(%(task)r, candidate, check_only=True, save=False, target="cpu")
assert verdict.right and verdict.reason == "speed-not-judged", verdict
import torch
assert "hone" in torch._dynamo.list_backends(), torch._dynamo.list_backends()
model = torch.nn.Linear(3, 2)
with warnings.catch_warnings():
    warnings.simplefilter("error", RuntimeWarning)
    torch.compile(model, backend="hone")(torch.ones(1, 3)).sum().backward()
assert model.weight.grad is not None
assert [one.outcome for one in hone.subgraphs()] == ["eager"], hone.subgraphs()
print("all of it")
"""


class Wheel(unittest.TestCase):
    program = ""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="hone-wheel-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        # The tests of the package set variables that must not reach the installed one.
        cls.clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HONE_BINARY", "HONE_PYTHON", "VIRTUAL_ENV")}
        cls.pip("wheel", str(ROOT), "--no-build-isolation", "-w", str(cls.folder), "--config-settings=build-dir=%s" % (cls.folder / "build"),
                "--config-settings=cmake.define.HONE_PREBUILT=%s" % cls.program)
        (cls.wheel,) = cls.folder.glob("*.whl")
        cls.environment = cls.folder / "environment"
        venv.create(cls.environment, symlinks=True)
        cls.bin = cls.environment / "bin"
        cls.pip("--python", str(cls.bin / "python"), "install", str(cls.wheel))
        cls.site = next(cls.environment.glob("lib/python*/site-packages"))

    @classmethod
    def pip(cls, *words: str) -> None:
        where = words.index("wheel") if "wheel" in words else words.index("install")
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *words[: where + 1], "--no-index", "--no-deps", *words[where + 1 :]]
        done = subprocess.run(command, env=cls.clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise AssertionError("%s\n%s" % (" ".join(command), done.stdout))

    def run_there(self, program: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        environment: Dict[str, Any] = {**self.clean, "HONE_DATA": str(self.folder / "data"), "HONE_CACHE": os.environ.get("HONE_CACHE", str(self.folder / "cache")), **more}
        return subprocess.run([str(self.bin / program), *words], env=environment, capture_output=True, text=True, cwd=self.folder)

    def test_1_what_is_in_it(self) -> None:
        self.assertRegex(self.wheel.name, r"^hone-%s-py3-none-(linux|manylinux|macosx)_\w+\.whl$" % VERSION)
        with zipfile.ZipFile(self.wheel) as archive:
            files = {info.filename: info for info in archive.infolist()}
            self.assertTrue(files["hone/bin/hone"].external_attr >> 16 & 0o111, "the program is executable")
            self.assertEqual(archive.read("hone/bin/hone"), pathlib.Path(self.program).read_bytes())
            sources = {"hone/" + path.relative_to(ROOT / "python/hone").as_posix() for path in (ROOT / "python/hone").rglob("*.py")}
            self.assertEqual({name for name in files if name.endswith(".py")}, sources)
            self.assertIn("hone/py.typed", files)
            self.assertEqual([name for name in files if "__pycache__" in name], [])
            about = "hone-%s.dist-info/" % VERSION
            metadata = email.message_from_bytes(archive.read(about + "METADATA"))
            self.assertEqual((metadata["Name"], metadata["Version"], metadata["Requires-Python"]), ("hone", VERSION, ">=3.9"))
            needs = metadata.get_all("Requires-Dist") or []
            self.assertEqual([one for one in needs if "extra ==" not in one], [], "no dependency")
            self.assertEqual(set(metadata.get_all("Provides-Extra")), {"torch", "mcp", "ray"})
            points = configparser.ConfigParser()
            points.read_string(archive.read(about + "entry_points.txt").decode())
            self.assertEqual(points["console_scripts"]["hone"], "hone._main:main")
            self.assertEqual(points["torch_dynamo_backends"]["hone"], "hone._backend:backend")

    def test_2_without_torch(self) -> None:
        done = self.run_there("hone", "--version")
        self.assertEqual((done.returncode, done.stdout), (0, "hone %s\n" % VERSION), done)
        bad = self.folder / "bad.py"
        bad.write_text("def f(:\n")
        done = self.run_there("python", "-m", "hone", "lint", str(bad))
        self.assertEqual(done.returncode, 1, done)
        done = self.run_there("python", "-c", "import hone; print(hone.lint('x = 1\\n')[0].rule, hone.runs())")
        self.assertEqual((done.stdout, done.stderr), ("missing-modelnew []\n", ""))

    def test_3_with_torch(self) -> None:
        found = importlib.util.find_spec("torch")
        assert found is not None and found.origin is not None
        torch_folder = str(pathlib.Path(found.origin).parents[1])
        (self.site / "torch.pth").write_text(torch_folder + "\n")
        values = {"version": VERSION, "program": str(self.site.resolve() / "hone/bin/hone"), "task": str(TASK)}
        done = self.run_there("python", "-c", USE % values)
        self.assertEqual((done.returncode, done.stdout), (0, "all of it\n"), done.stderr)

    def test_4_without_the_program(self) -> None:
        inside = self.site / "hone" / "bin" / "hone"
        inside.rename(inside.with_name("elsewhere"))
        self.addCleanup(inside.with_name("elsewhere").rename, inside)
        done = self.run_there("hone", "--version", PATH="%s:/usr/bin:/bin" % self.bin)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(done.stderr, "hone: The program `hone` was not found; install the wheel, or set HONE_BINARY to the built binary.\n")

    def test_5_a_prebuilt_program_that_is_not_there(self) -> None:
        done = subprocess.run(["cmake", "-S", str(ROOT), "-B", str(self.folder / "refused"), "-DHONE_PREBUILT=/nowhere/hone"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("HONE_PREBUILT=/nowhere/hone is not a file", " ".join(done.stderr.split()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hone", default=os.environ.get("HONE_BINARY"))
    known, rest = parser.parse_known_args()
    Wheel.program = os.path.abspath(known.hone)
    unittest.main(argv=[sys.argv[0], *rest])
