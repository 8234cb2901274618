"""Shared by the adapters: the task of a sample, one client per process, and figures that a trainer can log."""

from __future__ import annotations

import functools
import json
import os
from typing import Any, Mapping, Optional, Union

from .._binary import HoneError
from ._client import Client, JudgeUnavailable
from ._shaping import Shaping, reward

FIGURES = ("has_code", "builds", "runs", "correct", "trials_right", "vs_eager", "vs_best", "cheat")


@functools.lru_cache(maxsize=16)
def client(url: Optional[str], token: Optional[str], timeout: float) -> Client:
    return Client(url, token, timeout)


def task_of(label: Any, extra: Optional[Mapping[str, Any]] = None) -> "dict[str, str]":
    """{"task": name} or {"task_source": text}, from a sample's extra information, else from its label."""
    for name in ("task", "task_source"):
        if extra and extra.get(name):
            return {name: str(extra[name])}
    if isinstance(label, Mapping):
        return task_of(None, label)
    text = str(label or "")
    if not text.strip():
        raise HoneError("A sample names no task; put the task's name into its label, or `task` or `task_source` into its extra information.")
    return {"task_source": text} if "class Model" in text else {"task": text.strip()}


def judge(question: Mapping[str, str], reply: str, *, url: Optional[str] = None, token: Optional[str] = None, timeout: float = 3600.0,
          options: Union[None, str, Mapping[str, Any]] = None, shaping: Union[None, Shaping, Mapping[str, float]] = None,
          on_failure: Optional[float] = None) -> "tuple[float, dict[str, float]]":
    """The reward of a reply, and the stages as numbers (0 where a stage was not reached).

    `options` (or $HONE_JUDGE_OPTIONS, JSON) are those of the request. If there is no verdict, because the server or its workers are
    gone, the result is `on_failure`, or JudgeUnavailable is raised where that is None: a training step should not learn from an outage.
    """
    chosen = options if options is not None else os.environ.get("HONE_JUDGE_OPTIONS")
    chosen = json.loads(chosen) if isinstance(chosen, str) else chosen
    worth = shaping if isinstance(shaping, Shaping) else Shaping(**dict(shaping or {}))
    try:
        job = client(url, token, timeout).evaluate(reply=reply, options=chosen, **question)
    except JudgeUnavailable:
        if on_failure is None:
            raise
        return float(on_failure), dict.fromkeys(FIGURES, 0.0)
    result = job["result"]
    return reward(job, worth), {name: float(result.get(name) or 0.0) for name in FIGURES}
