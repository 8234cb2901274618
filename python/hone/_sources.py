"""Decides whether a string argument is the text of a file or its path."""

from __future__ import annotations

import os
import pathlib

from ._binary import HoneError


def is_text(value: str) -> bool:
    """Whether a string is the text of a file. A path has no line break, and either it exists, or it ends in .py, or it is a single word.

    >>> is_text("import torch\\n"), is_text("import torch"), is_text("candidates/a.py"), is_text("nothing_here")
    (True, True, False, False)
    """
    if "\n" in value:
        return True
    if value.endswith(".py") or os.path.exists(value):
        return False
    return any(character in value for character in " =(:;")


def path_or_text(value: object, what: str) -> str:
    """A text or a path as a string. Other types are refused with one sentence that begins with `what`."""
    found = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(found, str):
        raise HoneError("%s is a text or a path, not a %s." % (what, type(value).__name__))
    return found


def write_text(path: str, text: str) -> str:
    """Writes a text as UTF-8 and returns the path. Invalid text is kept invalid, so that the program reports it."""
    pathlib.Path(path).write_bytes(text.encode("utf-8", "surrogatepass"))
    return path
