"""Runs the examples in the package's docstrings in one process with the real program. Every public function must have one."""

from __future__ import annotations

import argparse
import doctest
import importlib
import os
import pathlib
import sys
import tempfile
import unittest
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_tests(loader: unittest.TestLoader, tests: unittest.TestSuite, pattern: object) -> unittest.TestSuite:
    import torch

    from hone import _backend

    # In an installed package the entry point does this (wheel_test.py).
    torch._dynamo.register_backend(_backend.backend, name="hone")
    torch.set_num_threads(1)
    for path in sorted((ROOT / "python" / "hone").glob("*.py")):
        if ">>> " not in path.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module("hone" if path.stem == "__init__" else "hone." + path.stem)
        tests.addTests(doctest.DocTestSuite(module, test_finder=doctest.DocTestFinder(exclude_empty=True), setUp=set_up, tearDown=tear_down))
    return tests


def set_up(case: doctest.DocTest) -> None:
    from hone import _backend

    _backend._seen.clear()
    os.chdir(ROOT)


def tear_down(case: doctest.DocTest) -> None:
    os.chdir(ROOT)


class Public(unittest.TestCase):
    def test_every_public_function_has_an_example(self) -> None:
        import hone

        for name in hone.__all__:
            value = getattr(hone, name)
            self.assertTrue(value.__doc__, name)
            if callable(value) and not isinstance(value, type):
                self.assertIn(">>>", value.__doc__, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hone", default=os.environ.get("HONE_BINARY"))
    known, rest = parser.parse_known_args()
    os.environ["HONE_BINARY"] = os.path.abspath(known.hone)
    with tempfile.TemporaryDirectory(prefix="hone-doctest-") as data:
        os.environ["HONE_DATA"] = data
        warnings.simplefilter("ignore", DeprecationWarning)
        unittest.main(argv=[sys.argv[0], *rest])
