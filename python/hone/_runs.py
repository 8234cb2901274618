"""What the store holds, as typed values: `runs`, `show` and `explain`. The programs `hone runs`, `hone show` and `hone explain` do the work."""

from __future__ import annotations

import html
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _binary
from ._binary import HoneError
from ._sources import path_or_text
from ._verdict import Verdict

if TYPE_CHECKING:
    Path = Union[str, os.PathLike[str]]

__all__ = ["Explanation", "Run", "TaskFacts", "explain", "runs", "show"]


@dataclass(frozen=True)
class Run:
    """One optimisation of one task. `status` says whether it ended; `result` and `outcome` say what came of it.

    >>> Run.of({"id": "R3", "name": "gru-1", "task": "39_GRU", "status": "done", "result": "accepted", "best": "cuda.wave", "vs_best": 2.5})
    <Run R3 39_GRU: done, accepted cuda.wave 2.50x>
    """

    id: str
    name: str
    task: str
    status: str
    result: str
    outcome: str
    best: str  # the key of the best candidate; empty if PyTorch is kept
    vs_best: Optional[float]
    vs_eager: Optional[float]
    target: str
    device: str
    created: str
    seconds: float
    tags: List[str]
    note: str
    record: Dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Run:
        """Reads one line of `hone runs --json`."""

        def text(key: str) -> str:
            return str(record.get(key) or "")

        return cls(
            id=text("id"),
            name=text("name"),
            task=text("task"),
            status=text("status"),
            result=text("result"),
            outcome=text("outcome"),
            best=text("best"),
            vs_best=record.get("vs_best") or None,
            vs_eager=record.get("vs_eager") or None,
            target=text("target"),
            device=text("device"),
            created=text("created"),
            seconds=float(record.get("seconds") or 0),
            tags=[str(tag) for tag in record.get("tags") or []],
            note=text("note"),
            record=dict(record),
        )

    @property
    def candidates(self) -> List[Dict[str, Any]]:
        """The candidates of a run from `show`. A run from the list has none."""
        return list(self.record.get("candidates") or [])

    def __repr__(self) -> str:
        result = " ".join(part for part in (self.result, self.best, "%.2fx" % self.vs_best if self.vs_best else "") if part)
        return "<Run %s %s: %s%s>" % (self.id, self.task, self.status, ", " + result if result else "")


@dataclass(frozen=True)
class TaskFacts:
    """What Hone knows of a task: its card, the wrong computations that its tests detect, and the limit of the error.

    >>> TaskFacts.of({"task": "gru", "device": "CPU", "limit": 1e-6, "eager_us": 12.0, "mutants": [{"name": "zeros", "told_apart": True}]})
    <TaskFacts gru on CPU: 12 us per call in PyTorch, error limit 1.00e-06, detects 1 of 1 wrong computations>
    """

    task: str
    device: str
    limit: float
    eager_us: float
    card: Dict[str, Any]
    mutants: List[Dict[str, Any]]
    record: Dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> TaskFacts:
        """Reads `hone show TASK --json`."""
        return cls(
            task=str(record.get("task") or ""),
            device=str(record.get("device") or ""),
            limit=float(record.get("limit") or 0),
            eager_us=float(record.get("eager_us") or 0),
            card=dict(record.get("card") or {}),
            mutants=[dict(mutant) for mutant in record.get("mutants") or []],
            record=dict(record),
        )

    def __repr__(self) -> str:
        detected = sum(bool(mutant.get("told_apart")) for mutant in self.mutants)
        return "<TaskFacts %s on %s: %.4g us per call in PyTorch, error limit %.2e, detects %d of %d wrong computations>" % (
            self.task,
            self.device,
            self.eager_us,
            self.limit,
            detected,
            len(self.mutants),
        )


@dataclass(frozen=True)
class Explanation:
    """What happened in a run and why. `str(explanation)` is the text of `hone explain`, as Markdown; a notebook draws it."""

    markdown: str
    record: Dict[str, Any] = field(repr=False, compare=False)

    @property
    def run(self) -> Run:
        """The run that is explained."""
        return Run.of(self.record.get("run") or {})

    @property
    def causes(self) -> List[Dict[str, Any]]:
        """Why candidates failed, most frequent first."""
        return list(self.record.get("causes") or [])

    @property
    def next(self) -> List[str]:
        """What to try next, one sentence each."""
        return [str(one.get("sentence") or "") for one in self.record.get("next") or []]

    def __str__(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return "<Explanation of %r>" % self.run

    def _repr_markdown_(self) -> str:
        return html.escape(self.markdown, quote=False)


def runs(*, most: int = 30, tag: Optional[str] = None) -> List[Run]:
    """The stored runs, newest first, at most `most`; with `tag` only those that carry it.

    >>> import hone
    >>> hone.runs(tag="no run has this tag")
    []
    """
    if most < 1:
        raise HoneError("`most` is %d; ask for at least one run." % most)
    arguments = ["runs", "--json", "--most", str(most)]
    if tag is not None:
        arguments += ["--tag", tag]
    done = _binary.checked(arguments)
    return [Run.of(json.loads(line)) for line in done.stdout.splitlines() if line.strip()]


def show(
    what: Path, *, target: str = "auto", python: Optional[str] = None, arguments: Sequence[str] = ()
) -> Union[Run, TaskFacts, Verdict]:
    """A task file as `TaskFacts`, a stored verdict such as `V12` as a `Verdict`, or a run (`last`, `R3`, a name, a folder) as a `Run`.

    A task is run in PyTorch to learn its limits, which takes some seconds. `arguments` are further options of `hone show`.

    >>> import hone
    >>> hone.show("R999999999")
    Traceback (most recent call last):
        ...
    hone._binary.HoneError: there is no run 'R999999999' in the store; see: hone runs
    """
    name = path_or_text(what, "What is shown")
    shown = [*_binary.python_arguments(python), "--target", target] if os.path.isfile(name) else []
    record = _binary.run_json(["show", name, "--json", *shown, *arguments])
    if "verdict" in record and "gates" in record:
        return Verdict.of(record)
    return TaskFacts.of(record) if "mutants" in record else Run.of(record)


def explain(run: Union[Path, Run] = "last", *, language: str = "en") -> Explanation:
    """Says what happened in a run and why. `run` is a `Run`, a name, the beginning of one, a folder, `R3` or `last`; `language` is en or zh.

    >>> import hone
    >>> hone.explain("R999999999")
    Traceback (most recent call last):
        ...
    hone._binary.HoneError: there is no run 'R999999999' in the store; see: hone runs
    """
    name = run.id if isinstance(run, Run) else path_or_text(run, "A run")
    record = _binary.run_json(["explain", name, "--json", "--lang", language])
    return Explanation(_binary.checked(["explain", name, "--md", "--lang", language]).stdout, record)
