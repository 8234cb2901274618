"""The results for a module: the object behind `fast.hone`. It prints itself in a terminal and renders itself in a notebook."""

from __future__ import annotations

import html
from typing import Any

_FIELDS = ("inputs", "status", "vs_best", "ci", "vs_eager", "baseline", "error", "limit", "recipe", "reason", "run", "run_folder", "seconds", "cached", "complete")


def _times(value: Any) -> str:
    return "%.2fx" % value if isinstance(value, (int, float)) and value else "-"


class Report:
    """The outcome for one set of input shapes.

    status      "faster": a candidate was accepted. "kept": PyTorch stays, for the reason given. "declined": the module could not be tried.
    vs_best     speed-up against the fastest PyTorch baseline (`baseline`), with its 95% interval `ci`; vs_eager against eager
    error       relative error against float64, where `limit` is allowed
    recipe      which candidate it is; `run` and `run_folder` hold everything about it (`hone show RUN`)
    seconds     how long the run took; `cached` says whether this process found the answer on disk
    complete    False: a budget ended the run before all candidates were judged, or the machine was too busy to tell
    """

    inputs = status = baseline = recipe = reason = run = run_folder = ""
    vs_best = vs_eager = error = limit = seconds = 0.0
    ci: "tuple[float, float] | None" = None
    cached = complete = False

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            if name in _FIELDS:
                setattr(self, name, value)
        if self.ci is not None:
            self.ci = (float(self.ci[0]), float(self.ci[1]))

    def to_dict(self) -> "dict[str, Any]":
        """All fields as a dict, for logs."""
        return {name: getattr(self, name) for name in _FIELDS}

    def rows(self) -> "list[tuple[str, str]]":
        found = [("inputs", self.inputs)]
        if self.status == "faster":
            interval = " (95%%: %.2f to %.2f)" % self.ci if self.ci else ""
            found.append(("speed-up", "%s vs %s%s, %s vs eager" % (_times(self.vs_best), self.baseline or "the best PyTorch baseline", interval, _times(self.vs_eager))))
            found.append(("error", "%.2e where %.2e is allowed" % (self.error, self.limit)))
            found.append(("recipe", self.recipe))
        else:
            found.append(("PyTorch kept" if self.status == "kept" else "not tried", self.reason))
        if self.run:
            found.append(("run", "%s, %.0f s%s" % (self.run, self.seconds, ", found on disk" if self.cached else "")))
        if self.run and not self.complete:
            found.append(("not final", "the run was stopped early or the machine was too busy; call hone.optimize again, without or with a larger budget"))
        return found

    def __repr__(self) -> str:
        title = {"faster": "hone: faster", "kept": "hone: PyTorch kept"}.get(self.status, "hone: not tried")
        return "\n".join([title, *["  %-12s %s" % row for row in self.rows()]])

    def _repr_html_(self) -> str:
        cells = "".join("<tr><th style='text-align:left'>%s</th><td style='text-align:left'>%s</td></tr>" % (html.escape(name), html.escape(text)) for name, text in self.rows())
        return "<table>%s</table>" % cells


class Reports(Report):
    """The outcomes of one module. The fields are those of the answer that was added last; iterate or index for the others."""

    def __init__(self, reports: "list[Report]") -> None:
        super().__init__(**reports[-1].to_dict())
        self.all = list(reports)

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, index: int) -> Report:
        return self.all[index]

    def __repr__(self) -> str:
        return "\n".join(repr(report) for report in self.all)

    def _repr_html_(self) -> str:
        return "".join(report._repr_html_() for report in self.all)
