"""Answers on disk: one folder for each graph, with its shapes, device and versions.

A folder holds answer.json (the result), best.py (the faster module), the judged task and its run. A negative
answer ("keep PyTorch", "cannot be exported") is an answer too. Only the format of these files is relied on:
an unreadable folder counts as absent.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import json
import os
import pathlib
import platform
from typing import Any, Iterator

import torch

from . import _binary

FORMAT = 1


def root() -> str:
    """$HONE_DATA/modules, where HONE_DATA defaults to ~/.local/share/hone."""
    data = os.environ.get("HONE_DATA")
    if not data:
        shared = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        data = os.path.join(shared, "hone")
    return os.path.join(os.path.abspath(data), "modules")


@functools.lru_cache(maxsize=None)
def _version_of(program: str, size: int, changed: int) -> str:
    said = _binary.run(["--version"])
    return said.stdout.strip() if said.returncode == 0 else "%d %d" % (size, changed)


def _first_line(path: str, start: str = "") -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return next((line.strip() for line in file if line.startswith(start)), "")
    except OSError:
        return ""


def versions(device: torch.device) -> "dict[str, str]":
    """What an answer depends on besides the graph: torch, Hone, Python, the device and its driver."""
    program = _binary.path()
    about = os.stat(program)
    found = {"torch": torch.__version__, "hone": _version_of(program, about.st_size, about.st_mtime_ns), "python": platform.python_version()}
    if device.type == "cuda":
        found["device"] = torch.cuda.get_device_name(device)
        found["driver"] = _first_line("/proc/driver/nvidia/version")
    else:
        found["device"] = "%s, %s cores" % (_first_line("/proc/cpuinfo", "model name").partition(":")[2].strip() or platform.machine(), os.cpu_count())
    return found


def key_of(graph: str, device: torch.device, choices: Any) -> str:
    """The name of the folder. `choices`: options that lead to another answer (target, proposer)."""
    said = json.dumps([FORMAT, graph, versions(device), choices], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:24]


class Folder:
    """The folder of one question."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.path = os.path.join(root(), key)

    def file(self, *names: str) -> str:
        return os.path.join(self.path, *names)

    def read(self) -> "dict[str, Any] | None":
        """The stored answer, or None."""
        try:
            with open(self.file("answer.json"), encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("status"), str):
            return None
        if found["status"] == "faster" and not os.path.exists(self.file("best.py")):
            return None
        return found

    def write(self, answer: "dict[str, Any]") -> None:
        """Stores an answer atomically: readers see the old or the new one."""
        os.makedirs(self.path, exist_ok=True)
        temporary = self.file("answer.json.%d" % os.getpid())
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump({"format": FORMAT, **answer}, file, indent=1)
        os.replace(temporary, self.file("answer.json"))

    def next_run(self) -> str:
        """A folder for a new run."""
        number = 1
        while os.path.exists(self.file("run%d" % number)):
            number += 1
        return self.file("run%d" % number)

    def last_run(self) -> str:
        """The folder of the run that was started last, or None."""
        runs = [path for path in pathlib.Path(self.path).glob("run[0-9]*") if path.name[3:].isdigit()]
        return str(max(runs, key=lambda path: int(path.name[3:]))) if runs else ""

    @contextlib.contextmanager
    def locked(self, waiting: Any) -> Iterator[None]:
        """Only one process at a time works on a question; the others wait for its answer."""
        os.makedirs(self.path, exist_ok=True)
        with open(self.file("lock"), "w", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            yield
