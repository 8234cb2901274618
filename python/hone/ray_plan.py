"""Shared by the parts of the driver of `hone suite --on ray`: the program's plan, the progress for the dashboard, and refusals of one
sentence each. When the program starts them, the driver's files are side by side without a package, so each imports its neighbours in
two ways.
"""

from __future__ import annotations

import json
import os
import pathlib
import socket
import sys
import time
from typing import Any, Dict, List


class Refused(Exception):
    """One sentence with a remedy."""


def say(text: str) -> None:
    print("hone: " + " ".join(text.split()), file=sys.stderr, flush=True)


class Plan:
    """The request of `hone suite --on ray`; see src/cli/suite_on_ray.cpp."""

    def __init__(self, values: Dict[str, Any]) -> None:
        self.suite: str = values["suite"]
        self.folder = pathlib.Path(values["folder"])
        self.binary: str = values["binary"]
        self.address: str = values.get("address", "")
        self.tasks: List[Dict[str, str]] = values["tasks"]
        self.done: int = values.get("done", 0)
        self.run: Dict[str, Any] = values["run"]
        self.cores: int = values.get("cores", 0)
        self.attempts: int = values.get("attempts", 3)
        self.allow_mixed: bool = values.get("allow_mixed", False)
        self.json: bool = values.get("json", False)
        self.quiet: bool = values.get("quiet", False)

    @property
    def total(self) -> int:
        return self.done + len(self.tasks)


class Progress:
    """progress.json in the suite's folder, which the dashboard shows. Written whole, at most twice a second."""

    def __init__(self, plan: Plan) -> None:
        self.file = plan.folder / "progress.json"
        self.values: Dict[str, Any] = {
            "suite": plan.suite,
            "state": "starting",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "total": plan.total,
            "done": plan.done,
            "queued": len(plan.tasks),
            "running": 0,
            "faults": [],
            "gave_up": [],
            "nodes": [],
        }
        self.written = 0.0

    def write(self, now: bool = False) -> None:
        if not now and time.time() - self.written < 0.5:
            return
        self.written = time.time()
        self.values["updated"] = self.written
        fresh = self.file.with_suffix(".tmp")
        try:
            fresh.write_text(json.dumps(self.values, indent=1))
            fresh.rename(self.file)
        except OSError:
            pass  # only the dashboard needs it
