"""Hone from Python: a thin wrapper around the program `hone`, which does the work and takes every decision.

    import hone
    fast = hone.optimize(model, (x,))       # a faster module with the same call and the same state_dict
    verdict = hone.judge("task.py", source) # what the judge says about a candidate

Each name below is imported when it is first used, so that `import hone` costs nothing and needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._version import __version__ as __version__

# Type checkers do not follow __getattr__.
if TYPE_CHECKING:
    from ._binary import HoneError as HoneError
    from ._judge import Session as Session, judge as judge
    from ._lint import lint as lint
    from ._optimize import optimize as optimize
    from ._runs import Explanation as Explanation, Run as Run, TaskFacts as TaskFacts, explain as explain, runs as runs, show as show
    from ._verdict import ErrorFigures as ErrorFigures, Finding as Finding, Speedup as Speedup, Verdict as Verdict
    from ._backend import subgraphs as subgraphs

# Maps each public name to the module that defines it.
_EXPORTS = {
    "ErrorFigures": "_verdict",
    "Explanation": "_runs",
    "Finding": "_verdict",
    "HoneError": "_binary",
    "Run": "_runs",
    "Session": "_judge",
    "Speedup": "_verdict",
    "TaskFacts": "_runs",
    "Verdict": "_verdict",
    "explain": "_runs",
    "judge": "_judge",
    "lint": "_lint",
    "optimize": "_optimize",
    "runs": "_runs",
    "show": "_runs",
    "subgraphs": "_backend",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError("module 'hone' has no attribute %r" % name)
    value = getattr(importlib.import_module("." + _EXPORTS[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted([*globals(), *_EXPORTS])
