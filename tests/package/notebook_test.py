"""hone.optimize in a real Jupyter kernel: its progress is output of the cell, the interrupt button leaves a run that the next call resumes, and the
report renders itself. The kernel is ipykernel's, controlled with jupyter_client as by a notebook; the program runs for real.

Usage: notebook_test.py --hone BINARY
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import time
import unittest
from typing import Any, Callable, Dict, List, Optional

import hone

SECONDS = 240  # for one cell, on a busy machine
SET_UP = """
import hone, torch
torch.manual_seed(0)
model, x = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh()).eval(), torch.randn(2, 6)
quick = dict(options=["--compile", "never", "--judge-at-most", "1"])
"""


class Cell:
    """The result of one cell: its state, its text by stream, and its output by MIME type."""

    def __init__(self) -> None:
        self.status, self.error = "", ""
        self.printed: Dict[str, str] = {"stdout": "", "stderr": ""}
        self.shown: List[Dict[str, Any]] = []


class Notebook:
    def __init__(self) -> None:
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager(kernel_name="python3", transport="ipc")
        self.manager.start_kernel()  # in this process's folder, where its sockets are
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=SECONDS)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, code: str, watch: Optional[Callable[[Cell], None]] = None) -> Cell:
        """Runs a cell to its end; `watch` is called after each piece of output."""
        cell = Cell()
        asked = self.client.execute(code)
        until = time.monotonic() + SECONDS
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.1, until - time.monotonic()))
            if message["parent_header"].get("msg_id") != asked:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind == "stream":
                cell.printed[content["name"]] += content["text"]
            elif kind in ("execute_result", "display_data"):
                cell.shown.append(content["data"])
            elif kind == "error":
                cell.error = "%s: %s" % (content["ename"], content["evalue"])
            if watch is not None:
                watch(cell)
        while True:
            reply = self.client.get_shell_msg(timeout=max(0.1, until - time.monotonic()))
            if reply["parent_header"].get("msg_id") == asked:
                cell.status = reply["content"]["status"]
                return cell


class InANotebook(unittest.TestCase):
    def test_a_search_shows_its_progress_can_be_interrupted_and_goes_on(self) -> None:
        notebook = Notebook()
        self.addCleanup(notebook.close)
        cell = notebook.run(SET_UP)
        self.assertEqual((cell.status, cell.error), ("ok", ""))

        interrupted: List[float] = []

        def interrupt(cell: Cell) -> None:
            if "hone: " in cell.printed["stderr"] and not interrupted:
                interrupted.append(time.monotonic())
                notebook.manager.interrupt_kernel()

        cell = notebook.run("fast = hone.optimize(model, (x,), **quick)", interrupt)
        self.assertTrue(interrupted, cell.printed)
        self.assertEqual(cell.status, "error", cell.printed)
        self.assertTrue(cell.error.startswith("KeyboardInterrupt"), cell.error)
        self.assertIn("hone: stopped; call hone.optimize again with the same arguments, or run `hone resume ", cell.printed["stderr"])
        stopped = hone.runs()
        self.assertEqual(len(stopped), 1, stopped)

        cell = notebook.run("fast = hone.optimize(model, (x,), budget='1s', **quick)\nfast.hone")
        self.assertEqual((cell.status, cell.error), ("ok", ""), cell.printed)
        lines = cell.printed["stderr"].splitlines()
        self.assertTrue(any(line.startswith("hone: ") for line in lines), cell.printed)
        self.assertNotIn("\033", cell.printed["stderr"])
        shown, = cell.shown
        self.assertTrue(shown["text/html"].startswith("<table>"), shown)
        self.assertIn("hone: ", shown["text/plain"])
        run, = hone.runs()
        self.assertIn(run.name, shown["text/html"])

        cell = notebook.run("with torch.no_grad():\n    print(hone.optimize(model, (x,), budget='1s', **quick).hone.cached, torch.allclose(fast(x), model(x)))")
        self.assertEqual((cell.status, cell.printed), ("ok", {"stdout": "True True\n", "stderr": ""}), cell.error)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    known, rest = parser.parse_known_args()
    try:
        import ipykernel  # noqa: F401
    except ImportError:
        print("skipped: this Python has no ipykernel; run scripts/setup.sh package")
        sys.exit(77)
    os.environ["HONE_BINARY"] = os.path.abspath(known.hone)
    with tempfile.TemporaryDirectory() as data:
        os.environ.update(HONE_DATA=data, IPYTHONDIR=str(pathlib.Path(data) / "ipython"), JUPYTER_RUNTIME_DIR=str(pathlib.Path(data) / "jupyter"))
        os.chdir(data)
        unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
