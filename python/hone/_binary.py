"""Finds and runs the program `hone`. All results of the package come from that program; nothing is decided here."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
from typing import Any, Sequence

from ._version import __version__

# Exit codes of `hone` (docs/COMMANDS.md).
DONE, REJECTED, USAGE, FAILED = 0, 1, 2, 3


class HoneError(RuntimeError):
    """Hone could not do its job. The message is one sentence with a remedy."""


def path() -> str:
    """The program with the same version as this package."""
    program = find()
    _require_version(program, os.stat(program).st_mtime_ns)
    return program


def find() -> str:
    """The program: $HONE_BINARY, the one inside this package, the one of a source folder, or the one on PATH, in this order."""
    named = os.environ.get("HONE_BINARY")
    if named:
        if not os.access(named, os.X_OK):
            raise HoneError("HONE_BINARY=%s is not a program; point it to the binary `hone`, or unset it." % named)
        return named
    here = pathlib.Path(__file__).resolve().parent
    for candidate in (here / "bin" / "hone", here.parents[1] / "build" / "release" / "hone"):
        if os.access(candidate, os.X_OK):
            return str(candidate)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("hone", path=folder) if folder else None
        if found and not _is_script(found):
            return found
    raise HoneError("The program `hone` was not found; install the wheel, or set HONE_BINARY to the built binary.")


def _is_script(program: str) -> bool:
    """Whether this is a console script of this package, or ./hone of the source folder, which would search for the program
    again."""
    try:
        with open(program, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True


@functools.lru_cache(maxsize=16)
def _require_version(program: str, _changed: int) -> None:
    try:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60).stdout.split()
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError) as error:
        raise HoneError("The program %s does not start (%s); install the wheel again, or set HONE_BINARY to a program that does." % (program, error)) from None
    version = said[-1] if said[:1] == ["hone"] else "unknown"
    if version != __version__:
        raise HoneError(
            "The program %s has version %s and the package hone has version %s; install the wheel again, or set HONE_BINARY to a "
            "program of version %s." % (program, version, __version__, __version__)
        )


def python_arguments(python: "str | None" = None) -> "list[str]":
    """`--python` for the program: the given interpreter, or this one if it has torch. $HONE_PYTHON takes precedence over this
    one."""
    if python:
        return ["--python", python]
    if os.environ.get("HONE_PYTHON") or not sys.executable or importlib.util.find_spec("torch") is None:
        return []
    return ["--python", sys.executable]


def run(arguments: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs `hone ARGUMENTS` to its end, with its output as text."""
    return subprocess.run([path(), *arguments], capture_output=True, text=True, **options)


def checked(arguments: Sequence[str], accept: Sequence[int] = (DONE,)) -> "subprocess.CompletedProcess[str]":
    """Like `run`, but an exit code that is not accepted is a HoneError with the program's own sentence."""
    done = run(arguments, errors="replace")
    if done.returncode not in accept:
        raise HoneError(message_of(done))
    return done


def run_json(arguments: Sequence[str], accept: Sequence[int] = (DONE,)) -> "dict[str, Any]":
    """The object that `hone ARGUMENTS --json` prints."""
    done = checked(arguments, accept)
    try:
        value = json.loads(done.stdout)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise HoneError("`hone %s` printed no JSON object: %s" % (arguments[0], last_line(done.stderr)))
    return value


def message_of(done: "subprocess.CompletedProcess[str]") -> str:
    """The error of a failed program: the message of its JSON, else its last line."""
    try:
        return one_sentence(str(json.loads(done.stdout)["error"]["message"]))
    except (ValueError, KeyError, TypeError):
        said = last_line(done.stderr)
        return said[len("hone: ") :] if said.startswith("hone: ") else said


def one_sentence(message: str) -> str:
    """Joins a message of several lines into one."""
    return "; ".join(line.strip() for line in message.splitlines() if line.strip())


def last_line(text: str) -> str:
    """The last line of a failed program, which is its error message."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "the program printed nothing"
