"""hone.judge, hone.Session, hone.lint, hone.runs, hone.show and hone.explain, and their errors for bad input.

A fake program tests what a session does when the program dies, fails or hangs. One session with the real program
judges real candidates, also hostile ones.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import stat
import sys
import tempfile
import threading
import types
import unittest
import warnings
from typing import Any, List
from unittest import mock

import hone
from hone import _binary

ROOT = pathlib.Path(__file__).resolve().parents[2]
TASK = str(ROOT / "tasks" / "small_gemm_bias_relu.py")
MODEL = (ROOT / "tasks" / "small_gemm_bias_relu.py").read_text(encoding="utf-8").split("class Model")[1].split("def get_inputs")[0]

STAND_IN = """#!%s
import hashlib, json, os, pathlib, signal, sys, time
if sys.argv[1:] == ["--version"]:
    print("hone %s")
    sys.exit(0)
folder = pathlib.Path(os.environ["STAND_IN"])
(folder / ("started_%%d" %% os.getpid())).write_text(" ".join(sys.argv[1:]))
signal.signal(signal.SIGINT, lambda *_: os._exit(130))
for line in sys.stdin:
    source = pathlib.Path(line.strip()).read_text()
    if "die always" in source or "die once" in source and not (folder / "died").exists():
        (folder / "died").touch()
        sys.stderr.write("hone: out of luck\\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    if "hang" in source:
        time.sleep(600)
    if "fail" in source:
        print(json.dumps({"status": "failed", "error": {"kind": "io", "message": "the disk is full\\nfree some space"}, "exit_code": 3}), flush=True)
        sys.exit(3)
    name = pathlib.Path(line.strip()).name
    print(json.dumps({"verdict": "rejected", "reason": "wrong-output", "detail": source, "right": False, "provenance": {"candidate": {"name": name}}}), flush=True)
"""


class WithStandIn(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = self.folder / "hone"
        program.write_text(STAND_IN % (sys.executable, hone.__version__))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        patch = mock.patch.dict(os.environ, {"HONE_BINARY": str(program), "STAND_IN": folder.name})
        patch.start()
        self.addCleanup(patch.stop)

    def starts(self) -> List[str]:
        return [path.read_text() for path in self.folder.glob("started_*")]

    def test_threads_share_a_session_and_each_gets_its_own_verdict(self) -> None:
        wrong: List[str] = []

        def work(number: int) -> None:
            for turn in range(25):
                source = "# candidate %d of thread %d\n" % (turn, number)
                if session.judge(source).detail != source:
                    wrong.append(source)

        with hone.Session(TASK) as session:
            threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual((session.judged, session.restarts, wrong), (200, 0, []))
        self.assertEqual(len(self.starts()), 1)

    def test_options_reach_the_program(self) -> None:
        with hone.Session(TASK, check_only=True, again=True, save=False, target="cpu", precision="fp32", trials=9, timeout=2.5, python="/p", arguments=["--no-lint"]) as session:
            verdict = session.judge("x = 1\n", name="my kernel")
        (words,) = self.starts()
        for word in ("bench %s --stdin --json" % TASK, "--target cpu", "--python /p", "--precision fp32", "--trials 9", "--timeout 2.5", "--check-only --again --no-save", "--no-lint"):
            self.assertIn(word, words)
        self.assertEqual(verdict.record["provenance"]["candidate"]["name"], "my_kernel.py")

    def test_a_program_that_dies_is_started_again(self) -> None:
        with hone.Session(TASK) as session:
            session.judge("x = 1\n")
            with self.assertWarnsRegex(RuntimeWarning, "ended by itself .SIGKILL.; the session starts it again"):
                self.assertEqual(session.judge("die once\n").detail, "die once\n")
            self.assertEqual((session.restarts, len(self.starts())), (1, 2))

    def test_a_program_that_is_killed_between_two_candidates(self) -> None:
        with hone.Session(TASK) as session:
            session.judge("x = 1\n")
            child = session._program._child  # type: ignore[union-attr]
            child.kill()
            child.wait()
            with self.assertWarnsRegex(RuntimeWarning, "SIGKILL"):
                self.assertEqual(session.judge("x = 2\n").detail, "x = 2\n")

    def test_a_program_that_dies_of_a_candidate_twice_is_an_error(self) -> None:
        with hone.Session(TASK) as session, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaisesRegex(hone.HoneError, "ended twice while it judged this candidate"):
                session.judge("die always\n")
            self.assertEqual(session.judge("x = 1\n").detail, "x = 1\n", "the session goes on")

    def test_what_the_program_could_not_do_is_one_sentence(self) -> None:
        with hone.Session(TASK) as session, warnings.catch_warnings():
            warnings.simplefilter("error")
            with self.assertRaisesRegex(hone.HoneError, "^the disk is full; free some space$"):
                session.judge("fail\n")
            self.assertEqual(session.judge("x = 1\n").detail, "x = 1\n")

    def test_interrupted_in_the_middle_of_a_candidate(self) -> None:
        def interrupt(*_: Any) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            with hone.Session(TASK) as session:
                session.judge("x = 0\n")
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                with self.assertRaises(KeyboardInterrupt):
                    session.judge("hang\n")
                self.assertEqual(session.judge("x = 1\n").detail, "x = 1\n", "no reply of an earlier candidate")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def test_a_closed_session(self) -> None:
        session = hone.Session(TASK)
        session.judge("x = 1\n")
        folder = session._folder
        session.close()
        session.close()
        self.assertFalse(os.path.exists(folder))
        self.assertIn("closed", repr(session))
        with self.assertRaisesRegex(hone.HoneError, "This session is closed"):
            session.judge("x = 1\n")

    def test_bad_input_is_one_sentence(self) -> None:
        rows = [
            (lambda: hone.judge("no_such_task.py", "x = 1\n"), "There is no task file no_such_task.py; give the path"),
            (lambda: hone.judge(TASK, "no_such_candidate.py"), "There is no candidate file no_such_candidate.py; give the path"),
            (lambda: hone.judge(TASK, "x = 1\n", args=(1,)), "`args` and `kwargs` belong to a module"),
            (lambda: hone.lint("no_such_file.py"), "There is no file no_such_file.py"),
            (lambda: hone.lint("int main() {\n", language="java"), "The language 'java' is not known"),
            (lambda: hone.runs(most=0), "ask for at least one run"),
            (lambda: hone.lint(None), "A source is a text or a path, not a NoneType."),  # type: ignore[arg-type]
            (lambda: hone.lint(b"x = 1"), "A source is a text or a path, not a bytes."),  # type: ignore[arg-type]
            (lambda: hone.judge(TASK, 3), "A candidate is a text or a path, not a int."),  # type: ignore[arg-type]
            (lambda: hone.judge(3, "x = 1\n"), "A task is a path, the text of a task file or a torch.nn.Module, not a int."),  # type: ignore[arg-type]
            (lambda: hone.explain(None), "A run is a text or a path, not a NoneType."),  # type: ignore[arg-type]
            (lambda: hone.show(5), "What is shown is a text or a path, not a int."),  # type: ignore[arg-type]
        ]
        for call, words in rows:
            with self.subTest(words), self.assertRaises(hone.HoneError) as raised:
                call()
            self.assertIn(words, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))


class Programs(unittest.TestCase):
    """Which program is chosen, and the error if there is none or the wrong one."""

    def program(self, text: str) -> str:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "hone"
        path.write_text("#!/bin/sh\n%s\n" % text)
        path.chmod(0o755)
        return str(path)

    def refused(self, **environment: str) -> str:
        with mock.patch.dict(os.environ, environment), self.assertRaises(hone.HoneError) as raised:
            hone.runs()
        return str(raised.exception)

    def test_another_version(self) -> None:
        said = self.refused(HONE_BINARY=self.program("echo hone 9.9.9"))
        self.assertIn("has version 9.9.9 and the package hone has version %s; install the wheel again" % hone.__version__, said)

    def test_not_hone_at_all(self) -> None:
        self.assertIn("has version unknown", self.refused(HONE_BINARY=self.program("echo something else")))

    def test_no_program(self) -> None:
        self.assertIn("HONE_BINARY=/nowhere is not a program", self.refused(HONE_BINARY="/nowhere"))
        # A console script of the wheel on PATH would search for the program again, for ever.
        script = self.program("exit 1")
        with mock.patch.object(_binary, "__file__", "/nowhere/python/hone/_binary.py"):
            said = self.refused(HONE_BINARY="", PATH=os.path.dirname(script))
        self.assertIn("The program `hone` was not found; install the wheel, or set HONE_BINARY", said)


CANDIDATE = "import os\nimport torch\nimport torch.nn as nn\n\n\nclass ModelNew" + MODEL


class Real(unittest.TestCase):
    """The real program. All cases share one session, and nothing is timed."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        patch = mock.patch.dict(os.environ, {"HONE_DATA": str(cls.folder / "data")})
        patch.start()
        cls.addClassCleanup(patch.stop)

    def test_candidates(self) -> None:
        rows = [
            ("right", CANDIDATE, True, "speed-not-judged"),
            ("wrong", CANDIDATE.replace("torch.relu(self.linear(x))", "torch.relu(self.linear(x)) + 0.5"), False, "wrong-output"),
            ("syntax error", "class ModelNew(:\n", False, "import-failed"),
            ("crashes", CANDIDATE.replace("return torch.relu", "os.abort()\n        return torch.relu"), False, "crashed"),
            ("no class", "import torch\n", False, "import-failed"),
            ("right again", CANDIDATE + "\n# again\n", True, "speed-not-judged"),
        ]
        with hone.Session(TASK, check_only=True, save=False, target="cpu", python=os.environ.get("HONE_PYTHON")) as session:
            for name, source, right, reason in rows:
                with self.subTest(name):
                    verdict = session.judge(source, name=name)
                    self.assertEqual((verdict.right, verdict.reason, verdict.accepted, bool(verdict)), (right, reason, False, False), verdict)
                    self.assertTrue(verdict.detail)
                    self.assertTrue(verdict.next_step)
                    self.assertIn(reason, repr(verdict))
                    self.assertIn(reason, verdict._repr_html_())
                    self.assertNotIn("<script", verdict._repr_html_())
                    if right:
                        self.assertLessEqual(verdict.error.candidate, verdict.error.limit)
                        self.assertIn("pass", verdict.gates.values())
                        self.assertIn("load_state_dict", verdict.contract)
            self.assertEqual((session.restarts, session.judged), (0, len(rows)))

    def test_a_module_as_a_task(self) -> None:
        import torch

        module = torch.nn.Sequential(torch.nn.Linear(24, 16), torch.nn.Tanh()).eval()
        with hone.Session(module, args=(torch.randn(8, 24),), check_only=True, save=False, target="cpu") as session:
            task = pathlib.Path(session.task).read_text(encoding="utf-8")
            right = session.judge(task.replace("class Model(", "class ModelNew("))
            wrong = session.judge(task.replace("class Model(", "class ModelNew(").replace("tanh", "sigmoid").replace("Tanh", "Sigmoid"))
        self.assertTrue(right.right, right)
        self.assertEqual(wrong.reason, "wrong-output", wrong)

    def test_lint(self) -> None:
        source = pathlib.Path(tempfile.mkdtemp()) / "k.py"
        self.addCleanup(lambda: (source.unlink(), source.parent.rmdir()))
        source.write_text("def f(:\n")
        for given, path in ((source, str(source)), (str(source), str(source)), (source.read_text(), "")):
            (finding,) = hone.lint(given)
            self.assertEqual((finding.path, finding.line, finding.severity), (path, 1, "error"))
        self.assertEqual({finding.rule for finding in hone.lint(CANDIDATE, task=TASK)}, {"library-fallback"})

    def test_runs(self) -> None:
        self.assertEqual(hone.runs(), [])
        for call in (lambda: hone.explain("last"), lambda: hone.show("last")):
            with self.assertRaises(hone.HoneError) as raised:
                call()
            self.assertNotIn("\n", str(raised.exception))
        # A recorded run in the store.
        sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
        import explain_test

        explain_test.load(types.SimpleNamespace(folder=self.folder), "tuning", 7)
        (run,) = hone.runs()
        self.assertEqual((run.id, run.status, run.result), ("R7", "done", "accepted"), run)
        self.assertGreater(run.vs_best or 0, 1)
        shown = hone.show("R7")
        self.assertIsInstance(shown, hone.Run)
        self.assertGreater(len(shown.candidates), 2)
        told = hone.explain(run)
        self.assertEqual(str(told), (ROOT / "tests/golden/reports/tuning.md").read_text(encoding="utf-8"))
        self.assertEqual(told.run.id, "R7")
        self.assertNotEqual(str(hone.explain("last", language="zh")), str(told))
        self.assertEqual(hone.runs(tag="none has it"), [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--hone", default=os.environ.get("HONE_BINARY"))
    known, rest = parser.parse_known_args()
    os.environ["HONE_BINARY"] = os.path.abspath(known.hone)
    unittest.main(argv=[sys.argv[0], *rest])
