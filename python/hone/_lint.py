"""Static analysis of a candidate, without running it: `hone lint --json` as typed findings."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, List, Optional, Union

from . import _binary
from ._binary import HoneError
from ._sources import is_text, path_or_text, write_text
from ._verdict import Finding

if TYPE_CHECKING:
    Source = Union[str, os.PathLike[str]]

__all__ = ["lint"]


def lint(
    source: Source,
    *,
    task: Optional[Source] = None,
    device: Optional[str] = None,
    triton: Optional[str] = None,
    language: str = "py",
) -> List[Finding]:
    """The findings of static analysis in a candidate. An empty list means that nothing was found, not that the file is right.

    `source` is the text of a file, a path, or a folder. A text is read as Python unless `language` is cu, cuh, cpp or cc. `task` gives shapes and
    weights to the checks, `device` the limits of a GPU (`H200`), and `triton` the version of Triton.

    >>> import hone
    >>> for finding in hone.lint("class ModelNew(:\\n"):
    ...     print(finding)
    <source>:1:15: error: this does not parse as Python: class ModelNew(: [syntax]
    >>> hone.lint("import torch\\n\\n\\nclass ModelNew(torch.nn.Module):\\n    pass\\n")
    []
    """
    with tempfile.TemporaryDirectory(prefix="hone-lint-") as folder:
        text = path_or_text(source, "A source")
        written = isinstance(source, str) and is_text(text)
        if language not in ("py", "cu", "cuh", "cpp", "cc"):
            raise HoneError("The language %r is not known; take py, cu, cuh, cpp or cc." % language)
        path = write_text(os.path.join(folder, "source." + language), text) if written else text
        if not os.path.exists(path):
            raise HoneError("There is no file %s; give the path of a candidate, or its text." % path)
        arguments = ["lint", path, "--json"]
        if task is not None:
            named = path_or_text(task, "A task")
            arguments += ["--task", write_text(os.path.join(folder, "task.py"), named) if is_text(named) else named]
        for flag, value in (("--device", device), ("--triton", triton)):
            if value is not None:
                arguments += [flag, value]
        report = _binary.run_json(arguments, accept=(_binary.DONE, _binary.REJECTED))
        return [Finding.of(one, "" if written else str(file.get("path") or "")) for file in report.get("files") or [] for one in file.get("findings") or []]
