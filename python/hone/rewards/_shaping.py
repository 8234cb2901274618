"""From the stages of a verdict to one number. The judge decides what is true; a Shaping decides what it is worth."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Mapping


@dataclasses.dataclass(frozen=True)
class Shaping:
    """What each stage is worth. The defaults rise with every stage, and no speed makes up for a wrong answer.

    A right candidate gets `correct`, plus `speed` for each doubling of its speed against the best baseline. The speed is the end of
    the 95% interval that is nearer to 1, so that noise earns nothing, and it is cut off at `most_doublings` in both directions.
    """

    cheat: float = -1.0      # the judge was attacked or deceived
    no_code: float = 0.0     # the reply holds no candidate
    code: float = 0.05       # it does not build
    builds: float = 0.1      # it builds and does not run
    runs: float = 0.2        # it runs and is wrong
    right: float = 0.2       # times the fraction of trials that were right, on top of `runs`
    correct: float = 1.0     # all answers are right
    speed: float = 0.5       # for each doubling of the speed
    most_doublings: float = 4.0
    unknown: float = 0.0     # the task cannot tell right from wrong (cannot_judge)

    def __post_init__(self) -> None:
        if self.most_doublings < 0:
            raise ValueError("most_doublings must not be negative")


def reward(job: Mapping[str, Any], shaping: Shaping = Shaping()) -> float:
    """The reward of a job of Client.evaluate(), or of its `result`.

    >>> reward({"has_code": True, "cheat": False, "builds": True, "runs": True, "correct": False, "trials_right": 1.0})
    0.4
    """
    result = job.get("result") if "result" in job else job
    if not isinstance(result, Mapping):
        raise ValueError("this job has no result yet; wait for it with Client.wait()")
    if result.get("cheat"):
        return shaping.cheat
    if not result.get("has_code"):
        return shaping.no_code
    if result.get("builds") is False:
        return shaping.code
    if result.get("runs") is False:
        return shaping.builds
    if result.get("correct") is None:
        return shaping.unknown
    if not result["correct"]:
        # Code that static analysis refuses is never built.
        return shaping.code if result.get("builds") is None else shaping.runs + shaping.right * float(result.get("trials_right") or 0.0)
    return shaping.correct + shaping.speed * _doublings(result, shaping.most_doublings)


def _doublings(result: Mapping[str, Any], most: float) -> float:
    low, high = result.get("ci95") or (1.0, 1.0)
    if result.get("verdict") == "inconclusive" or low <= 1.0 <= high:
        return 0.0
    ratio = low if low > 1.0 else high
    return max(-most, min(most, math.log2(ratio))) if ratio > 0.0 else -most
