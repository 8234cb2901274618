"""Runs `hone optimize` on a task folder: shows its progress, passes Ctrl-C on, and reads its result.

On a terminal the program draws its own progress. Elsewhere (a notebook, a pipe) its lines are printed one by one, or passed to a function.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from typing import Any, Callable, Sequence, Union

from . import _binary
from ._binary import HoneError

Progress = Union[bool, Callable[[str], None], None]
_STOPPED = 130  # exit code after Ctrl-C
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "": 1.0}


def seconds_of(budget: Any) -> "float | None":
    """A budget in seconds: None, a number of seconds, or text such as "60s", "5m" and "1.5h".

    >>> seconds_of("60s"), seconds_of("5m"), seconds_of(90), seconds_of(None)
    (60.0, 300.0, 90.0, None)
    """
    if budget is None:
        return None
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(s|min|m|h|)\s*", str(budget)) if not isinstance(budget, bool) else None
    seconds = float(found.group(1)) * _UNITS[found.group(2)] if found else 0.0
    if seconds <= 0:
        raise HoneError('budget=%r is no length of time; write "60s", "5m" or a number of seconds.' % (budget,))
    return seconds


def _draws_itself(progress: Progress) -> bool:
    """Whether the program may draw on this process's own terminal."""
    if callable(progress) or progress is False or "ipykernel" in sys.modules:
        return False
    try:
        return sys.stderr.fileno() == 2 and os.isatty(2)
    except (AttributeError, OSError, ValueError):
        return False


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Ended:
    """How the program ended: its exit code and its last line."""

    def __init__(self, code: int, said: str) -> None:
        self.code, self.said = code, said


def run(arguments: Sequence[str], progress: Progress, environment: "dict[str, str] | None" = None) -> Ended:
    """Runs the program to its end. After Ctrl-C it stops the program and re-raises KeyboardInterrupt."""
    own = _draws_itself(progress)
    say = progress if callable(progress) else (lambda line: None) if progress is False else _print_line
    child = subprocess.Popen([_binary.path(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=None if own else subprocess.PIPE, env=environment, text=True, errors="replace")
    lines: "list[str]" = []
    reader = None
    if child.stderr is not None:
        reader = threading.Thread(target=_forward, args=(child.stderr, lines, say), daemon=True)
        reader.start()
    try:
        code = child.wait()
    except KeyboardInterrupt:
        _stop(child)
        raise
    finally:
        if reader is not None:
            reader.join(5)
        if child.stderr is not None and (reader is None or not reader.is_alive()):
            child.stderr.close()
    if code in (-signal.SIGINT, _STOPPED):
        raise KeyboardInterrupt
    return Ended(code, "see its messages above" if own else _binary.last_line("\n".join(lines)))


def _forward(stream: Any, lines: "list[str]", say: Callable[[str], None]) -> None:
    for line in stream:
        line = line.rstrip("\n")
        lines.append(line)
        del lines[:-200]
        try:
            say(line)
        except Exception:  # an exception of the caller's function must not end the run
            pass


def _stop(child: "subprocess.Popen[str]") -> None:
    """Makes sure that the program receives Ctrl-C, which only a terminal sends to it as well. The run stays in the store and can be
    resumed."""
    for patience, send in ((2.0, None), (20.0, signal.SIGINT), (5.0, signal.SIGKILL)):
        if send is not None and child.poll() is None:
            child.send_signal(send)
        try:
            child.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def read_result(folder: str) -> "dict[str, Any] | None":
    """run.json of a run's folder; None if the run wrote none."""
    try:
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
