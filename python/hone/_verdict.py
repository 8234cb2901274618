"""The judge's verdict on a candidate, as typed values. Every field comes from `hone bench --json`; nothing is computed
here.

`Verdict.record` keeps the whole record, so that fields of a newer program are not lost.
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple

__all__ = ["ErrorFigures", "Finding", "Speedup", "Verdict"]


@dataclass(frozen=True)
class Speedup:
    """How much faster the candidate is, measured in one session with the baselines.

    >>> speedup = Speedup.of({"vs_best": 2.0, "vs_eager": 3.0, "best_baseline": "compile", "ci95": [1.9, 2.1]})
    >>> print(speedup)
    2.00x vs compile (95%: 1.90 to 2.10), 3.00x vs eager
    """

    vs_best: float
    vs_eager: float
    best_baseline: str
    ci95: Tuple[float, float]
    vs_eager_ci95: Tuple[float, float] = (math.nan, math.nan)
    candidate_us: float = math.nan
    best_us: float = math.nan
    eager_us: float = math.nan

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Speedup:
        """Reads the member `speedup` of a record."""
        return cls(
            vs_best=_number(record.get("vs_best")),
            vs_eager=_number(record.get("vs_eager")),
            best_baseline=str(record.get("best_baseline") or ""),
            ci95=_pair(record.get("ci95")),
            vs_eager_ci95=_pair(record.get("vs_eager_ci95")),
            candidate_us=_number(record.get("candidate_us")),
            best_us=_number(record.get("best_us")),
            eager_us=_number(record.get("eager_us")),
        )

    def __str__(self) -> str:
        low, high = self.ci95
        return "%.2fx vs %s (95%%: %.2f to %.2f), %.2fx vs eager" % (self.vs_best, self.best_baseline, low, high, self.vs_eager)


@dataclass(frozen=True)
class ErrorFigures:
    """Relative errors against float64: the candidate's, PyTorch's own, and the largest that is allowed."""

    candidate: float
    reference: float
    limit: float

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> ErrorFigures:
        """Reads the member `error` of a record."""
        return cls(_number(record.get("candidate")), _number(record.get("reference")), _number(record.get("limit")))

    def __str__(self) -> str:
        return "%.2e where %.2e is allowed" % (self.candidate, self.limit)


@dataclass(frozen=True)
class Finding:
    """One problem that static analysis reports.

    >>> print(Finding(rule="missing-mask", severity="error", line=4, column=1, message="the store has no mask", path="k.py"))
    k.py:4:1: error: the store has no mask [missing-mask]
    """

    rule: str
    severity: str  # error, warning or note
    line: int
    column: int
    message: str
    fix: str = ""
    path: str = ""

    @classmethod
    def of(cls, record: Mapping[str, Any], path: str = "") -> Finding:
        """Reads one member of `findings`."""
        return cls(
            rule=str(record.get("rule") or ""),
            severity=str(record.get("severity") or ""),
            line=int(record.get("line") or 0),
            column=int(record.get("column") or 0),
            message=str(record.get("message") or ""),
            fix=str(record.get("fix") or ""),
            path=path,
        )

    def __str__(self) -> str:
        return "%s:%d:%d: %s: %s [%s]" % (self.path or "<source>", self.line, self.column, self.severity, self.message, self.rule)


@dataclass(frozen=True)
class Verdict:
    """What the judge concluded about one candidate.

    `verdict` is one of accepted, rejected, no_difference, inconclusive and cannot_judge. `reason` is a stable id such as
    `wrong-output` (docs/JUDGE.md). `detail` is one or a few sentences. `next_step` says what to do about it.

    >>> verdict = Verdict.of({"verdict": "rejected", "reason": "wrong-output", "detail": "output 0 differs",
    ...                       "error": {"candidate": 0.5, "reference": 1e-7, "limit": 2e-7}, "gates": {"build": "pass", "outputs": "fail"}})
    >>> verdict.accepted, verdict.right, verdict.gates["outputs"]
    (False, False, 'fail')
    >>> verdict
    <Verdict rejected: wrong-output: output 0 differs; error 5.00e-01 where 2.00e-07 is allowed>
    """

    verdict: str
    reason: str
    detail: str
    next_step: str
    kind: Optional[str]  # kernel, library, mixed, or None if unknown
    speedup: Optional[Speedup]  # None if nothing was timed
    error: ErrorFigures
    gates: Dict[str, str]  # in the judge's order: pass, fail or skipped
    contract: Dict[str, str]  # later uses of the module: holds, broken or not_applicable
    findings: List[Finding]
    notes: List[str]
    from_store: Optional[str]  # source of a stored verdict; None if it was judged now
    record: Dict[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Verdict:
        """Reads one line of `hone bench --json`."""
        speedup, stored = record.get("speedup"), record.get("from_store")
        return cls(
            verdict=str(record.get("verdict") or "cannot_judge"),
            reason=str(record.get("reason") or ""),
            detail=str(record.get("detail") or ""),
            next_step=str(record.get("next_step") or ""),
            kind=record.get("kind"),
            speedup=Speedup.of(speedup) if isinstance(speedup, Mapping) else None,
            error=ErrorFigures.of(record.get("error") or {}),
            gates=dict(record.get("gates") or {}),
            contract={str(entry.get("name")): str(entry.get("state")) for entry in record.get("contract") or []},
            findings=[Finding.of(finding) for finding in record.get("findings") or []],
            notes=[str(note) for note in record.get("notes") or []],
            from_store=str(stored.get("id")) if isinstance(stored, Mapping) else None,
            record=dict(record),
        )

    @property
    def accepted(self) -> bool:
        """Right, and faster than the best PyTorch baseline."""
        return self.verdict == "accepted"

    @property
    def right(self) -> bool:
        """Every answer was right, whatever the speed. With `check_only=True` only this is judged."""
        return bool(self.record.get("right"))

    @property
    def vs_best(self) -> Optional[float]:
        """Speed-up against the best PyTorch baseline; None if nothing was timed."""
        return self.speedup.vs_best if self.speedup else None

    @property
    def vs_eager(self) -> Optional[float]:
        """Speed-up against eager PyTorch; None if nothing was timed."""
        return self.speedup.vs_eager if self.speedup else None

    def __bool__(self) -> bool:
        return self.accepted

    def __repr__(self) -> str:
        text = self.verdict if self.accepted else "%s: %s: %s" % (self.verdict, self.reason, self.detail.strip())
        if self.speedup:
            text += "; %s" % self.speedup
        if not math.isnan(self.error.limit):
            text += "; error %s" % self.error
        return "<Verdict %s>" % text.replace("\n", " ")

    def _repr_html_(self) -> str:
        colour = {"accepted": "#1a7f37", "rejected": "#cf222e"}.get(self.verdict, "#9a6700")
        rows = [("reason", self.reason), ("detail", self.detail)]
        if self.speedup:
            rows.append(("speed-up", str(self.speedup)))
        if not math.isnan(self.error.limit):
            rows.append(("error", str(self.error)))
        if self.kind:
            rows.append(("kind", self.kind))
        failed = [name for name, state in self.gates.items() if state == "fail"]
        passed = sum(state == "pass" for state in self.gates.values())
        rows.append(("gates", "%d passed%s" % (passed, ", failed: " + ", ".join(failed) if failed else "")))
        if self.next_step and not self.accepted:
            rows.append(("next", self.next_step))
        body = "".join(
            "<tr><th style='text-align:left'>%s</th><td style='text-align:left'>%s</td></tr>" % (html.escape(name), html.escape(value))
            for name, value in rows
            if value
        )
        return "<div><b style='color:%s'>%s</b><table>%s</table></div>" % (colour, html.escape(self.verdict.replace("_", " ")), body)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


def _pair(value: Any) -> Tuple[float, float]:
    return (_number(value[0]), _number(value[1])) if isinstance(value, (list, tuple)) and len(value) == 2 else (math.nan, math.nan)
